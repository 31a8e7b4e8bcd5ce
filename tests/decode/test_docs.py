"""What docs/decoding.md shows is what happens, and so it is in the doctests of these modules."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "decoding.md"


def test_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 50
    assert result.failed == 0


@pytest.mark.parametrize("name", ["charts", "decode", "decode.constraints", "decode.marginals"])
def test_docstrings(name: str) -> None:
    result = doctest.testmod(import_module(f"treewright.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
