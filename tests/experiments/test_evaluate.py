"""The table of figures: a scorer that knows the answers, and one that breaks the rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import evaluate as script
import numpy as np
import pytest

from treewright import Grammar, Tree
from treewright.charts import cell_count
from treewright.scorer import Description, Scores
from treewright.trees.binarize import derivation

GOLD = [
    Tree.from_brackets("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))"),
    Tree.from_brackets("(TOP (S (NP (PRP I)) (VP (VBP see) (NP (DT the) (NN dog))) (. .)))"),
    Tree.from_brackets("(TOP (NP (NN dog)))"),
]


class Knowing:
    """Scores gold spans highest; `wrong` spans, by sentence, get still more."""

    def __init__(self, wrong: dict[int, tuple[int, int, str]] | None = None) -> None:
        grammar = Grammar.from_trees(GOLD)
        tags = tuple(sorted({tag for tree in GOLD for tag in tree.tags()}))
        self.description = Description(tuple(grammar.labels), tags, grammar, penalty=1.0)
        self.wrong = wrong or {}

    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        known = {tree.words(): at for at, tree in enumerate(GOLD)}
        charts, tags = [], []
        for words in sentences:
            at, n = known[tuple(words)], len(words)
            chart = np.full((cell_count(n), len(self.description.labels)), -1.0, np.float32)
            chart[:, [name in "@$" for name in self.description.labels]] = 0.0
            spans = [(*span, 5.0) for span in derivation(GOLD[at])]
            if at in self.wrong:
                spans.append((*self.wrong[at], 50.0))
            for i, j, label, value in spans:
                row = i * n - i * (i - 1) // 2 + (j - i - 1)
                chart[row, self.description.columns[label]] = value
            charts.append(chart)
            tags += [self.description.tags.index(tag) for tag in GOLD[at].tags()]
        lengths = np.array([len(words) for words in sentences])
        return Scores(np.concatenate(charts), lengths, np.array(tags))


def test_a_scorer_that_knows_is_right_everywhere() -> None:
    result = script.score(Knowing(), GOLD, "gold")
    assert result.tagging == 100.0
    for mode in script.MODES:
        assert result.figures[mode]["f1"] == 100.0
        assert result.figures[mode]["sentences_with_violations"] == 0


def test_traces_are_no_words() -> None:
    traced = Tree.from_brackets(
        "(TOP (S (NP-SBJ-1 (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *-1))) (. .)))"
    )
    nothing = Tree.from_brackets("(TOP (NP (-NONE- *)))")
    result = script.score(Knowing(), [traced, nothing, *GOLD[1:]], "gold")
    assert result.tagging == 100.0
    assert result.figures["hard"]["f1"] == 100.0


def test_rules_keep_an_unlicensed_label_out_unless_it_is_worth_its_penalty() -> None:
    scorer = Knowing({0: (0, 2, "VP")})  # a clause of two verb phrases
    result = script.score(scorer, GOLD, "gold")
    violations = {mode: result.figures[mode]["sentences_with_violations"] for mode in script.MODES}
    assert violations == {"hard": 0, "soft": 1, "off": 1}
    assert result.figures["hard"]["f1"] > result.figures["off"]["f1"]


def test_the_table_averages_models_and_sets() -> None:
    right = script.score(Knowing(), GOLD, "gold")
    wrong = script.score(Knowing({0: (0, 2, "VP")}), GOLD, "gold")
    results = {"a": {"x": right, "y": right}, "b": {"x": wrong, "y": right}}
    report = script.summary(results, {"mean": ["x", "y"]})
    x, mean = report["sets"]["x"]["off"], report["sets"]["mean"]["off"]
    assert x["estimate"] == pytest.approx((100 + wrong.figures["off"]["f1"]) / 2)
    assert mean["estimate"] == pytest.approx((x["estimate"] + 100) / 2)
    assert x["low"] < x["estimate"]
    lines = script.markdown(report).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| x", "| y", "| mean"]


def test_parts_hold_every_sentence_once_and_no_more_than_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(script, "_MOST_NUMBERS", 100)
    lengths = [3, 9, 1, 3, 3, 30]
    found = list(script.parts(lengths, 5))
    assert sorted(at for part in found for at in part) == list(range(6))
    for part in found:
        assert len(part) == 1 or sum(int(cell_count(lengths[at])) * 5 for at in part) <= 100


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nowhere"):
        script.named_file(f"made={tmp_path / 'nowhere'}")
