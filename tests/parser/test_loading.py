"""Models by name and by directory."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import treewright
from optional import needs_torch
from parser.scorers import HashScorer, description
from treewright.errors import CheckpointError, MissingExtra, OptionError, UnknownModel
from treewright.parser import loading


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A directory that describes a checkpoint, and holds nothing else of it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    description().save(folder, "checkpoint")
    return folder


def test_the_door_is_at_the_top() -> None:
    assert treewright.load is loading.load


def test_a_bundled_model_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "BUNDLED", tmp_path)
    with pytest.raises(UnknownModel, match="the model 'en' is not part of this installation"):
        loading.load("en")


def test_a_name_goes_before_a_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    model.rename("en")
    monkeypatch.setattr(loading, "BUNDLED", tmp_path / "none")
    with pytest.raises(UnknownModel):
        loading.find("en")
    assert loading.find("./en") == Path("en")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("eng", "no model is called 'eng'.*did you mean 'en'"),
        ("no/such/place", "no model is called 'no/such/place', and there is no such directory"),
        ("", "no model is called ''"),
    ],
)
def test_what_is_no_model(name: str, message: str) -> None:
    with pytest.raises(UnknownModel, match=message):
        loading.load(name)


def test_a_file_and_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnknownModel, match="a model is a directory, not a file"):
        loading.load(tmp_path / "file")
    with pytest.raises(CheckpointError, match=r"treewright\.json: is missing from the model"):
        loading.load(tmp_path)


def test_a_checkpoint_needs_torch(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "treewright.model.checkpoint", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "treewright.model", None)
    with pytest.raises(MissingExtra, match=r"needs PyTorch.*treewright\[train\]"):
        loading.load(model)


def test_the_kind_decides(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    class Checkpoint:
        @staticmethod
        def load(directory: Path, device: str) -> HashScorer:
            seen.append((directory, device))
            return HashScorer()

    torch = SimpleNamespace(set_num_threads=seen.append, empty=lambda size, device: None)
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "treewright.model.checkpoint", Checkpoint())  # type: ignore[arg-type]
    nlp = loading.load(model, device="meta", threads=2)
    assert seen == [2, (model, "meta")]
    assert nlp.threads == 2


@needs_torch
@pytest.mark.parametrize("device", ["nonsense", "cuda:99"])
def test_a_device_that_is_not_there(model: Path, device: str) -> None:
    with pytest.raises(OptionError, match=f"no device '{device}' here"):
        loading.load(model, device=device)


def test_threads_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="threads"):
        loading.load(tmp_path, threads=0)
