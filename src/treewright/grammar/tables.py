"""A grammar as integers, over the columns of a chart.

Owns the translation from symbols to columns. Shapes: `L` columns, `P` distinct pairs of children,
`R` rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright.trees.symbols import WORD_NULL, is_mark

if TYPE_CHECKING:
    from treewright.grammar.grammar import Grammar


class Kind(IntEnum):
    """What a column stands for, which decides where it may stand in a derivation."""

    REAL = 0
    MARK = 1  # over two words or more, never a right child, never the root
    WORD_NULL = 2  # over one word only


@dataclass(frozen=True, eq=False)
class RuleTables:
    """Rules grouped by the pair of their children, and licences, by column.

    A decoder takes the maximum over split points once for each of the `P` pairs; each rule then
    reads its pair.
    """

    labels: tuple[str, ...]
    kinds: NDArray[np.int8]  # (L,), a `Kind` each
    pairs: NDArray[np.int32]  # (P, 2): left and right column; distinct, sorted
    rules: NDArray[np.int32]  # (R, 2): parent column, number of the pair; sorted
    rule_counts: NDArray[np.int64]  # (R,)
    words: NDArray[np.bool_]  # (L,): licensed over one word
    roots: NDArray[np.bool_]  # (L,): licensed at the root

    def rule_of(self, rule: int) -> tuple[str, str, str]:
        """Parent, left and right symbol of a rule by its number."""
        parent, pair = self.rules[rule]
        left, right = self.pairs[pair]
        return self.labels[parent], self.labels[left], self.labels[right]


def kinds_of(labels: Sequence[str]) -> NDArray[np.int8]:
    """The `Kind` of every label, shape (L,)."""
    kinds = [
        Kind.WORD_NULL if label == WORD_NULL else Kind.MARK if is_mark(label) else Kind.REAL
        for label in labels
    ]
    return np.array(kinds, dtype=np.int8)


def rule_tables(grammar: Grammar, labels: Sequence[str]) -> RuleTables:
    """The tables of a grammar; a rule with a symbol that is no column is left out."""
    column = {label: number for number, label in enumerate(labels)}
    rows = sorted(
        (column[rule.left], column[rule.right], column[rule.parent], count)
        for rule, count in grammar.rules.items()
        if column.keys() >= set(rule)
    )
    pairs = sorted({(left, right) for left, right, _, _ in rows})
    number = {pair: at for at, pair in enumerate(pairs)}
    ordered = sorted((parent, number[left, right], count) for left, right, parent, count in rows)
    return RuleTables(
        labels=tuple(labels),
        kinds=kinds_of(labels),
        pairs=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        rules=np.array([row[:2] for row in ordered], dtype=np.int32).reshape(-1, 2),
        rule_counts=np.array([row[2] for row in ordered], dtype=np.int64),
        words=np.array([label in grammar.words for label in labels], dtype=bool),
        roots=np.array([label in grammar.roots for label in labels], dtype=bool),
    )
