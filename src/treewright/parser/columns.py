"""What the columns of a model's scores mean, made ready for decoding once.

Owns the translations between numbers and names: the grammar as the decoders take it in each mode of
the rules, the tags of words, and the probability of a label from those of the symbols that hold it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.charts import Ints, packed_index
from treewright.decode import Confidence, Marginals, Parse
from treewright.parser.options import Options
from treewright.scorer import Description
from treewright.trees.symbols import split_chain


class Columns:
    """The columns of one model."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._tables = description.grammar.tables(description.labels)
        scores = description.rule_scores
        self._rule_scores = None if scores is None else np.array(scores, dtype=np.float64)
        self._tags = np.array(description.tags, dtype=object)
        # Of every column the labels of its chain, top-down; none for nulls.
        self._chains = [split_chain(symbol) for symbol in description.labels]
        self._labels = sorted({label for chain in self._chains for label in chain})
        number = {label: at for at, label in enumerate(self._labels)}
        self._chain_numbers = [[number[label] for label in chain] for chain in self._chains]
        # Whether the chain of a column holds a label: (L, distinct labels).
        self._holding = np.zeros((len(self._chains), len(self._labels)))
        for column, numbers in enumerate(self._chain_numbers):
            self._holding[column, numbers] = 1.0

    def for_decoder(self, options: Options) -> dict[str, Any]:
        """What `decode` and `marginals` are told of the grammar.

        With rules off the penalty is 0: the scores alone decide, and violations are still found.
        """
        return {
            "grammar": self._tables,
            "penalty": self.penalty(options),
            "rule_scores": None if options.rules == "off" else self._rule_scores,
        }

    def penalty(self, options: Options) -> float:
        """What a violation costs."""
        if options.rules == "soft":
            own = self._description.penalty
            return float(own if options.penalty is None else options.penalty)
        return math.inf if options.rules == "hard" else 0.0

    def temperature(self, options: Options) -> float:
        """What scores are divided by to make confidences of them."""
        return self._description.temperatures.get(options.rules, 1.0)

    def tags(self, columns: Ints) -> list[str]:
        """The names of the tags of words."""
        names: list[str] = self._tags[np.asarray(columns)].tolist()
        return names

    def confidences(self, parse: Parse, marginals: Marginals) -> tuple[Confidence, ...]:
        """The constituents of a parse, chains taken apart, with the probability of each.

        It is that of a constituent of this label over these words, whatever else is in its chain.
        """
        begins, ends, columns = parse.columns
        cells = packed_index(marginals.n, begins.astype(np.int64), ends.astype(np.int64))
        holding: npt.NDArray[np.float64] = marginals.probabilities[cells] @ self._holding
        found = []
        spans = zip(begins.tolist(), ends.tolist(), columns.tolist(), strict=True)
        for node, (begin, end, column) in enumerate(spans):
            for number in self._chain_numbers[column]:
                probability = min(1.0, float(holding[node, number]))
                found.append(Confidence(begin, end, self._labels[number], probability))
        return tuple(found)
