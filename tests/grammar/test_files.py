"""Grammar files: what goes out comes in, what is wrong is named."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.errors import EmptyInput, GrammarError, GrammarFileError
from treewright.grammar import Grammar, Rule
from treewright.grammar.files import dumps, loads
from treewright.trees import Tree
from treewright.trees.symbols import SCHEMES, Scheme


@given(st.lists(ROOTED_TREES, max_size=4), st.sampled_from(SCHEMES), st.integers(1, 2))
def test_a_grammar_round_trips(trees: list[Tree], scheme: Scheme, least: int) -> None:
    grammar = Grammar.from_trees(trees, scheme=scheme, min_count=least)
    again = loads(dumps(grammar))
    assert (again.rules, again.words, again.roots) == (grammar.rules, grammar.words, grammar.roots)
    assert again.labels == grammar.labels
    assert again == grammar
    assert pickle.loads(pickle.dumps(grammar)) == grammar


def document() -> dict[str, Any]:
    grammar = Grammar.from_trees([Tree.from_brackets("(S (NP (NN a)) (VP (VB b)))")])
    loaded: dict[str, Any] = json.loads(dumps(grammar))
    return loaded


def test_a_rule_written_in_by_hand_is_known(tmp_path: Path) -> None:
    edited = document()
    edited["rules"]["NP"] = {"DET @": 1}
    path = tmp_path / "g.json"
    path.write_text(json.dumps(edited))
    grammar = Grammar.load(path)
    assert Rule("NP", "DET", "@") in grammar.rules
    assert "DET" in grammar.labels


def test_saving_leaves_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text("old")
    with pytest.raises(GrammarError, match="space"):
        Grammar("$", {Rule("A B", "C", "D"): 1}, {}, {}).save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("version", True, "version True"),
        ("version", 1.0, "version 1.0"),
        ("labels", ["$NP"], "scheme"),
        ("labels", [""], "no symbol"),
        ("roots", {"S:": 1}, "no symbol"),
        ("rules", {"": {"NP VP": 1}}, "no symbol"),
        ("format", "else", "not a grammar"),
        ("version", 2, "version 2"),
        ("version", None, "version None"),
        ("scheme", "$$", "no scheme"),
        ("scheme", ["$"], "no scheme"),
        ("labels", "NP", "list of strings"),
        ("roots", ["S"], '"roots" is not a table'),
        ("roots", {"S": 0}, "not a count"),
        ("roots", {"S": True}, "not a count"),
        ("words", {"NP": "3"}, "not a count"),
        ("words", {"$": 3}, "over one word"),
        ("rules", {"S": {"NP": 1}}, "two children"),
        ("rules", {"S": {"NP  VP": 1}}, "two children"),
        ("rules", {"S": 3}, "not a table"),
        ("rules", {"S": {"NP $": 1}}, "right child"),
        ("more", 1, "unknown key 'more'"),
    ],
)
def test_nonsense_is_named(key: str, value: object, message: str) -> None:
    broken = document() | {key: value}
    with pytest.raises(GrammarFileError, match=message) as raised:
        loads(json.dumps(broken), "g.json")
    assert str(raised.value).startswith("g.json: ")


def test_missing_keys_and_broken_json_are_named() -> None:
    broken = document()
    del broken["roots"]
    with pytest.raises(GrammarFileError, match="'roots' missing"):
        loads(json.dumps(broken))
    with pytest.raises(GrammarFileError, match=r"g\.json:2:1: not JSON"):
        loads('{"format":\n', "g.json")
    with pytest.raises(GrammarFileError, match="not a grammar"):
        loads("[]")
    with pytest.raises(GrammarFileError):
        loads("[" * 100_000)
    with pytest.raises(GrammarFileError, match="not a grammar"):
        loads('{"version": ' + "1" * 10_000 + "}")
    with pytest.raises(GrammarFileError, match="'NP' stands twice"):
        loads('{"rules": {"NP": {"A B": 1}, "NP": {"C D": 1}}}')


def test_an_empty_file_is_no_grammar(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(" \n")
    with pytest.raises(EmptyInput, match=r"g\.json: holds no grammar"):
        Grammar.load(path)
