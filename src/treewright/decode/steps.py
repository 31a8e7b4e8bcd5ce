"""What a step of a derivation costs: rules, licences, penalty and rule scores, made ready.

Owns the checking of everything that `decode` is told about the grammar, and the one reading of a
step that all decoders share. It decodes nothing.

A *step* is a node over two children, a symbol over one word, or a symbol at the root. A licensed
step adds its rule's score (0 unless given), an unlicensed one takes the penalty off; a licensed
step whose rule score is below minus the penalty is read as unlicensed, since that is better.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from treewright.charts import Ints, Labels, is_tensor
from treewright.errors import LabelError, OptionError
from treewright.grammar import Grammar, Rule, RuleTables

AnyInts: TypeAlias = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a decoder; made by `as_steps`."""

    labels: Labels
    tables: RuleTables | None  # None: every step is licensed
    penalty: float
    rule_scores: npt.NDArray[np.float64]  # (R,)

    @property
    def free(self) -> bool:
        """Whether no step adds or takes anything, so that the grammar cannot change the best."""
        return self.tables is None or (self.penalty == 0 and not (self.rule_scores > 0).any())

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """The rules that are read as licensed where they are used: `(R,)`."""
        return self.rule_scores >= -self.penalty

    @cached_property
    def _keys(self) -> Ints:
        """The rules as numbers, ascending, as they are sorted by parent, left and right."""
        assert self.tables is not None
        pairs = self.tables.pairs[self.tables.rules[:, 1]].astype(np.int64)
        return self._key(self.tables.rules[:, 0].astype(np.int64), pairs[:, 0], pairs[:, 1])

    def _key(self, parent: Ints, left: Ints, right: Ints) -> Ints:
        size = len(self.labels)
        return (parent * size + left) * size + right

    def rule_ids(self, parent: AnyInts, left: AnyInts, right: AnyInts) -> Ints:
        """The numbers of the rules that license steps, given by columns; -1 where none does."""
        if self.tables is None or not len(self._keys):
            return np.full(parent.shape, -1, dtype=np.int64)
        key = self._key(parent.astype(np.int64), left.astype(np.int64), right.astype(np.int64))
        found = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        ids = np.where(self._keys[found] == key, found, -1)
        return np.where(self.counted[ids], ids, -1)

    def scaled(self, factor: float) -> Steps:
        """The same steps with penalty and rule scores times a factor."""
        return Steps(self.labels, self.tables, self.penalty * factor, self.rule_scores * factor)


def as_steps(
    labels: Labels,
    grammar: Grammar | RuleTables | None,
    penalty: float,
    rule_scores: Any,
) -> Steps:
    """Check what is known of the grammar against the labels of a chart."""
    try:
        penalty = float(penalty)
    except (TypeError, ValueError):
        raise OptionError(f"the penalty is a number from 0 to infinity, not {penalty!r}") from None
    if not penalty >= 0:
        raise OptionError(f"the penalty is a number from 0 to infinity, not {penalty}")
    if grammar is None:
        if rule_scores is not None:
            raise OptionError("rule scores need a grammar whose rules they belong to")
        return Steps(labels, None, 0.0, np.zeros(0))
    tables = _tables(grammar, labels)
    return Steps(labels, tables, penalty, _rule_scores(rule_scores, tables))


def _tables(grammar: Grammar | RuleTables, labels: Labels) -> RuleTables:
    if isinstance(grammar, RuleTables):
        if grammar.labels != labels.names:
            raise LabelError("the rule tables are not over the columns of the chart")
        return grammar
    if not isinstance(grammar, Grammar):
        name = type(grammar).__name__
        raise OptionError(f"the grammar is a Grammar or its tables, not {name}: see Grammar.load")
    for known, names, tables in tuple(_recent):
        if known is grammar and names == labels.names:
            return tables
    known_labels = set(grammar.labels)
    unknown = [name for name in labels if name not in known_labels]
    if unknown:
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise LabelError(f"the grammar does not know the label {unknown[0]!r}{more}")
    tables = grammar.tables(labels.names)
    _recent.append((grammar, labels.names, tables))
    return tables


# Tables take milliseconds to make, which is more than a sentence takes to decode.
_recent: deque[tuple[Grammar, tuple[str, ...], RuleTables]] = deque(maxlen=8)


def _rule_scores(rule_scores: Any, tables: RuleTables) -> npt.NDArray[np.float64]:
    """Scores given by rule (a mapping) or in the order of `tables.rules` (an array)."""
    count = len(tables.rules)
    if rule_scores is None:
        return np.zeros(count)
    if isinstance(rule_scores, Mapping):
        numbers = {Rule(*tables.rule_of(number)): number for number in range(count)}
        values = np.zeros(count)
        for rule, score in rule_scores.items():
            if rule not in numbers:
                name = Rule(*rule) if isinstance(rule, tuple) and len(rule) == 3 else repr(rule)
                raise OptionError(f"a score for {name}, which is no rule over these columns")
            values[numbers[rule]] = _number(score)
    else:
        array = rule_scores.detach().cpu().numpy() if is_tensor(rule_scores) else rule_scores
        values = _number(array)
    if values.shape != (count,):
        raise OptionError(f"{count} rules, but rule scores of shape {values.shape}")
    if not np.isfinite(values).all():
        number = int((~np.isfinite(values)).argmax())
        raise OptionError(f"the score of {Rule(*tables.rule_of(number))} is {values[number]}")
    return values


def _number(scores: Any) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"rule scores are numbers, not {scores!r}") from None
