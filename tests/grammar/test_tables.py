"""Tables say what the grammar says, in columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.grammar import Grammar, Kind, Rule
from treewright.trees import Tree
from treewright.trees.symbols import SCHEMES, Scheme


@given(st.lists(ROOTED_TREES, max_size=4), st.sampled_from(SCHEMES))
def test_tables_hold_every_rule(trees: list[Tree], scheme: Scheme) -> None:
    grammar = Grammar.from_trees(trees, scheme=scheme)
    tables = grammar.tables()
    again = {
        Rule(*tables.rule_of(number)): int(count) for number, count in enumerate(tables.rule_counts)
    }
    assert again == grammar.rules
    assert {tables.labels[column] for column in np.flatnonzero(tables.words)} == set(grammar.words)
    assert {tables.labels[column] for column in np.flatnonzero(tables.roots)} == set(grammar.roots)
    assert len(tables.pairs) == len(grammar.pairs)
    for table in (tables.pairs, tables.rules):
        assert table.dtype == np.int32
        assert sorted(map(tuple, table)) == list(map(tuple, table))


def test_rules_of_absent_columns_are_left_out() -> None:
    grammar = Grammar.from_trees([Tree.from_brackets("(S (NP (NN a)) (VP (VB b) (NP (NN c))))")])
    tables = grammar.tables(("VP", "NP", "@"))
    assert [tables.rule_of(number) for number in range(len(tables.rules))] == [("VP", "@", "NP")]
    assert tables.kinds.tolist() == [Kind.REAL, Kind.REAL, Kind.WORD_NULL]
    assert tables.roots.tolist() == [False, False, False]


def test_no_rules_give_empty_tables() -> None:
    tables = Grammar("$", {}, {"NP": 1}, {"NP": 1}).tables()
    assert tables.pairs.shape == tables.rules.shape == (0, 2)
