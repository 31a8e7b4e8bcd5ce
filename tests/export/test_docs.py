"""The examples in docstrings."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import treewright.export


@pytest.mark.parametrize(
    "name", [module.name for module in iter_modules(treewright.export.__path__)]
)
def test_docstrings(name: str) -> None:
    module = import_module(f"treewright.export.{name}")
    assert doctest.testmod(module).failed == 0
