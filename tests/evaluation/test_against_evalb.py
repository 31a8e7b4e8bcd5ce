"""What the C program printed, byte for byte, and its algorithm on made-up sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import naive
from strategies import ROOTED_TREES
from treewright.errors import TreewrightError
from treewright.evaluation import Parameters, Report, Status, evaluate
from treewright.trees import Tree, read_trees

MCTB = [
    (f"data/mctb_{genre}.mrg", f"evalb/mctb_{genre}.{parser}", "COLLINS.prm")
    for genre in ("dialogue", "forum", "review")
    for parser in ("inorder", "inorder_bert")
]
RUNS = [
    *((gold, f"{out}.mrg", prm, out) for gold, out, prm in MCTB),
    ("evalb/sample.gld", "evalb/sample.tst", "sample.prm", "evalb/sample"),
    ("evalb/bug.gld", "evalb/bug.tst", "COLLINS.prm", "evalb/bug"),
    ("evalb/bug.gld", "evalb/bug.tst", "new.prm", "evalb/bug.new"),
]


@pytest.mark.parametrize(("gold", "predicted", "prm", "out"), RUNS, ids=[run[3] for run in RUNS])
def test_the_text_is_that_of_the_c_program(
    shared: Path, gold: str, predicted: str, prm: str, out: str
) -> None:
    parameters = Parameters.read(shared / "evalb" / prm)
    report = evaluate(shared / gold, shared / predicted, parameters)
    expected = (shared / f"{out}.evalb").read_text(encoding="utf-8")
    assert report.text() == expected.replace("    nan\n", "   -nan\n")
    said = "".join(f"{message}\n" for message in report.messages)
    assert said == (shared / f"{out}.stderr").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["COLLINS", "new", "nk"])
def test_our_parameter_files_say_what_those_of_evalb_say(shared: Path, name: str) -> None:
    theirs = Parameters.read(shared / "evalb" / f"{name}.prm")
    assert Parameters.named(name.lower()) == theirs


def test_trees_score_as_their_lines_do(shared: Path) -> None:
    gold = shared / "data" / "mctb_review.mrg"
    predicted = shared / "evalb" / "mctb_review.inorder_bert.mrg"
    by_lines = evaluate(gold, predicted)
    by_trees = evaluate(read_trees(gold), read_trees(predicted))
    assert by_trees.text() == by_lines.text()
    assert by_trees.labels == by_lines.labels


# Few labels and words, so that sides agree often: deleted ones, quotes, equal ones, cut ones.
TAGS = st.sampled_from(["NN", "``", "''", "POS", ",", "-NONE-", "CD", "X", "Y"])
WORDS = st.sampled_from(["a", "a", "a", "b", "c", "'", '"', "/", ""])
LABELS = st.sampled_from(
    ["NP", "VP", "ADVP", "PRT", "A", "B", "C", "TOP", "NP-SBJ", "B=2", "-NONE-", "", "X", "Y"]
)
PARAMETERS = st.sampled_from(
    [
        Parameters.collins(),
        Parameters.new(),
        Parameters.new(),
        Parameters(),
        Parameters(labelled=False, delete_labels=("TOP", "``"), quote_labels=("``", "NN")),
        # Equal in pairs only: A is B and B is C, but A is not C.
        Parameters(
            equal_labels=(("A", "B"), ("B", "C"), ("X", "Y")),
            equal_words=(("a", "b"), ("b", "c")),
            delete_labels=("X", "NP"),
            delete_labels_for_length=("Y",),
        ),
    ]
)


def _bracket(label: str, parts: list[str], gap: str) -> str:
    return f"({label}{gap}{' '.join(parts)})" if parts else f"({label})"


LEAVES = st.builds("({} {})".format, TAGS, WORDS)
PARTS = st.recursive(
    LEAVES,
    lambda parts: st.builds(
        _bracket, LABELS, st.lists(parts, max_size=4), st.sampled_from([" ", "  ", "\t"])
    ),
    max_leaves=14,
)
LINES = st.lists(PARTS, max_size=3).map(" ".join)


QUOTES = ("'", '"', "/")
QUOTED_WORDS = st.sampled_from(["a", '"'])
QUOTE_TAGS = st.sampled_from(["``", "``", "''", "NN"])
PLAIN_TAGS = st.sampled_from(["NN", "NN", "NN", "X", "Y"])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two lines with other brackets and, here and there, other tags over much the same words."""
    words = draw(st.lists(draw(st.sampled_from([WORDS, QUOTED_WORDS])), min_size=1, max_size=8))
    return _grow(draw, words), _grow(draw, words)


def _grow(draw: st.DrawFn, words: list[str]) -> str:
    parts = [f"({draw(QUOTE_TAGS if word in QUOTES else PLAIN_TAGS)} {word})" for word in words]
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(parts) - 1))
        end = draw(st.integers(start + 1, len(parts)))
        parts[start:end] = [_bracket(draw(LABELS), parts[start:end], " ")]
    return " ".join(parts)


def _row(report: Report) -> tuple[object, ...]:
    score = report.scores[0]
    return (score.length, int(score.status), *score[3:9], score.message)


@settings(max_examples=1000)
@given(st.one_of(pairs(), st.tuples(LINES, LINES)), PARAMETERS)
def test_every_figure_is_that_of_the_naive_program(
    lines: tuple[str, str], parameters: Parameters
) -> None:
    report = evaluate([lines[0]], [lines[1]], parameters)
    assert _row(report) == naive.row(*lines, parameters)
    if report.scores[0].status is Status.SCORED:
        assert len(report.comparison(1).matches) == report.scores[0].matched
        for count in ("gold", "predicted", "matched"):
            rows = [getattr(row, count) for row in report.labels]
            assert sum(rows) == getattr(report.scores[0], count)
        assert all(row.matched <= min(row.gold, row.predicted) for row in report.labels)


@given(pairs(), PARAMETERS)
def test_gold_and_predicted_can_change_sides(
    lines: tuple[str, str], parameters: Parameters
) -> None:
    if len(parameters.equal_labels) > 1 or parameters.quote_labels:
        return  # who comes first decides where labels are equal in pairs only, and of quotes
    there = evaluate([lines[0]], [lines[1]], parameters).scores[0]
    back = evaluate([lines[1]], [lines[0]], parameters).scores[0]
    assert (there.matched, there.gold, there.predicted) == (back.matched, back.predicted, back.gold)
    assert (there.status == Status.SCORED) == (back.status == Status.SCORED)
    assert there.correct_tags == back.correct_tags


@given(ROOTED_TREES)
def test_a_tree_against_itself_is_all_right(tree: Tree) -> None:
    report = evaluate([tree], [tree], Parameters())
    assert report.recall == report.precision == report.f1 == (100.0 if report.summary.gold else 0)
    assert report.tagging_accuracy == report.complete_match == 100.0
    assert report.average_crossing == 0.0
    assert report.worst(1) == []


@given(ROOTED_TREES)
def test_a_tree_scores_as_its_brackets_do(tree: Tree) -> None:
    try:
        line = tree.brackets()
    except TreewrightError:
        return  # a label that cannot be written
    assert evaluate([tree], [line]).text() == evaluate([line], [tree]).text()
    assert evaluate([tree], [line]).summary == evaluate([tree], [tree]).summary
