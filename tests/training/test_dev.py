"""What is chosen on dev: what to add to every label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from training.made import made_trees, write
from treewright import Grammar, Tree
from treewright.charts import cell_count, packed_index
from treewright.errors import EmptyInput
from treewright.model.span_scorer import SpanScorer
from treewright.scorer import Description, Scores
from treewright.training.dev import LIFTS, Dev
from treewright.training.treebank import Treebank
from treewright.trees.binarize import derivation
from treewright.trees.symbols import is_null


class Timid:
    """Scores gold's labels at so much, which may be less than nulls have, and others far less."""

    def __init__(self, treebank: Treebank, gold: float) -> None:
        grammar = Grammar.from_trees(treebank.normalized)
        self.description = Description(tuple(grammar.labels), ("X",), grammar)
        self._trees = {tree.words(): tree for tree in treebank.normalized}
        self._gold = gold

    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        lengths = np.array([len(words) for words in sentences])
        columns = self.description.columns
        charts = []
        for words in sentences:
            rows = np.full((cell_count(len(words)), len(columns)), -5.0, dtype=np.float32)
            rows[:, [is_null(label) for label in columns]] = 0.0
            for begin, end, label in derivation(self._trees[tuple(words)], "$"):
                if not is_null(label):
                    at = packed_index(len(words), begin, end)
                    rows[at, columns[label]] = self._gold
            charts.append(rows)
        return Scores(np.concatenate(charts), lengths, np.zeros(lengths.sum(), dtype=np.int64))


@pytest.mark.parametrize(("gold", "lift"), [(1.0, 0.0), (-0.35, 0.4), (-1.15, 1.2)])
def test_labels_are_lifted_as_far_as_dev_gains(tmp_path: Path, gold: float, lift: float) -> None:
    """The smallest number that makes every bracket of gold worth having."""
    distinct = {tree.words(): tree for tree in made_trees(30)}
    treebank = Treebank.read(write(tmp_path / "dev.mrg", list(distinct.values())))
    assert Dev(treebank).lift(Timid(treebank, gold)) == lift
    assert lift in LIFTS


def test_dev_without_a_bracket_that_counts_chooses_nothing(tmp_path: Path) -> None:
    trees = [Tree.from_brackets(text) for text in ("(TOP (. .))", "(TOP (NN dog))")]
    treebank = Treebank.read(write(tmp_path / "dev.mrg", trees))
    with pytest.raises(EmptyInput, match=r"dev\.mrg: holds no constituent that EVALB would score"):
        Dev(treebank)


@pytest.mark.parametrize("null", ["zero", "learned"])
def test_a_lift_leaves_nulls_where_they_are(null: str) -> None:
    labels = ["@", "$", "NP", "S::VP"]
    scorer = SpanScorer(heads=2, output_size=4, hidden=6, labels=labels, null=null)  # type: ignore[arg-type]
    posts = torch.randn(4, 6)
    begins, ends = torch.tensor([0, 1, 0]), torch.tensor([1, 3, 3])
    with torch.no_grad():
        before = scorer.rows_of(posts, begins, ends)
        scorer.lift(0.25)
        after = scorer.rows_of(posts, begins, ends)
    wanted = torch.tensor([0.0, 0.0, 0.25, 0.25]).expand(3, 4)
    torch.testing.assert_close(after - before, wanted)
