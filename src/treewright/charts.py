"""Charts: the one shape of span scores, and what their columns stand for.

Owns `Labels` (the columns), `Chart` (the scores of one or more sentences, checked) and the two
layouts with the ways between them. It decodes nothing, and it knows torch only by the shape of its
tensors: torch is never imported here.

Letters of shapes, here and in `treewright.decode`:

    B  sentences    n  words of one sentence    N  words of the longest    L  labels (columns)

A sentence of n words has n(n+1)/2 cells, one a span (i, j), 0 <= i < j <= n, half-open.

    packed   (n(n+1)/2, L)       cells by i, then j: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
    padded   (B, N+1, N+1, L)    cell [b, i, j]; what is not a span is never looked at

Several packed sentences stand one below the other: the sum of their cells is the number of rows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from treewright.errors import BadScore, ChartError, LabelError, Place, TreeError
from treewright.grammar.tables import kinds_of
from treewright.trees.binarize import scheme_of
from treewright.trees.symbols import Scheme, split_chain

#: A numpy array or a torch tensor.
Array: TypeAlias = Any
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Ints: TypeAlias = npt.NDArray[np.int64]

# Of this machine's byte order.
_DTYPES = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


class Labels(Sequence[str]):
    """The names of a chart's columns, in order: symbols as `treewright.trees.symbols` writes them.

    >>> labels = Labels(["@", "$", "NP", "S::VP"])
    >>> labels.columns["NP"], labels.kinds.tolist(), labels.scheme
    (2, [2, 1, 0, 0], '$')
    >>> labels.holding("VP")
    [3]
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names: tuple[str, ...] = tuple(names)
        if not self.names:
            raise LabelError("a chart has at least one label")
        for name in self.names:
            if not isinstance(name, str) or not name:
                raise LabelError(rf"a label is a non-empty text, not {name!r} (an empty one is \e)")
        self.columns: dict[str, int] = {name: column for column, name in enumerate(self.names)}
        if len(self.columns) < len(self.names):
            twice = next(n for c, n in enumerate(self.names) if self.columns[n] != c)
            raise LabelError(f"the label {twice!r} names two columns")
        try:
            self.scheme: Scheme | None = scheme_of(set(self.names))
        except TreeError as error:
            raise LabelError(error.message) from None
        self.kinds: npt.NDArray[np.int8] = kinds_of(self.names)
        self.kinds.setflags(write=False)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, column: Any) -> Any:
        return self.names[column]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"Labels({list(self.names)!r})"

    def holding(self, label: str) -> list[int]:
        """The columns whose chain holds a label: `VP` is in `VP` and in `S::VP`."""
        return [column for column, name in enumerate(self.names) if label in split_chain(name)]


def as_labels(labels: Sequence[str]) -> Labels:
    """`labels` itself, or the `Labels` of those names."""
    if isinstance(labels, Labels):
        return labels
    names = tuple(labels)
    return _labels(names) if all(isinstance(name, str) for name in names) else Labels(names)


@lru_cache(maxsize=32)
def _labels(names: tuple[str, ...]) -> Labels:
    return Labels(names)


_Numbers = TypeVar("_Numbers", int, Ints)


def cell_count(n: _Numbers) -> _Numbers:
    """The number of spans of a sentence of `n` words; of many, given an array."""
    count: _Numbers = n * (n + 1) // 2
    return count


def packed_index(n: int, i: _Numbers, j: _Numbers) -> _Numbers:
    """The row of span `(i, j)` in a packed sentence of `n` words; of many, given arrays.

    >>> [packed_index(3, i, j) for i in range(3) for j in range(i + 1, 4)]
    [0, 1, 2, 3, 4, 5]
    """
    row: _Numbers = i * n - i * (i - 1) // 2 + (j - i - 1)
    return row


@lru_cache(maxsize=512)
def cell_spans(n: int) -> tuple[Ints, Ints]:
    """Where the spans of the packed rows begin and end: two arrays `(n(n+1)/2,)`."""
    begins, last = np.triu_indices(n)
    ends = last + 1
    begins.setflags(write=False)
    ends.setflags(write=False)
    return begins, ends


