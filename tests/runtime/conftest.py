"""A runtime model, made once; without PyTorch and onnx there is none."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a runtime model of an encoder of BERT's kind."""
    pytest.importorskip("torch", reason="making a model needs PyTorch")
    pytest.importorskip("onnx", reason="making a model needs onnx")
    from export.making import exported
    from model.networks import make

    folder = tmp_path_factory.mktemp("model")
    exported(folder, *make("bert"))
    return folder / "runtime"
