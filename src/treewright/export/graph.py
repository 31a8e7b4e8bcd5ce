"""Graphs of ONNX, written node by node.

Owns `Graph`, which names values and keeps constants, and the few combinations of nodes that
encoders and the layers above them share. Values are names; weights go in as PyTorch keeps them and
are turned here.

Next to the operators of ONNX stand some that ONNX Runtime adds to them, under `com.microsoft`:
attention as one node, say. All are in every version that the runtime takes, and written out, so
that no optimiser has to find them again each time a model is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

#: Nodes that ONNX Runtime has beside those of ONNX.
RUNTIME = "com.microsoft"

FLOAT, INTEGER = TensorProto.FLOAT, TensorProto.INT64

# The oldest set that has LayerNormalization; what is old can be read by every runtime.
_OPERATORS = 17
_IR_VERSION = 8

Shape = Sequence[int | str]
#: A type of numbers and a shape.
Tensor = tuple[int, Shape]


class Graph:
    """A graph that grows; every node's value gets a name of its own.

    >>> graph = Graph()
    >>> total = graph.node("Add", "x", graph.constant([1.0, 2.0]))
    >>> model = graph.model({"x": (FLOAT, ["n", 2])}, {"y": (total, (FLOAT, ["n", 2]))})
    >>> model.graph.output[0].name
    'y'
    """

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, npt.NDArray[Any]] = {}

    def constant(self, value: Any) -> str:
        """A constant: a tensor, or anything that makes an array; floats are single precision."""
        if isinstance(value, torch.Tensor):
            value = value.detach().cpu().numpy()
        array = np.ascontiguousarray(value)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = f"c{len(self.constants)}"
        self.constants[name] = array.reshape(np.shape(value))  # a scalar stays one
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """A node of one value."""
        name = f"v{len(self.nodes)}"
        node = helper.make_node(operator, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def model(
        self, inputs: Mapping[str, Tensor], outputs: Mapping[str, tuple[str, Tensor]]
    ) -> onnx.ModelProto:
        """The whole: inputs by name, outputs by name with the value that each is."""
        named = [helper.make_node("Identity", [of[0]], [name]) for name, of in outputs.items()]
        graph = helper.make_graph(
            [*self.nodes, *named],
            "treewright",
            [helper.make_tensor_value_info(name, *of) for name, of in inputs.items()],
            [helper.make_tensor_value_info(name, *of[1]) for name, of in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        sets = [helper.make_opsetid("", _OPERATORS), helper.make_opsetid(RUNTIME, 1)]
        return helper.make_model(
            graph, opset_imports=sets, ir_version=_IR_VERSION, producer_name="treewright"
        )

    # What layers are made of

    def product(self, x: str, weight: torch.Tensor) -> str:
        """`x W^T`, a linear map without its bias; `weight` is `(out, in)`."""
        return self.node("MatMul", x, self.constant(weight.T))

    def linear(self, x: str, module: nn.Linear) -> str:
        """A linear map."""
        y = self.product(x, module.weight)
        return y if module.bias is None else self.node("Add", y, self.constant(module.bias))

    def norm(self, x: str, module: nn.LayerNorm) -> str:
        """The norm over the last axis."""
        scale, shift = self.constant(module.weight), self.constant(module.bias)
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=module.eps)

    def norm_of_sum(self, x: str, y: str, module: nn.LayerNorm) -> str:
        """The norm of `x + y`. ONNX Runtime has one node for both, which is many times slower."""
        return self.norm(self.node("Add", x, y), module)

    def attention(self, q: str, k: str, v: str, heads: int, bias: torch.Tensor) -> str:
        """Attention of all heads, `(B, t, heads * size)` each; the biases of all three come here.

        No mask: all sentences of a batch are of one length.
        """
        inputs = (q, k, v, self.constant(bias))
        return self.node("MultiHeadAttention", *inputs, domain=RUNTIME, num_heads=heads)

    def size(self, x: str, axis: int) -> str:
        """How long an axis is, `(1,)`."""
        return self.node("Shape", x, start=axis, end=axis + 1)

    def shape(self, *sizes: int | str) -> str:
        """A shape put together of numbers and of values `(1,)`."""
        parts = [self.constant([size]) if isinstance(size, int) else size for size in sizes]
        return self.node("Concat", *parts, axis=0)

    def reshape(self, x: str, *sizes: int) -> str:
        """Another shape: 0 keeps an axis, -1 takes the rest."""
        return self.node("Reshape", x, self.constant(list(sizes)))

    def cut(self, x: str, axis: int, begin: int, end: int) -> str:
        """`x[begin:end]` along an axis; `end` may count from the last."""
        where = (self.constant([begin]), self.constant([end]), self.constant([axis]))
        return self.node("Slice", x, *where)