def to_packed(padded: Array, n: int | None = None) -> Array:
    """One padded sentence `(N+1, N+1, L)` as packed rows `(n(n+1)/2, L)`."""
    spans = cell_spans(padded.shape[0] - 1 if n is None else n)
    return padded[indices(padded, *spans)]


def to_padded(packed: Array, n: int, longest: int | None = None, fill: float = -np.inf) -> Array:
    """Packed rows `(n(n+1)/2, L)` as one padded sentence `(N+1, N+1, L)`."""
    side = (n if longest is None else longest) + 1
    shape = (side, side, packed.shape[1])
    padded = new_full(packed, shape, fill)
    padded[indices(packed, *cell_spans(n))] = packed
    return padded


def is_tensor(scores: object) -> bool:
    """Whether this is a torch tensor, told without importing torch."""
    return type(scores).__module__.partition(".")[0] == "torch" and hasattr(scores, "detach")


def indices(like: Array, *arrays: Ints) -> tuple[Array, ...]:
    """Numpy indices as `like` takes them: tensors on its device, if it is one."""
    if not is_tensor(like):
        return arrays
    torch: Any = sys.modules["torch"]
    return tuple(torch.tensor(array, device=like.device) for array in arrays)


def new_full(like: Array, shape: tuple[int, ...], fill: float) -> Array:
    """A new array of the kind, dtype and device of `like`."""
    if is_tensor(like):
        return like.new_full(shape, fill)
    return np.full(shape, fill, dtype=like.dtype)


@dataclass(frozen=True, eq=False)
class Chart:
    """The scores of a batch of sentences, shapes checked; made by `as_chart`.

    `scores` are the caller's own memory: packed `(rows, L)`, padded `(B, N+1, N+1, L)`, or a list
    of packed sentences.
    """

    labels: Labels
    scores: Array
    lengths: Ints  # (B,)
    offsets: Ints  # (B + 1,): rows before each sentence, in the packed layout
    single: bool  # given as one sentence, to be answered with one result

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def listed(self) -> bool:
        """Whether the scores are a list of packed sentences."""
        return isinstance(self.scores, list)

    @property
    def is_padded(self) -> bool:
        """Whether the scores are one padded array."""
        return not self.listed and self.scores.ndim == 4

    @property
    def sample(self) -> Array:
        """One of the arrays, to tell the type, dtype and device of all by."""
        return self.scores[0] if self.listed else self.scores

    def rows(self, b: int) -> Array:
        """The scores of one sentence, packed: `(n(n+1)/2, L)`."""
        if self.listed:
            return self.scores[b]
        if self.is_padded:
            return to_packed(self.scores[b], int(self.lengths[b]))
        return self.scores[int(self.offsets[b]) : int(self.offsets[b + 1])]

    def sentence(self, b: int) -> Floats:
        """The same as a numpy array, wherever the scores lie."""
        rows = self.rows(b)
        return cast("Floats", rows.cpu().numpy() if is_tensor(rows) else rows)

    def padded(self, fill: float = -np.inf) -> Array:
        """All scores as `(B, N+1, N+1, L)`, what is outside a sentence filled with `fill`."""
        longest = int(self.lengths.max())
        if self.is_padded and bool((self.lengths == longest).all()):
            return self.scores[:, : longest + 1, : longest + 1]
        shape = (len(self), longest + 1, longest + 1, len(self.labels))
        padded = new_full(self.sample, shape, fill)
        if self.listed:
            for b, rows in enumerate(self.scores):
                padded[b][indices(rows, *cell_spans(int(self.lengths[b])))] = rows
            return padded
        places = indices(self.scores, *self.places())
        padded[places] = self.scores[places] if self.is_padded else self.scores
        return padded

    def places(self) -> tuple[Ints, Ints, Ints]:
        """Sentence, begin and end of every cell of the batch, in the packed order."""
        spans = [cell_spans(int(n)) for n in self.lengths]
        sentence = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return (
            sentence,
            np.concatenate([begins for begins, _ in spans]),
            np.concatenate([ends for _, ends in spans]),
        )

    def select(self, sentences: Ints) -> Chart:
        """The chart of some of the sentences."""
        if self.is_padded:
            scores = self.scores[indices(self.scores, sentences)]
        else:
            scores = [self.rows(int(b)) for b in sentences]
        lengths = self.lengths[sentences]
        return Chart(self.labels, scores, lengths, _offsets(lengths), single=False)

    def map(self, change: Callable[[Array], Array]) -> Chart:
        """The same sentences with other scores: a function of the arrays that keeps their shape."""
        scores = [change(rows) for rows in self.scores] if self.listed else change(self.scores)
        return Chart(self.labels, scores, self.lengths, self.offsets, self.single)

    def check_values(self) -> None:
        """Refuse NaN and +inf where a span is, naming sentence, span and label."""
        arrays = self.scores if self.listed else [self.scores] if len(self) else []
        if all(float(array.max()) < np.inf for array in arrays):  # a NaN's maximum is NaN
            return
        # Something is wrong, if only in the padding: look closely.
        for b in range(len(self)):
            scores = self.sentence(b)
            wrong = ~(scores < np.inf)
            if wrong.any():
                cell, column = (int(at) for at in np.argwhere(wrong)[0])
                begins, ends = cell_spans(int(self.lengths[b]))
                place = Place(sentence=b + 1, span=(int(begins[cell]), int(ends[cell])))
                value = "NaN" if np.isnan(scores[cell, column]) else "+inf"
                raise BadScore(f"the score of {self.labels[column]!r} is {value}", place)


