"""Graphs in 8 bits: products of small integers, every scale known before a sentence is.

Owns the ranges that numbers have (`Observed`) and the rewriting of a graph (`quantized`).

ONNX Runtime's own dynamic quantisation scales what goes into a product by the largest number of the
whole tensor, so that a sentence's scores depend on those it shares a batch with. Here scales are
constants, from sentences that were looked at beforehand: a number becomes the same integer wherever
it stands.

- What goes into a product is an unsigned integer of 8 bits, its range the one with the least error
  over the sentences looked at: a few numbers far out are cut off for the sake of all others.
- Weights are signed, a scale a column, and use 7 bits: two products then fit into 16 bits, in which
  processors without instructions for neural networks (before 2019 or so) add them up, saturating.
- Tables of embeddings, most of what a small encoder weighs, have 8 bits and a scale a row.

All else, norms, attention, sums, stays in single precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from treewright.export.graph import RUNTIME

_WEIGHT_MOST = 64  # 255 * 64 * 2 is below 2^15
_ROW_MOST = 127
_LEVELS = 255

# Rows remembered of a value from each run, and in all
_ROWS_A_RUN = 16
_ROWS = 512
# Tried out: shares of a range, and of the trouble that is handed on to weights
_SHARES = np.linspace(1.0, 0.3, 15)
_HANDED_ON = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)

Floats = npt.NDArray[np.float32]


class Range(NamedTuple):
    """How the numbers of a value become integers from 0 to 255."""

    scale: float
    zero: int


class Seen(NamedTuple):
    """What a value was like, by the channels of its last axis."""

    largest: Floats
    """`(channels,)`: the largest magnitude."""

    rows: Floats
    """`(rows, channels)`: some of it."""


class Observed:
    """What values were like while sentences were scored."""

    def __init__(self) -> None:
        self._largest: dict[str, Floats] = {}
        self._rows: dict[str, list[Floats]] = {}
        self._random = np.random.default_rng(0)

    def see(self, values: Mapping[str, npt.NDArray[Any]]) -> None:
        """Look at the values of a run."""
        for name, value in values.items():
            if value.dtype == np.float32:
                self._see(name, value.reshape(-1, value.shape[-1]))

    def _see(self, name: str, rows: Floats) -> None:
        largest: Floats = np.abs(rows).max(0)
        self._largest[name] = np.maximum(largest, self._largest.get(name, 0))
        some = self._random.integers(len(rows), size=_ROWS_A_RUN)
        self._rows.setdefault(name, []).append(rows[some])

    def __getitem__(self, name: str) -> Seen:
        runs = self._rows[name]
        kept = runs[:: len(runs) * _ROWS_A_RUN // _ROWS + 1]
        return Seen(self._largest[name], np.concatenate(kept))


class _Choice(NamedTuple):
    """What channels are divided by before they become integers, and the range they then have."""

    factors: Floats
    range: Range


def _choose(seen: Seen, weights: Sequence[Floats]) -> _Choice:
    """How a value becomes integers, so that the products with all `weights` are off the least.

    Channels that are much larger than others would claim the range of all. They are divided by
    factors, and the weights multiplied by them in turn (SmoothQuant, Xiao et al. 2023). How much of
    the trouble is handed to the weights is tried out.
    """
    least = np.float32(1e-5)
    of_weights = np.max([np.abs(weight).max(1) for weight in weights], axis=0)
    exact = [seen.rows @ weight for weight in weights]
    best, smallest = None, np.inf
    for share in _HANDED_ON:
        factors = np.maximum(seen.largest, least) ** share
        factors /= np.maximum(of_weights, least) ** (1 - share)
        factors = (factors / np.exp(np.log(factors).mean())).astype(np.float32)
        even = seen.rows / factors
        found = _best_range(np.concatenate([even, [seen.largest / factors]]))
        rounded = _rounded(even, found)
        error = 0.0
        for weight, wanted in zip(weights, exact, strict=True):
            table, scales = _in_bits(weight * factors[:, None], axis=0, most=_WEIGHT_MOST)
            error += float(np.square(rounded @ (table * scales) - wanted).sum())
        if best is None or error < smallest:
            best, smallest = _Choice(factors, found), error
    assert best is not None
    return best


def _rounded(numbers: Floats, of: Range) -> Floats:
    """Numbers as they are after they have been integers."""
    scale = np.float32(of.scale)
    levels = np.clip(np.round(numbers / scale) + np.float32(of.zero), 0, _LEVELS)
    return ((levels - np.float32(of.zero)) * scale).astype(np.float32)


def _best_range(numbers: Floats) -> Range:
    """The range in which rounding and cutting off cost least, squared."""
    low, high = min(float(numbers.min()), 0.0), max(float(numbers.max()), 0.0)
    best, least = Range(1.0, 0), np.inf
    for share in _SHARES:
        # From 0 a share of the way to either end: 0 itself is always exact
        scale = max(share * (high - low) / _LEVELS, 1e-12)
        zero = int(np.clip(np.round(-low * share / scale), 0, _LEVELS))
        error = float(np.square(_rounded(numbers, Range(scale, zero)) - numbers).mean())
        if error < least:
            best, least = Range(scale, zero), error
    return best


def products(model: onnx.ModelProto) -> dict[str, list[onnx.NodeProto]]:
    """The products with a matrix of weights, by the value that goes into them."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    found: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        if node.op_type == "MatMul" and len(_shape(constants, node.input[1])) == 2:
            found.setdefault(node.input[0], []).append(node)
    return found


