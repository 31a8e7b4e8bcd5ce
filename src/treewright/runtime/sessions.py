"""ONNX Runtime as we use it: one thread a run, nothing optimised on loading.

Owns how sessions are opened and what their failures become.

A run uses one thread, and several batches are run at the same time: no operator then waits for the
slowest share of another, and threads that wait do not spin. Graphs are written as they shall run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from treewright.errors import CheckpointError, Place


class Session:
    """A graph that can be run, by several threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # Plans of memory are kept for each shape that was ever seen, and we bring many
        options.enable_mem_pattern = False
        options.log_severity_level = 4  # what is wrong is raised as well
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library's own types are no part of its interface
            raise self._wrong("load", error) from None
        given, made = self._session.get_inputs(), self._session.get_outputs()
        self.outputs = tuple(each.name for each in made)
        # Of every input and output, the length of its last axis where that is always the same
        self.sizes = {each.name: each.shape[-1] for each in (*given, *made)}

    def run(self, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name."""
        try:
            found = self._session.run(self.outputs, inputs)
        except MemoryError:
            raise
        except Exception as error:
            raise self._wrong("run", error) from None
        return dict(zip(self.outputs, map(np.asarray, found), strict=True))

    def _wrong(self, what: str, error: Exception) -> CheckpointError:
        message = str(error).partition("\n")[0]
        return CheckpointError(f"ONNX Runtime cannot {what} it: {message}", Place(str(self.path)))
