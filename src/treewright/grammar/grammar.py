"""The grammar of a treebank: its rules, the symbols over one word, the symbols at the root.

Owns counting, licences, set operations and pruning. How a grammar is kept in a file is the
business of `files`, how decoders see it that of `tables`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from treewright.errors import GrammarError
from treewright.grammar.rules import Rule, Violation, steps
from treewright.trees import Span, Tree, normalize
from treewright.trees.binarize import derivation, scheme_of
from treewright.trees.symbols import SCHEMES, WORD_NULL, Scheme, is_mark, is_well_formed

if TYPE_CHECKING:
    from treewright.grammar.tables import RuleTables

_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Grammar:
    """Rules with their counts; symbols over one word (`@` among them); symbols at the root.

    >>> trees = [Tree.from_brackets("(S (NP (DT The) (JJ old) (NN dog)) (VP (VBZ barks)))")]
    >>> grammar = Grammar.from_trees(trees)
    >>> sorted(map(str, grammar.rules))
    ['$ -> @ @', 'NP -> $ @', 'S -> NP VP']
    >>> grammar.labels
    ('@', '$', 'NP', 'S', 'VP')
    >>> grammar.violations(Tree.from_brackets("(S (NP (NN Dogs)) (VP (VBP bark)))"))
    [Violation(kind='word', start=0, end=1, symbol='NP', children=None)]
    """

    scheme: Scheme
    rules: Mapping[Rule, int]
    words: Mapping[str, int]
    roots: Mapping[str, int]
    #: Symbols that the grammar knows of though nothing above has them (any more).
    known: frozenset[str] = field(default=frozenset())

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise GrammarError(f"no scheme {self.scheme!r}; there are {' and '.join(SCHEMES)}")
        for name in ("rules", "words", "roots"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        used = {symbol for rule in self.rules for symbol in rule}.union(self.words, self.roots)
        object.__setattr__(self, "known", frozenset(self.known) - used)
        _check_structure(self)

    def __reduce__(self) -> tuple[type[Grammar], tuple[Any, ...]]:
        counts = dict(self.rules), dict(self.words), dict(self.roots)
        return Grammar, (self.scheme, *counts, self.known)

    @classmethod
    def from_trees(
        cls, trees: Iterable[Tree], *, scheme: Scheme = "$", min_count: int = 1
    ) -> Grammar:
        """Count the rules of a treebank, its trees normalised first."""
        rules: Counter[Rule] = Counter()
        words: Counter[str] = Counter()
        roots: Counter[str] = Counter()
        for tree in trees:
            spans = _spans(tree, scheme)
            for span, rule in steps(spans):
                if rule is None:
                    words[span.label] += 1
                else:
                    rules[rule] += 1
            if spans:
                roots[spans[0].label] += 1
        return cls(scheme, dict(rules), dict(words), dict(roots)).pruned(min_count)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Grammar:
        """Read a grammar from its JSON file."""
        from treewright.grammar.files import load

        return load(path)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the grammar to a JSON file that people can read and edit."""
        from treewright.grammar.files import save

        save(self, path)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All symbols: `@`, then marks, then the others, each sorted."""
        used = {symbol for rule in self.rules for symbol in rule}
        found = used.union(self.words, self.roots, self.known)
        return tuple(sorted(found, key=lambda s: (s != WORD_NULL, not is_mark(s), s)))

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The distinct pairs of children that some rule has."""
        return tuple(sorted({(rule.left, rule.right) for rule in self.rules}))

    # Licences

    def violations(self, tree: Tree) -> list[Violation]:
        """The places where a tree, normalised, leaves the grammar; parents before children."""
        return self.violations_in(_spans(tree, self.scheme))

    def licenses(self, tree: Tree) -> bool:
        """Whether every step of a tree's derivation is in the grammar."""
        return not self.violations(tree)

    def violations_in(self, spans: Sequence[Span]) -> list[Violation]:
        """The same for a derivation: the spans of a binarised tree, parents first."""
        found: list[Violation] = []
        if spans and spans[0].label not in self.roots:
            start, end, symbol = spans[0]
            found.append(Violation("root", start, end, symbol))
        for (start, end, symbol), rule in steps(spans):
            if rule is None:
                if symbol not in self.words:
                    found.append(Violation("word", start, end, symbol))
            elif rule not in self.rules:
                found.append(Violation("rule", start, end, symbol, (rule.left, rule.right)))
        return found

    # Grammars from grammars

    def pruned(self, min_count: int) -> Grammar:
        """Only what occurs at least `min_count` times; the labels stay known."""
        if min_count <= 1:
            return self
        return Grammar(
            self.scheme,
            {rule: count for rule, count in self.rules.items() if count >= min_count},
            {symbol: count for symbol, count in self.words.items() if count >= min_count},
            {symbol: count for symbol, count in self.roots.items() if count >= min_count},
            frozenset(self.labels),
        )

    def __or__(self, other: Grammar) -> Grammar:
        """What either grammar has; counts add up."""
        if not isinstance(other, Grammar):
            return NotImplemented
        self._check_scheme(other)
        return Grammar(
            self.scheme,
            _added(self.rules, other.rules),
            _added(self.words, other.words),
            _added(self.roots, other.roots),
            self.known | other.known,
        )

    def __and__(self, other: Grammar) -> Grammar:
        """What both grammars have, with the counts of the first."""
        if not isinstance(other, Grammar):
            return NotImplemented
        self._check_scheme(other)
        return Grammar(
            self.scheme,
            {rule: count for rule, count in self.rules.items() if rule in other.rules},
            {symbol: count for symbol, count in self.words.items() if symbol in other.words},
            {symbol: count for symbol, count in self.roots.items() if symbol in other.roots},
            frozenset(self.labels) & frozenset(other.labels),
        )

    def __sub__(self, other: Grammar) -> Grammar:
        """What this grammar has and the other lacks; labels that are left stay known."""
        if not isinstance(other, Grammar):
            return NotImplemented
        self._check_scheme(other)
        return Grammar(
            self.scheme,
            {rule: count for rule, count in self.rules.items() if rule not in other.rules},
            {symbol: count for symbol, count in self.words.items() if symbol not in other.words},
            {symbol: count for symbol, count in self.roots.items() if symbol not in other.roots},
            frozenset(self.labels) - frozenset(other.labels),
        )

    def _check_scheme(self, other: Grammar) -> None:
        if self.scheme != other.scheme:
            raise GrammarError(f"the grammars' schemes differ: {self.scheme} and {other.scheme}")

    # For the decoders

    def tables(self, labels: Sequence[str] | None = None) -> RuleTables:
        """Integer tables over the columns of a chart, the grammar's own labels by default."""
        from treewright.grammar.tables import rule_tables

        return rule_tables(self, self.labels if labels is None else labels)


