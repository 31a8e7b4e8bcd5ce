"""The record of a run, beside its model: what it was told, what made it, how it went.

Owns the files in `run/` of the model's directory:

    config.toml        all settings
    provenance.json    versions, seed, what the treebanks were (SHA-256), git revision
    metrics.jsonl      one line a check of dev
    curve.svg          the loss and dev's F1, drawn
    result.json        dev in the end, the penalty and temperatures that it chose
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from treewright import __version__
from treewright.files import atomic_write
from treewright.settings import to_table, to_toml
from treewright.training.config import TrainConfig
from treewright.training.curve import curve
from treewright.training.treebank import Treebank

_PACKAGES = ("torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy")


class Record:
    """Writes the files of a run."""

    def __init__(self, out: Path) -> None:
        self.directory = out / "run"

    @property
    def _metrics(self) -> Path:
        return self.directory / "metrics.jsonl"

    def begin(self, config: TrainConfig, provenance: Mapping[str, Any]) -> None:
        """Write what the run was told, and what it is made of."""
        self.told(config)
        with atomic_write(self.directory / "provenance.json") as handle:
            json.dump(provenance, handle, indent=1, ensure_ascii=False)
            handle.write("\n")

    def told(self, config: TrainConfig) -> None:
        """Write all settings, which may be others when a run goes on."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.directory / "config.toml") as handle:
            handle.write(to_toml(to_table(config)))

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Write the lines of all checks so far, and draw them."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with atomic_write(self._metrics) as handle:
            for line in lines:
                handle.write(json.dumps(line, ensure_ascii=False) + "\n")
        with atomic_write(self.directory / "curve.svg") as handle:
            handle.write(curve(lines))

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write how the run ended."""
        with atomic_write(self.directory / "result.json") as handle:
            json.dump(result, handle, indent=1)
            handle.write("\n")


def provenance(
    config: TrainConfig, treebanks: Mapping[str, Treebank], device: str, start: str | None
) -> dict[str, Any]:
    """What made a model, so that it can be made again; `start` is a model that it went on from."""
    return {
        "treewright": __version__,
        "revision": git_revision(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": device,
        **{name: _version(name) for name in _PACKAGES},
        "seed": config.seed,
        "from": start,
        "data": {
            part: {
                "file": Path(treebank.file).name,
                "sha256": treebank.sha256,
                "trees": len(treebank),
                "empty": treebank.empty,
            }
            for part, treebank in treebanks.items()
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def git_revision() -> str | None:
    """The revision of treewright's own source, `+` after it if it was changed; None if unknown.

    An installed package may lie within somebody else's repository, which does not know its files.
    """
    here = Path(__file__).parent
    try:
        _git(here, "ls-files", "--error-unmatch", "--", Path(__file__).name)
        commit = _git(here, "rev-parse", "HEAD")
        changed = _git(here, "status", "--porcelain", "--", str(here.parents[1]))
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + ("+" if changed else "")


def _git(directory: Path, *arguments: str) -> str:
    run = subprocess.run(
        ["git", "-C", str(directory), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return run.stdout.strip()
