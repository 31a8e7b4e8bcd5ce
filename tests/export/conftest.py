"""Without PyTorch and onnx there is nothing to export."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="export needs PyTorch")
pytest.importorskip("onnx", reason="export needs onnx")


@pytest.fixture(autouse=True, scope="session")
def one_torch_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