def observable(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model, what goes into its products put out as well."""
    new = onnx.ModelProto()
    new.CopyFrom(model)
    own = {value.name for value in (*new.graph.input, *new.graph.output)}
    for name in products(model):
        if name not in own:
            new.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return new


def quantized(model: onnx.ModelProto, observed: Observed) -> onnx.ModelProto:
    """The same model in 8 bits, after a look at what goes into its products."""
    rewriting = _Rewriting(model, observed)
    new = onnx.ModelProto()
    new.CopyFrom(model)
    del new.graph.node[:], new.graph.initializer[:]
    new.graph.node.extend(rewriting.nodes())
    used = {name for node in new.graph.node for name in node.input}
    new.graph.initializer.extend(
        tensor for name, tensor in rewriting.constants.items() if name in used
    )
    if all(each.domain != RUNTIME for each in new.opset_import):
        new.opset_import.append(helper.make_opsetid(RUNTIME, 1))
    return new


class _Integers(NamedTuple):
    """A value in 8 bits: the names of all that a product wants to know, and its factors."""

    name: str
    scale: str
    zero: str
    factors: Floats


class _Rewriting:
    """A graph on its way into 8 bits."""

    def __init__(self, model: onnx.ModelProto, observed: Observed) -> None:
        self.graph = model.graph
        self.observed = observed
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.readers = products(model)
        self.products = {node.output[0] for nodes in self.readers.values() for node in nodes}
        self.biases = dict(self._biases())
        self.integers: dict[str, _Integers] = {}

    def _biases(self) -> Iterator[tuple[str, onnx.NodeProto]]:
        """The sums that do nothing but add a bias to a product, by the product."""
        readers: dict[str, list[onnx.NodeProto]] = {}
        for node in self.graph.node:
            for name in node.input:
                readers.setdefault(name, []).append(node)
        for name in self.products:
            [node, *others] = readers.get(name, [onnx.NodeProto()])
            only = node.op_type == "Add" and not others and node.input[0] == name
            if only and len(_shape(self.constants, node.input[1])) == 1:
                yield name, node

    def nodes(self) -> Iterator[onnx.NodeProto]:
        """The new nodes, in order."""
        done = {node.output[0] for node in self.biases.values()}
        for node in self.graph.node:
            if node.output[0] in done:
                continue
            if node.op_type == "MatMul" and node.output[0] in self.products:
                yield from self._product(node)
            elif node.op_type == "Gather" and len(_shape(self.constants, node.input[0])) == 2:
                yield from self._lookup(node)
            else:
                yield node

    def _product(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        """A product of integers; what goes into several is made integers once."""
        value, weights = node.input
        if value not in self.integers:
            yield from self._make_integers(value)
        of = self.integers[value]
        matrix = self._array(weights) * of.factors[:, None]
        table, scales = _in_bits(matrix, axis=0, most=_WEIGHT_MOST)
        right = self._constant(f"{weights}.integers", table)
        right_scale = self._constant(f"{weights}.scale", scales[0])
        inputs = [of.name, right, of.scale, right_scale, of.zero]
        if node.output[0] in self.biases:
            node = self.biases[node.output[0]]
            inputs += ["", node.input[1]]
        yield helper.make_node("MatMulIntegerToFloat", inputs, list(node.output), domain=RUNTIME)

    def _make_integers(self, value: str) -> Iterator[onnx.NodeProto]:
        weights = [self._array(node.input[1]) for node in self.readers[value]]
        factors, of = _choose(self.observed[value], weights)
        even = f"{value}.even"
        yield helper.make_node("Mul", [value, self._constant(f"{value}.by", 1 / factors)], [even])
        scale = self._constant(f"{value}.scale", np.float32(of.scale))
        zero = self._constant(f"{value}.zero", np.uint8(of.zero))
        made = _Integers(f"{value}.integers", scale, zero, factors)
        yield helper.make_node("QuantizeLinear", [even, scale, zero], [made.name])
        self.integers[value] = made

    def _lookup(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        """A row of a table, and its scale."""
        name, ids = node.input
        table, scales = _in_bits(self._array(name), axis=1, most=_ROW_MOST)
        integers, scale, floats = (f"{name}.{part}" for part in ("row", "row_scale", "floats"))
        rows = self._constant(f"{name}.integers", table)
        yield helper.make_node("Gather", [rows, ids], [integers])
        yield helper.make_node("Gather", [self._constant(f"{name}.scale", scales), ids], [scale])
        yield helper.make_node("Cast", [integers], [floats], to=TensorProto.FLOAT)
        yield helper.make_node("Mul", [floats, scale], list(node.output))

    def _array(self, name: str) -> Floats:
        array: Floats = numpy_helper.to_array(self.constants[name])
        return array

    def _constant(self, name: str, value: npt.NDArray[Any] | np.generic) -> str:
        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name


def _in_bits(table: Floats, *, axis: int, most: int) -> tuple[npt.NDArray[np.int8], Floats]:
    """Integers from `-most` to `most`, and the scales that lie along the other axis.

    >>> _in_bits(np.array([[1.0, 0.5], [4.0, 2.0]], dtype=np.float32), axis=1, most=100)[0]
    array([[100,  50],
           [100,  50]], dtype=int8)
    """
    scales = np.abs(table).max(axis, keepdims=True) / np.float32(most)
    scales[scales == 0] = 1
    return np.round(table / scales).astype(np.int8), scales


def _shape(constants: Mapping[str, onnx.TensorProto], name: str) -> tuple[int, ...]:
    """The shape of a constant of floats; `()` of anything else."""
    tensor = constants.get(name)
    if tensor is None or tensor.data_type != TensorProto.FLOAT:
        return ()
    return tuple(tensor.dims)
