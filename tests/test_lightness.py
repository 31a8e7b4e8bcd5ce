"""Light imports stay light: no numpy for trees and EVALB, no torch for any command here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = [
    *("numpy", "onnxruntime", "tokenizers", "torch", "transformers"),
    *("matplotlib", "nltk", "rich"),
]
TRAINING = ["--train", "FILE", "--dev", "FILE", "--out", "FOLDER"]
TREE = "(TOP (S (NP (NN a)) (VP (VB b))))\n"


def loaded_after(code: str) -> set[str]:
    """The modules of HEAVY that a fresh process has loaded after `code`."""
    report = f"\nimport sys\nprint('LOADED', *(m for m in {HEAVY!r} if m in sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    line = next(line for line in run.stdout.splitlines() if line.startswith("LOADED"))
    return set(line.split()[1:])


@pytest.mark.parametrize(
    "code",
    [
        "import treewright",
        "from treewright import Tree, binarize, read_trees; binarize(Tree.from_brackets('(A a)'))",
        "from treewright import evaluate",
        "from treewright import Grammar, Tree; Grammar.from_trees([Tree.from_brackets('(A a)')])",
        "import treewright.cli",
    ],
)
def test_imports(code: str) -> None:
    assert loaded_after(code) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["eval", "FILE", "FILE"],
        ["eval", "FILE", "FILE", "--worst", "1"],
        ["rules", "extract", "FILE"],
        ["rules", "show", "GRAMMAR"],
        ["rules", "check", "GRAMMAR", "FILE"],
        ["rules", "coverage", "GRAMMAR", "FILE"],
        ["trees", "show", "FILE"],
        ["trees", "show", "FILE", "--svg"],
        ["trees", "convert", "FILE", "--normalized", "--binarized", "$"],
        ["trees", "stats", "FILE"],
        ["corpus", "brackets", "FILE", "FOLDER"],
        ["train", "--help"],
        ["train", "--preset", "tiny", *TRAINING, "--show"],
    ],
)
def test_commands(arguments: list[str], tmp_path: Path) -> None:
    trees = tmp_path / "a.mrg"
    trees.write_text(TREE)
    grammar = tmp_path / "g.json"
    main = "from treewright.cli import main"
    if "GRAMMAR" in arguments:
        loaded_after(f"{main}; main(['rules', 'extract', {str(trees)!r}, '-o', {str(grammar)!r}])")
    places = {"FILE": str(trees), "GRAMMAR": str(grammar), "FOLDER": str(tmp_path)}
    filled = [places.get(argument, argument) for argument in arguments]
    assert loaded_after(f"{main}; assert main({filled!r}) == 0") == set()


def test_help_of_the_parser() -> None:
    """Its work wants numpy, but help does not wait for a runtime."""
    assert loaded_after("from treewright.cli import main; main(['parse', '--help'])") <= {"numpy"}


def test_import_takes_no_time() -> None:
    """Under 0.15 s over bare Python, the best of five runs, on a machine that may be busy."""

    def best(code: str) -> float:
        timed = f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
        command = [sys.executable, "-c", timed]
        return min(float(subprocess.check_output(command, text=True)) for _ in range(5))

    assert best("import treewright") < 0.15
    assert best("from treewright import Tree, evaluate, read_trees") < 0.15
