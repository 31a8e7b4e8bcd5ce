"""Hypothesis strategies for charts, labels and grammars: small, full of ties and of -inf."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from treewright.charts import cell_count
from treewright.decode import Constraints
from treewright.grammar import Grammar, Rule
from treewright.trees import read_trees
from treewright.trees.symbols import SCHEMES, Scheme, is_mark, is_null, split_chain

#: Columns in the order of `Grammar.labels` and in others; without marks or `@`, too.
COLUMNS = {
    "$": [["@", "$", "A", "B"], ["B", "$", "A::B", "@"], ["@", "$", "A"], ["A", "@"], ["A", "B"]],
    "$+left": [["@", "$@", "$A", "A"], ["A", "$A", "@", "B", "$@"], ["$A", "A"]],
}
SCORES = st.sampled_from([0.0, 1.0, -1.0, 2.0, 1.0, 0.0, -2.0, 3.0, -3.0, -np.inf])
FINITE = st.integers(-3, 3).map(float)
PENALTIES = st.sampled_from([0.0, 1.0, 2.0, np.inf])


class Case(NamedTuple):
    """A batch to decode: the packed scores of every sentence, and what else `decode` is told."""

    charts: list[np.ndarray]
    labels: list[str]
    grammar: Grammar | None
    penalty: float
    rule_scores: np.ndarray | None

    @property
    def options(self) -> dict[str, Any]:
        return {"penalty": self.penalty, "rule_scores": self.rule_scores}


@st.composite
def grammars(draw: st.DrawFn, labels: list[str]) -> Grammar:
    """Any rules over the labels that structure allows; perhaps none, or no label over a word."""
    real = [name for name in labels if not is_null(name)]
    scheme = "$+left" if any(is_mark(name) and name != "$" for name in labels) else "$"
    parent_names = [name for name in labels if name != "@"]
    right_names = [name for name in labels if not is_mark(name)]
    parents, lefts, rights = map(st.sampled_from, (parent_names, labels, right_names))
    if draw(st.booleans()):
        rules = draw(st.sets(st.builds(Rule, parents, lefts, rights), max_size=8))
    else:
        every = product(parent_names, labels, right_names)
        chosen = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        rules = {Rule(*rule) for rule in every if chosen.random() < 0.4}
    over_word = draw(st.sets(rights))
    roots = draw(st.sets(st.sampled_from([*real, "@"] if "@" in labels else real)))
    return Grammar(
        scheme,
        dict.fromkeys(rules, 1),
        dict.fromkeys(over_word, 1),
        dict.fromkeys(roots, 1),
        frozenset(labels),
    )


def packed(draw: st.DrawFn, n: int, columns: int, scores: st.SearchStrategy[float]) -> np.ndarray:
    """Scores of one sentence; long ones come from a seed, since Hypothesis draws a few at most."""
    size = cell_count(n) * columns
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    if size <= 60:
        values = draw(st.lists(scores, min_size=size, max_size=size))
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        values = rng.integers(-3, 4, size=size).astype(float)
        values[rng.random(size) < draw(st.sampled_from([0.0, 0.02, 0.2]))] = -np.inf
        values[np.isinf(values)] = -np.inf if scores is SCORES else 0.0
    return np.array(values, dtype=dtype).reshape(-1, columns)


@st.composite
def cases(
    draw: st.DrawFn,
    longest: int,
    grammar: bool = True,
    scores: st.SearchStrategy[float] = SCORES,
    sentences: int = 2,
    most_columns: int = 5,
    schemes: Sequence[str] = SCHEMES,
) -> Case:
    """A batch of sentences with integer scores, so that ties are ties in any order of summing."""
    columns = COLUMNS[draw(st.sampled_from(schemes))]
    labels = draw(st.sampled_from([names for names in columns if len(names) <= most_columns]))
    # Hypothesis likes small numbers, and a word or two have little to decide.
    sizes = st.sampled_from([*range((longest + 1) // 2, longest + 1), *range(1, longest + 1)])
    lengths = draw(st.lists(sizes, min_size=1, max_size=sentences))
    charts = [packed(draw, n, len(labels), scores) for n in lengths]
    charts = [chart.astype(charts[0].dtype) for chart in charts]
    rules = draw(grammars(labels)) if grammar else None
    rule_scores = None
    if rules is not None and draw(st.booleans()):
        count = len(rules.tables(labels).rules)
        rule_scores = np.array(draw(st.lists(FINITE, min_size=count, max_size=count)))
    return Case(charts, labels, rules, draw(PENALTIES) if grammar else np.inf, rule_scores)


#: Sentences short enough for listing all their derivations.
FEW = st.one_of(
    cases(4),
    cases(4, grammar=False),
    cases(6, sentences=1, most_columns=3),
    cases(6, sentences=1, most_columns=3, grammar=False),
    cases(4, schemes=["$+left"]),
)


@st.composite
def constraint_sets(draw: st.DrawFn, n: int, labels: list[str]) -> Constraints:
    """A few wishes about a sentence of n words, which may contradict each other."""
    spans = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda s: s[0] < s[1])
    names = sorted({label for name in labels for label in split_chain(name)})
    labelled = st.builds(lambda span, name: (*span, name), spans, st.sampled_from(names))
    return Constraints(
        must=draw(st.lists(st.one_of(spans, labelled), max_size=2)),
        must_not=draw(st.lists(spans, max_size=2)),
        no_cross=draw(st.lists(spans, max_size=1)),
    )


def simple_grammar() -> Grammar:
    """A grammar over `@ $ A B` that licenses some of everything."""
    rules = ["A @ @", "A A B", "A $ @", "B B A", "B @ A", "$ @ A", "$ $ B", "$ A @"]
    return Grammar("$", {Rule(*rule.split()): 1 for rule in rules}, {"@": 1, "B": 1}, {"A": 1})


@lru_cache(maxsize=4)
def treebank_grammar(path: Path, scheme: Scheme) -> Grammar:
    """The grammar of a treebank."""
    return Grammar.from_trees(read_trees(path), scheme=scheme)


@st.composite
def treebank_cases(draw: st.DrawFn, grammar: Grammar, longest: int) -> Case:
    """Sentences over all labels of a treebank's grammar."""
    labels = list(grammar.labels)
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=2))
    charts = [packed(draw, n, len(labels), SCORES).astype(np.float32) for n in lengths]
    rule_scores = None
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        rule_scores = rng.integers(-2, 3, len(grammar.tables(labels).rules)).astype(float)
    return Case(charts, labels, grammar, draw(PENALTIES), rule_scores)
