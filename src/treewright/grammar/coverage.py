"""How much of unseen text a grammar covers: the paper's figure of rules known and unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treewright.grammar.grammar import Grammar
from treewright.trees import Tree


@dataclass(frozen=True)
class Coverage:
    """Rules of a set of trees that are in a grammar: by type, by use, and by sentence."""

    types: int
    types_known: int
    uses: int
    uses_known: int
    sentences: int
    sentences_licensed: int

    @property
    def by_type(self) -> float:
        """Share of distinct rules that the grammar has, in per cent."""
        return _per_cent(self.types_known, self.types)

    @property
    def by_use(self) -> float:
        """Share of uses of rules that are of a rule the grammar has, in per cent."""
        return _per_cent(self.uses_known, self.uses)

    @property
    def by_sentence(self) -> float:
        """Share of trees that the grammar licenses whole (one-word and root labels too)."""
        return _per_cent(self.sentences_licensed, self.sentences)


def coverage(grammar: Grammar, trees: Iterable[Tree]) -> Coverage:
    """Compare the rules of `trees` with a grammar."""
    sentences = licensed = 0

    def counted() -> Iterable[Tree]:
        nonlocal sentences, licensed
        for tree in trees:
            sentences += 1
            licensed += grammar.licenses(tree)
            yield tree

    theirs = Grammar.from_trees(counted(), scheme=grammar.scheme)
    known = [count for rule, count in theirs.rules.items() if rule in grammar.rules]
    return Coverage(
        types=len(theirs.rules),
        types_known=len(known),
        uses=sum(theirs.rules.values()),
        uses_known=sum(known),
        sentences=sentences,
        sentences_licensed=licensed,
    )


def _per_cent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0
