"""The examples in docstrings."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import treewright.runtime


@pytest.mark.parametrize(
    "name", [module.name for module in iter_modules(treewright.runtime.__path__)]
)
def test_docstrings(name: str) -> None:
    module = import_module(f"treewright.runtime.{name}")
    assert doctest.testmod(module).failed == 0
