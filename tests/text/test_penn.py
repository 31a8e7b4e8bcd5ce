"""Penn's escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.text.penn import unescape
from treewright.trees import Tree
from treewright.trees.brackets import escape_brackets


@pytest.mark.parametrize(
    ("written", "escaped"),
    [("(", "-LRB-"), (")", "-RRB-"), ("friend(s)", "friend-LRB-s-RRB-"), ("[", "["), ("", "")],
)
def test_brackets(written: str, escaped: str) -> None:
    assert escape_brackets(written) == escaped
    assert unescape(escaped) == written


@given(st.text(alphabet="()[]{}a-LRB\\/*", min_size=1))
def test_escaped_words_can_stand_in_a_tree(word: str) -> None:
    tree = Tree("NN", word=escape_brackets(word))
    assert Tree.from_brackets(str(tree)) == tree


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("-LSB-", "["),
        ("-RCB-", "}"),
        ("-lrb-", "("),
        ("``", '"'),
        ("''", '"'),
        ("`", "'"),
        ("3\\/4", "3/4"),
        ("\\*", "*"),
        ("n\u2019t", "n't"),
        ("word", "word"),
        ("\\", "\\"),
        ("--", "--"),
    ],
)
def test_unescaping(escaped: str, plain: str) -> None:
    assert unescape(escaped) == plain
