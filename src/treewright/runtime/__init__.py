"""Models without PyTorch: words in, charts out, through ONNX Runtime.

`load` opens a directory that `treewright export` has written.
"""

from __future__ import annotations

from treewright.runtime.scorer import OnnxScorer, load

__all__ = ["OnnxScorer", "load"]
