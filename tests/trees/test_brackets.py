"""Reading and writing brackets: round trips, streams, and every way to get them wrong."""

from __future__ import annotations

import gc
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.errors import (
    BinaryInput,
    BracketError,
    EmptyLabel,
    EmptyTree,
    EncodingError,
    InputError,
    NotAFile,
    NotFound,
    Place,
    StrayWord,
    TreeError,
    UnclosedBracket,
    UnopenedBracket,
)
from treewright.trees import Tree, parse_trees, read_located_trees, read_trees


@given(ROOTED_TREES)
def test_one_line_round_trips(tree: Tree) -> None:
    assert Tree.from_brackets(tree.brackets()) == tree
    assert "\n" not in tree.brackets()


@given(ROOTED_TREES, st.integers(0, 4))
def test_indented_round_trips(tree: Tree, indent: int) -> None:
    assert Tree.from_brackets(tree.brackets(indent=indent)) == tree


@given(st.lists(ROOTED_TREES, max_size=4), st.integers(1, 7))
def test_pieces_of_any_size_give_the_same_trees(trees: list[Tree], size: int) -> None:
    class InPieces(io.StringIO):
        def read(self, wanted: int | None = -1) -> str:
            return super().read(0 if wanted == 0 else size)

    text = "\n\n".join(tree.brackets(indent=1) for tree in trees)
    assert list(read_trees(InPieces(text))) == trees


def test_indentation_keeps_leaves_on_their_line() -> None:
    tree = Tree.from_brackets("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))")
    assert tree.brackets(indent=2) == "(S\n  (NP (DT The) (NN dog))\n  (VP (VBZ barks)))"


@pytest.mark.parametrize(
    "text",
    [
        "( (S (NP\n(DT\nThe) (NN  dog ) )\t(VP (VBZ barks)\r\n) ) )",
        "((S(NP(DT The)(NN dog))(VP(VBZ barks))))",
        "\f\v( (S (NP (DT The) (NN dog)) (VP (VBZ barks))) )",
    ],
)
def test_any_white_space_will_do(text: str) -> None:
    expected = "( (S (NP (DT The) (NN dog)) (VP (VBZ barks))))"
    assert [tree.brackets() for tree in parse_trees(text)] == [expected]


def test_words_may_hold_anything_but_brackets_and_ascii_space() -> None:
    words = ["\\", "a\u00a0b", "\u2028", "-LRB-", "$", "::", "\u0301", "\N{GRINNING FACE}", "'"]
    tree = Tree("X", [Tree("T", word=word) for word in words])
    assert Tree.from_brackets(tree.brackets()).words() == tuple(words)


@pytest.mark.parametrize("token", ["", "a b", "(", ")", "a\nb"])
def test_what_cannot_be_read_again_is_not_written(token: str) -> None:
    with pytest.raises(TreeError, match="cannot be written"):
        Tree("NN", word=token).brackets()
    with pytest.raises(TreeError, match="cannot be written"):
        Tree("S", [Tree(token, [Tree("NN", word="a")])]).brackets()
    with pytest.raises(TreeError, match="cannot be written"):
        Tree(token, word="a").brackets()


@pytest.mark.parametrize(
    ("text", "error", "line", "column"),
    [
        ("(S (A a)", UnclosedBracket, 1, 1),
        ("(A a)\n  (S (A a)\n(B b)", UnclosedBracket, 2, 3),
        ("(S (A a)))", UnopenedBracket, 1, 10),
        ("(A a)\n\n )", UnopenedBracket, 3, 2),
        ("(S\n (NP dog (A a)))", StrayWord, 2, 15),
        ("(S (NP (A a) dog))", StrayWord, 1, 14),
        ("(NP the dog)", StrayWord, 1, 9),
        ("dog", StrayWord, 1, 1),
        ("(S ( (A a)))", EmptyLabel, 1, 4),
        ("(S ((A a)))", EmptyLabel, 1, 4),
        ("(S (NP))", EmptyTree, 1, 7),
        ("(S\n())", EmptyLabel, 2, 1),
        ("()", EmptyTree, 1, 2),
        ("(S)", EmptyTree, 1, 3),
    ],
)
def test_errors_name_line_and_column(
    text: str, error: type[BracketError], line: int, column: int, tmp_path: Path
) -> None:
    path = tmp_path / "bad.mrg"
    path.write_text(text)
    with pytest.raises(BracketError) as raised:
        list(read_trees(path))
    assert type(raised.value) is error
    assert raised.value.place == Place(str(path), line=line, column=column)
    assert str(raised.value).startswith(f"{path}:{line}:{column}: ")