def _spans(tree: Tree, scheme: Scheme) -> list[Span]:
    normalized = normalize(tree)
    return derivation(normalized, scheme) if normalized is not None else []


def _added(mine: Mapping[_Key, int], theirs: Mapping[_Key, int]) -> dict[_Key, int]:
    return dict(Counter(mine) + Counter(theirs))


def _check_structure(grammar: Grammar) -> None:
    """Refuse what no derivation can hold, whatever a file or a caller says."""
    for symbol in grammar.labels:
        if not symbol or not is_well_formed(symbol):
            raise GrammarError(f"{symbol!r} is no symbol that binarisation makes")
    for rule in grammar.rules:
        if rule.parent == WORD_NULL:
            raise GrammarError(f"rule {rule}: {WORD_NULL!r} stands over one word only")
        if is_mark(rule.right):
            raise GrammarError(f"rule {rule}: a mark is never a right child")
    for symbol in grammar.words:
        if is_mark(symbol):
            raise GrammarError(f"{symbol!r} over one word: a mark stands over two words or more")
    for symbol in grammar.roots:
        if is_mark(symbol):
            raise GrammarError(f"{symbol!r} at the root: a mark is never the root")
    if scheme_of(set(grammar.labels)) not in (None, grammar.scheme):
        raise GrammarError(f"the marks do not belong to scheme {grammar.scheme!r}")
