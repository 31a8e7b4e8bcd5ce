"""The examples in docs/evaluation.md and in the docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from treewright.evaluation import evaluate

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert (result.failed, result.attempted > 10) == (0, True)


def test_the_drawing_on_the_page() -> None:
    gold = "(TOP (S (NP (PRP I)) (VP (VBP saw) (NP (DT the) (NN dog)) (ADVP (RB here))) (. .)))"
    predicted = "(S (PRP I) (VP (NN saw) (NP (NP (DT the) (NN dog)) (ADVP (RB here)))) (. .))"
    assert evaluate([gold], [predicted]).worst(1)[0].text(80) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["pairs", "parameters", "score", "sentence", "shares"])
def test_docstrings(name: str) -> None:
    result = doctest.testmod(import_module(f"treewright.evaluation.{name}"))
    assert (result.failed, result.attempted > 0) == (0, True)
