"""The examples of the page about parsing, and of the modules' own docstrings, are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import treewright.parser

PAGE = Path(__file__).parents[2] / "docs" / "parsing.md"


def test_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 20
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", [module.name for module in iter_modules(treewright.parser.__path__)]
)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(f"treewright.parser.{name}")).failed == 0
