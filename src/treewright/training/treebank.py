"""Trees as training sees them: words, tags and the nodes of gold derivations, as arrays.

Owns the way from a file of trees to examples over the columns of a chart, and the question which
gold trees the grammar forbids. Trees are normalised; those that hold nothing but traces are left
out, and counted.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.charts import Ints, Labels
from treewright.decode.parses import Batch, Found, Int32s
from treewright.decode.steps import as_steps
from treewright.errors import EmptyInput, Place
from treewright.files import name_of, open_bytes
from treewright.grammar import RuleTables
from treewright.trees import Tree, normalize, read_located_trees
from treewright.trees.binarize import derivation
from treewright.trees.symbols import Scheme


@dataclass(frozen=True)
class Treebank:
    """The trees of a file; `normalized` are what is learned, `trees` what the scorer is given."""

    file: str
    sha256: str
    trees: tuple[Tree, ...]
    normalized: tuple[Tree, ...]
    empty: int
    """Trees that held nothing but traces."""

    @classmethod
    def read(cls, file: str) -> Treebank:
        """The trees of a file; one without any is an error."""
        with open_bytes(file) as handle:
            data = handle.read()  # once: a pipe gives it no second time
        stream = io.BytesIO(data)
        stream.name = name_of(file)  # where errors say they are
        kept = []
        empty = 0
        for _, tree in read_located_trees(stream):
            normal = normalize(tree)
            if normal is None:
                empty += 1
            else:
                kept.append((tree, normal))
        if not kept:
            message = "holds no tree" + (" but of traces" if empty else "")
            raise EmptyInput(message, Place(name_of(file)))
        trees, normalized = zip(*kept, strict=True)
        digest = hashlib.sha256(data).hexdigest()
        return cls(name_of(file), digest, trees, normalized, empty)

    def __len__(self) -> int:
        return len(self.trees)

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The words of every sentence."""
        return [tree.words() for tree in self.normalized]


def tags_of(trees: Iterable[Tree]) -> tuple[str, ...]:
    """The part-of-speech tags of trees, sorted."""
    return tuple(sorted({tag for tree in trees for tag in tree.tags()}))


class Gold(NamedTuple):
    """The gold trees of some sentences, as arrays over columns.

    B sentences, M nodes: `2n - 1` a sentence, parents first, one sentence after the other.
    """

    lengths: Ints  # (B,)
    begins: Int32s  # (M,)
    ends: Int32s  # (M,)
    columns: Int32s  # (M,)
    rules: Ints  # (M,): the rule that licenses a node, -1 for none and over one word
    legal: npt.NDArray[np.bool_]  # (B,): whether the grammar licenses the tree
    tags: Ints  # (words,): -1 for a tag that is not known


class Examples:
    """Gold trees over the columns of a chart; `gold(sentences)` are those of a batch."""

    def __init__(
        self,
        trees: Sequence[Tree],
        labels: Labels,
        tables: RuleTables,
        tags: Sequence[str],
        scheme: Scheme,
    ) -> None:
        column = labels.columns
        tag_number = {tag: number for number, tag in enumerate(tags)}
        begins: list[int] = []
        ends: list[int] = []
        columns: list[int] = []
        tagged: list[int] = []
        lengths: list[int] = []
        for tree in trees:
            for begin, end, symbol in derivation(tree, scheme):
                begins.append(begin)
                ends.append(end)
                columns.append(column[symbol])
            words = [tag_number.get(tag, -1) for tag in tree.tags()]
            tagged += words
            lengths.append(len(words))
        counted = np.array(lengths, dtype=np.int64)
        nodes = [np.array(numbers, dtype=np.int32) for numbers in (begins, ends, columns)]
        once = np.ones(len(lengths), dtype=np.int64)
        found = Found(np.zeros(len(lengths)), once, nodes[0], nodes[1], nodes[2])
        batch = Batch(found, counted, as_steps(labels, tables, np.inf, None))
        legal = batch.n_violations == 0
        self._all = Gold(
            counted, nodes[0], nodes[1], nodes[2], batch.rule_ids, legal, np.array(tagged)
        )
        self._nodes = _offsets(2 * counted - 1)
        self._words = _offsets(counted)

    def __len__(self) -> int:
        return len(self._all.lengths)

    @property
    def lengths(self) -> Ints:
        """The words of every sentence."""
        return self._all.lengths

    @property
    def forbidden(self) -> int:
        """The gold trees that the grammar does not license."""
        return int((~self._all.legal).sum())

    def gold(self, sentences: Ints) -> Gold:
        """The gold trees of some sentences, in their order."""
        nodes = _ranges(self._nodes, sentences)
        words = _ranges(self._words, sentences)
        every = self._all
        return Gold(
            every.lengths[sentences],
            every.begins[nodes],
            every.ends[nodes],
            every.columns[nodes],
            every.rules[nodes],
            every.legal[sentences],
            every.tags[words],
        )


def _offsets(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ranges(offsets: Ints, chosen: Ints) -> Ints:
    """The indices of some parts of an array, one part after the other."""
    if not len(chosen):
        return np.zeros(0, dtype=np.int64)
    sizes = offsets[chosen + 1] - offsets[chosen]
    starts = np.repeat(offsets[chosen] - _offsets(sizes)[:-1], sizes)
    return starts + np.arange(len(starts))
