"""What a grammar is made of: rules, and the places where a derivation has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from treewright.trees import Span


class Rule(NamedTuple):
    """`parent -> left right`, all three symbols of binarised trees."""

    parent: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.parent} -> {self.left} {self.right}"


@dataclass(frozen=True, slots=True)
class Violation:
    """A step of a derivation that the grammar lacks, and the words it stands over.

    `kind` says what is missing: a `rule`, a symbol over one `word`, or a symbol at the `root`.
    """

    kind: Literal["rule", "word", "root"]
    start: int
    end: int
    symbol: str
    children: tuple[str, str] | None = None

    def __str__(self) -> str:
        where = f"({self.start}, {self.end})"
        if self.children is not None:
            return f"{where} no rule {Rule(self.symbol, *self.children)}"
        if self.kind == "word":
            return f"{where} {self.symbol} over one word"
        return f"{where} {self.symbol} at the root"


def steps(derivation: Sequence[Span]) -> list[tuple[Span, Rule | None]]:
    """The spans of a derivation, parents first, with the rule used at each; `None` over one word.

    A subtree over w words takes `2w - 1` spans in a row, which is how children are found:

    >>> spans = [Span(0, 2, "S"), Span(0, 1, "NP"), Span(1, 2, "VP")]
    >>> steps(spans)[0][1]
    Rule(parent='S', left='NP', right='VP')
    """
    found: list[tuple[Span, Rule | None]] = []
    for at, span in enumerate(derivation):
        if span.end - span.start == 1:
            found.append((span, None))
        else:
            left = derivation[at + 1]
            right = derivation[at + 2 * (left.end - left.start)]
            found.append((span, Rule(span.label, left.label, right.label)))
    return found
