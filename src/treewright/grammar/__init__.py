"""Grammars: rules from treebanks, licences and violations, integer tables for the decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.grammar.coverage import Coverage, coverage
from treewright.grammar.grammar import Grammar
from treewright.grammar.rules import Rule, Violation, steps

if TYPE_CHECKING:
    from treewright.grammar.tables import Kind, RuleTables, kinds_of

__all__ = [
    "Coverage",
    "Grammar",
    "Kind",
    "Rule",
    "RuleTables",
    "Violation",
    "coverage",
    "kinds_of",
    "steps",
]


def __getattr__(name: str) -> object:
    # The tables need numpy, which people who only count rules need not wait for.
    if name in ("Kind", "RuleTables", "kinds_of"):
        from treewright.grammar import tables

        return getattr(tables, name)
    raise AttributeError(f"module 'treewright.grammar' has no attribute {name!r}")
