"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


_DECIMAL = re.compile(r"-?\d+\.\d+")


def console_examples() -> list[tuple[str, str]]:
    """The commands of the README's console blocks, each with the output that it promises."""
    examples: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            examples.append((command, output))
    return examples


def test_python_examples() -> None:
    result = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_console_examples(tmp_path: Path) -> None:
    """All in one folder, one after the other, standard error among the output."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    examples = console_examples()
    assert len(examples) > 5
    for command, expected in examples:
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert _DECIMAL.sub("0.0", run.stdout) == _DECIMAL.sub("0.0", expected), command
        for ours, promised in zip(
            _DECIMAL.findall(run.stdout), _DECIMAL.findall(expected), strict=True
        ):
            # Another processor adds up scores in another order.
            assert float(ours) == pytest.approx(float(promised), rel=0.02, abs=0.02), command
