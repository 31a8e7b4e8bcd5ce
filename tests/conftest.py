"""What all tests share: where the treebanks are, if they are."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, settings

from optional import torch

SHARED = Path(os.environ.get("TREEWRIGHT_SHARED", Path(__file__).parents[2] / "shared"))

# What cannot even be imported without PyTorch, and what needs onnx besides.
collect_ignore = [] if torch else ["model", "training"]
if not torch or find_spec("onnx") is None:
    collect_ignore.append("export")

# Examples are not races: the machine may be busy with other things.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_report_header() -> list[str]:
    """What is left out is said."""
    if not collect_ignore:
        return []
    return [f"no {'onnx' if torch else 'PyTorch'}: without tests of {', '.join(collect_ignore)}"]


@pytest.fixture(autouse=True, scope="session")
def one_torch_thread() -> None:
    """Small tensors are fastest on one thread, and on a busy machine far the fastest."""
    if torch:
        torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of treebanks and scorer output that tests may read but that is not part of us."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"no treebanks in {SHARED}: set TREEWRIGHT_SHARED to the folder that has them")
    return SHARED


@pytest.fixture
def runner() -> CliRunner:
    """Runs commands as a shell would, standard output and standard error kept apart."""
    return CliRunner()