def as_chart(scores: Array, labels: Sequence[str], lengths: Any = None) -> Chart:
    """Check scores and say where their cells lie.

    What `scores` may be, as numpy or torch, float32 or float64:

    * `(n(n+1)/2, L)`: one sentence, packed; with `lengths` several, one below the other;
    * `(N+1, N+1, L)`: one sentence, padded; `lengths` may be its number of words;
    * `(B, N+1, N+1, L)`: several, padded; without `lengths` all have N words;
    * a list of sentences of the first two kinds.

    -inf forbids a label on a span. NaN and +inf are errors, which whoever reads the scores finds;
    see `Chart.check_values`.

    >>> chart = as_chart(np.zeros((3, 2)), ["@", "S"])
    >>> chart.lengths.tolist(), chart.single
    ([2], True)
    """
    labels = as_labels(labels)
    if isinstance(scores, list | tuple):
        return _from_list(scores, labels, lengths)
    return _from_array(_checked_array(scores, labels, None), labels, lengths)


def _checked_array(scores: Array, labels: Labels, place: Place | None) -> Array:
    if isinstance(scores, np.ndarray):
        readable = scores.dtype in _DTYPES
    elif is_tensor(scores):
        scores = scores.detach()
        if str(scores.layout) != "torch.strided" or scores.device.type == "meta":
            raise ChartError("the tensor has no numbers laid out to be read", place)
        readable = str(scores.dtype) in ("torch.float32", "torch.float64")
    else:
        name = type(scores).__name__
        raise ChartError(f"scores are a numpy array or a torch tensor, not {name}", place)
    if not readable:
        dtype = str(scores.dtype).removeprefix("torch.")
        raise ChartError(f"scores are float32 or float64, not {dtype}", place)
    if scores.ndim not in (2, 3, 4):
        message = "scores have two dimensions (packed), three or four (padded)"
        raise ChartError(f"{message}, not {scores.ndim}", place)
    if scores.shape[-1] != len(labels):
        message = f"the scores have {scores.shape[-1]} columns for {len(labels)} labels"
        raise ChartError(message, place)
    if scores.ndim > 2 and scores.shape[-3] != scores.shape[-2]:
        shape = tuple(scores.shape)
        raise ChartError(f"a padded chart has N+1 rows and N+1 columns; {shape} has not", place)
    return scores