def test_places_count_on_across_pieces() -> None:
    lines = ["(S (A a) (B b))"] * 20_000
    lines[15_000] = "(S (A a) (B))"
    with pytest.raises(EmptyTree) as raised:
        list(read_trees(io.StringIO("\n".join(lines))))
    assert raised.value.place == Place(None, line=15_001, column=12)


def test_trees_before_an_error_come_out_first() -> None:
    trees = parse_trees("(A a) (B b) (C")
    assert [next(trees).label, next(trees).label] == ["A", "B"]
    with pytest.raises(UnclosedBracket):
        next(trees)


def test_trees_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("(A a)\n\n(S\n (B b)) (C c)\n(D d)")
    found = [(line, tree.label) for line, tree in read_located_trees(path)]
    assert found == [(1, "A"), (3, "S"), (4, "C"), (5, "D")]


def test_one_tree_means_one() -> None:
    with pytest.raises(TreeError, match="found 2"):
        Tree.from_brackets("(A a) (B b)")
    with pytest.raises(TreeError, match="found 0"):
        Tree.from_brackets(" ")


def test_a_byte_order_mark_is_no_word(tmp_path: Path) -> None:
    path = tmp_path / "bom.mrg"
    path.write_bytes("\ufeff(NN dog)\n".encode())
    assert [tree.label for tree in read_trees(path)] == ["NN"]


def test_other_encodings_are_named(tmp_path: Path) -> None:
    path = tmp_path / "gb.mrg"
    path.write_bytes(b"(NN dog)\n" + "(NN 中文)\n".encode("gb18030"))
    with pytest.raises(EncodingError, match="would read as gb18030") as raised:
        list(read_trees(path))
    assert raised.value.place == Place(str(path), line=2, column=5)
    assert [tree.word for tree in read_trees(path, encoding="gb18030")] == ["dog", "中文"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf_16_is_named_and_read_when_asked_for(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "wide.mrg"
    path.write_bytes("(NN dog)".encode(encoding))
    with pytest.raises(EncodingError, match="UTF-16"):
        list(read_trees(path))
    assert [tree.word for tree in read_trees(path, encoding=encoding)] == ["dog"]
    with pytest.raises(EncodingError, match="no encoding"):
        list(read_trees(path, encoding="utf-99"))


def test_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.mrg"
    path.write_bytes(b"(NN dog)\n\x7fELF\0\0")
    with pytest.raises(BinaryInput) as raised:
        list(read_trees(path))
    assert raised.value.place == Place(str(path), line=2)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(read_trees(tmp_path / "nowhere.mrg"))
    with pytest.raises(NotAFile):
        list(read_trees(tmp_path))
    secret = tmp_path / "secret.mrg"
    secret.write_text("(A a)")
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("this user may read any file")
    with pytest.raises(InputError):
        list(read_trees(secret))


def test_reading_leaves_the_collector_as_it_was() -> None:
    assert gc.isenabled()
    list(parse_trees("(A a)"))
    assert gc.isenabled()
    gc.disable()
    try:
        list(parse_trees("(A a)"))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_file_is_read_as_a_stream(tmp_path: Path) -> None:
    """The first tree comes long before the end: a pipe that never ends must serve."""
    reading, writing = os.pipe()
    line = b"(S (A a) (B b))\n"
    os.write(writing, line * 4096)
    with open(reading, "rb") as handle:
        assert next(read_trees(handle)).label == "S"
        os.close(writing)
