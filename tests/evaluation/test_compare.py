"""Two trees side by side: marks, steps and columns."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from treewright.evaluation import Parameters, evaluate
from treewright.trees import Tree
from treewright.trees.layout import cell_width


def _text(gold: str, predicted: str, width: int = 60, parameters: Parameters | None = None) -> str:
    return evaluate([gold], [predicted], parameters).comparison(1).text(width)


def test_missing_and_extra_brackets_are_marked() -> None:
    gold = "(TOP (S (NP (PRP I)) (VP (VBP saw) (NP (DT the) (NN dog)) (ADVP (RB here))) (. .)))"
    predicted = "(S (PRP I) (VP (NN saw) (NP (NP (DT the) (NN dog)) (ADVP (RB here)))) (. .))"
    assert _text(gold, predicted) == (
        "#1  F1 80.00  recall 80.00  precision 80.00  missing 1\n"
        "extra 1  crossing 0\n"
        "  gold: - missing            |   predicted: + extra\n"
        "  TOP                        |   S  I\n"
        "    S                        |\n"
        "-     NP  I                  |\n"
        "      VP  saw/VBP            |     VP  saw/NN\n"
        "        NP  the dog          | +     NP\n"
        "                             |         NP  the dog\n"
        "        ADVP  here           |         ADVP  here\n"
        "      .                      |     .\n"
    )


def test_brackets_that_do_not_count_bear_no_mark() -> None:
    text = _text("(TOP (S (NP (-NONE- *)) (NN a)))", "(S (X (, ,)) (NN a))")
    assert "missing 0" in text
    assert not any(line.startswith(("-", "+")) for line in text.splitlines())


def test_trees_and_lines_look_the_same() -> None:
    gold, predicted = "(S (NP (NN a) (NN b)))", "(S (X (NN a)) (NN b))"
    trees = [[Tree.from_brackets(gold)], [Tree.from_brackets(predicted)]]
    assert evaluate(*trees).comparison(1).text() == _text(gold, predicted, 80)


@pytest.mark.parametrize("width", [43, 80, 120])
def test_long_words_wide_characters_and_depth_stay_in_their_columns(width: int) -> None:
    words = ["漢字" * 40, "x" * 200, "e\u0301" * 50, "a\u200bb\x10"]
    leaves = " ".join(f"(N {word})" for word in words)
    gold = "(A " * 60 + leaves + ")" * 60
    predicted = "(A " * 50 + f"(B {leaves})" + ")" * 50
    lines = _text(gold, predicted, width).splitlines()
    assert len(lines) > 60
    for line in lines:
        assert cell_width(line) <= width
        assert not any(unicodedata.category(char) == "Cc" for char in line)
    column = (width - 3) // 2
    assert {cell_width(line[: line.index(" |")]) for line in lines if " |" in line} == {column}


def test_every_word_of_both_trees_is_shown(shared: Path) -> None:
    gold, predicted = shared / "evalb" / "bug.gld", shared / "evalb" / "bug.tst"
    report = evaluate(gold, predicted, Parameters.new())
    for comparison in report.worst(5):
        text = comparison.text(100)
        marks = [[row[0] for row in column] for column in _columns(text)]
        assert marks[0].count("-") == len(comparison.missing)
        assert marks[1].count("+") == len(comparison.extra)
        for source, column in zip(
            report.pairs[comparison.score.number - 1], _columns(text), strict=True
        ):
            shown = {word.rpartition("/")[0] or word for row in column for word in row.split()}
            assert isinstance(source, str)
            assert set(Tree.from_brackets(source).words()) <= shown


def _columns(text: str) -> tuple[list[str], list[str]]:
    rows = [line.split(" |") for line in text.splitlines()[2:]]
    return [left for left, *_ in rows], [f"{''.join(right)[1:]:1}" for _, *right in rows]