def _from_array(scores: Array, labels: Labels, lengths: Any) -> Chart:
    if scores.ndim == 2:
        if lengths is None:
            lengths = _length_of(int(scores.shape[0]), Place(sentence=1))
        single = np.ndim(lengths) == 0
        counted = _checked_lengths(np.atleast_1d(_as_integers(lengths)), None)
        offsets = _offsets(counted)
        if offsets[-1] != scores.shape[0]:
            message = f"sentences of these lengths have {offsets[-1]} spans"
            raise ChartError(f"{message}; the chart has {scores.shape[0]} rows")
        return Chart(labels, scores, counted, offsets, single)
    single = scores.ndim == 3
    if single:
        scores = scores[None]
    sentences, longest = int(scores.shape[0]), int(scores.shape[1]) - 1
    if lengths is None:
        lengths = np.full(sentences, longest)
    counted = np.atleast_1d(_as_integers(lengths))
    if counted.shape != (sentences,):
        raise ChartError(f"{sentences} sentences, but {counted.size} lengths")
    _checked_lengths(counted, longest)
    return Chart(labels, scores, counted, _offsets(counted), single)


def _from_list(scores: Sequence[Array], labels: Labels, lengths: Any) -> Chart:
    if lengths is not None:
        lengths = _as_integers(lengths)
        if lengths.shape != (len(scores),):
            raise ChartError(f"{len(scores)} sentences, but {lengths.size} lengths")
    parts: list[Array] = []
    counted: list[int] = []
    for b, part in enumerate(scores):
        place = Place(sentence=b + 1)
        part = _checked_array(part, labels, place)
        if part.ndim == 4:
            raise ChartError("a list holds single sentences, not padded batches", place)
        if parts and (type(part), part.dtype) != (type(parts[0]), parts[0].dtype):
            raise ChartError("the sentences of a list are of one type", place)
        if part.ndim == 2:
            n = _length_of(int(part.shape[0]), place)
            if lengths is not None and lengths[b] != n:
                raise ChartError(f"a chart of {n} words, but a length of {lengths[b]}", place)
        else:
            n = int(part.shape[0]) - 1 if lengths is None else int(lengths[b])
            _checked_length(n, int(part.shape[0]) - 1, b)
            part = to_packed(part, n)
        counted.append(n)
        parts.append(part)
    sizes = np.array(counted, dtype=np.int64)
    return Chart(labels, parts, sizes, _offsets(sizes), single=False)


def _offsets(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths * (lengths + 1) // 2)]).astype(np.int64)


def _length_of(rows: int, place: Place) -> int:
    n = (math.isqrt(8 * rows + 1) - 1) // 2
    if rows == 0 or cell_count(n) != rows:
        message = f"a packed sentence of n words has n(n+1)/2 rows; {rows} is no such number"
        raise ChartError(message, place)
    return n


def _as_integers(lengths: Any) -> Ints:
    try:
        array = np.asarray(lengths.cpu().numpy() if is_tensor(lengths) else lengths)
    except ValueError:  # lists of several lengths
        array = np.zeros((0, 0))
    if array.ndim > 1 or (array.size and array.dtype.kind not in "iu"):
        raise ChartError(f"lengths are whole numbers, one a sentence, not {lengths!r}")
    return array.astype(np.int64)


def _checked_lengths(lengths: Ints, longest: int | None) -> Ints:
    wrong = lengths < 1
    if longest is not None:
        wrong |= lengths > longest
    if wrong.any():
        b = int(wrong.argmax())
        _checked_length(int(lengths[b]), longest, b)
    return lengths


def _checked_length(n: int, longest: int | None, b: int) -> None:
    if n < 1:
        raise ChartError(f"a sentence has at least one word, not {n}", Place(sentence=b + 1))
    if longest is not None and n > longest:
        message = f"a length of {n} words over a chart of {longest}"
        raise ChartError(message, Place(sentence=b + 1))
