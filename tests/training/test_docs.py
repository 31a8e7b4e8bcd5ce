"""The commands of docs/training.md work, in their order, and print lines like those shown."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from training.made import made_trees, write

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


def examples() -> list[tuple[str, list[str]]]:
    """The commands, each with the lines that it promises."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            found.append((command, lines))
    return found


def form(line: str) -> str:
    """A line without its numbers and what hangs on them."""
    return re.sub(r" +", " ", re.sub(r"[\d.,:]*\d", "#", line.replace(" (best)", ""))).strip()


def pattern(lines: list[str]) -> str:
    """What output must look like; `...` stands for any lines."""
    parts = ["(?:.*\n)*" if line == "..." else re.escape(form(line)) + "\n" for line in lines]
    return "".join(parts)


@pytest.mark.timeout(600)
def test_the_page(tmp_path: Path) -> None:
    for name, count, seed in (("train", 200, 0), ("dev", 40, 1), ("test", 40, 2), ("more", 60, 3)):
        write(tmp_path / f"{name}.mrg", made_trees(count, seed))
    scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OMP_NUM_THREADS": "1",
        "ACCELERATE_USE_CPU": "true",
        "PYTHONWARNINGS": "ignore",
    }
    commands = examples()
    assert len(commands) > 8
    for command, lines in commands:
        run = subprocess.run(
            [
                "bash",
                "-c",
                f"treewright() {{ '{sys.executable}' -m treewright \"$@\"; }}; {command}",
            ],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        refused = any(line.startswith("treewright: ") for line in lines)
        assert run.returncode == (2 if refused else 0), (command, run.stdout)
        shown = "".join(form(line) + "\n" for line in run.stdout.splitlines())
        assert re.fullmatch(pattern(lines), shown), (command, run.stdout)
    kept = {path.name for path in (tmp_path / "models" / "first").rglob("*") if path.is_file()}
    named = set(
        re.findall(r"`(?:run/)?([\w.]+\.(?:json|jsonl|toml|svg|safetensors))`", PAGE.read_text())
    )
    assert kept == named - {"encoder.json"}


@pytest.mark.parametrize("name", ["batches", "config", "costs", "folders", "loss", "schedule"])
def test_docstrings(name: str) -> None:
    module = import_module(f"treewright.training.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
