"""A scorer that needs no model: scores that depend on the words of a span alone, over a grammar."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.charts import cell_spans
from treewright.grammar import Grammar
from treewright.scorer import Description, Scores
from treewright.trees import Tree
from treewright.trees.symbols import is_null

TREEBANK = [
    "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (VBZ sees) (NP (PRP me))) (. .)))",
    "(TOP (S (NP (PRP I)) (VP (VBP run) (PP (IN to) (NP (DT the) (NN dog)))) (. .)))",
    "(TOP (S (VP (VB Go) (ADVP (RB home))) (. !)))",
    "(TOP (NP (NP (NNS dogs)) (PP (IN of) (NP (NN war)))))",
    "(TOP (FRAG (NP (NN a) (NN b) (NN c) (NN d)) (. .)))",
]


def description(**changes: Any) -> Description:
    """What the scorers below say of themselves."""
    trees = [Tree.from_brackets(text) for text in TREEBANK]
    grammar = Grammar.from_trees(trees, scheme=changes.pop("scheme", "$"))
    tags = tuple(sorted({tag for tree in trees for tag in tree.tags()}))
    values: dict[str, Any] = {
        "penalty": 0.5,
        "temperatures": {"hard": 2.0, "soft": 1.5, "off": 0.5},
        "root": "TOP",
        "language": "en",
        "name": "hash",
    }
    tags = changes.pop("tags", tags)
    return Description(grammar.labels, tags, grammar, **{**values, **changes})


class HashScorer:
    """Scores between -2 and 2 from a hash of a span's first and last word, length and label.

    It keeps the sizes of the batches that it was given.
    """

    def __init__(self, own: Description | None = None) -> None:
        self.description = own or description()
        self.batches: list[int] = []

    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        self.batches.append(len(sentences))
        rows = [self._rows(words) for words in sentences]
        kinds = len(self.description.tags)
        tags = [_hash(word) % kinds for words in sentences for word in words]
        lengths = np.array([len(words) for words in sentences], dtype=np.int64)
        return Scores(np.concatenate(rows), lengths, np.array(tags, dtype=np.int64))

    def _rows(self, words: Sequence[str]) -> np.ndarray:
        hashes = np.array([_hash(word) for word in words], dtype=np.uint64)
        begins, ends = cell_spans(len(words))
        cells = hashes[begins] * 31 + hashes[ends - 1] * 17 + (ends - begins).astype(np.uint64) * 7
        mixed = cells[:, None] + np.arange(len(self.description.labels), dtype=np.uint64) * 101
        mixed = (mixed * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
        scores = (mixed % 4001).astype(np.float32) / 1000 - 2
        scores[:, [is_null(label) for label in self.description.labels]] = 0.0
        return scores


def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
