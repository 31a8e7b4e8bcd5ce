r"""Symbols: the names of spans in binarised trees, as files, grammars and charts write them.

A span of a binarised tree carries one symbol, a string in one of three forms:

* a chain of labels, top-down, joined by `::` (`S::VP`; a single label is a chain of one),
* `@`, over a word without a constituent of its own,
* `$`, or `$` and the symbol of the leftmost child (`$NP`): a node that binarisation made.

Labels of real treebanks may hold anything, so a backslash escapes what would be misread: `\\`,
`\:`, a leading `\$` or `\@`, and `\e` for the empty label. Every chain of labels round-trips.

>>> join_chain(("S", "VP")), split_chain("S::VP")
('S::VP', ('S', 'VP'))
>>> join_chain(("$",)), split_chain(r"\$")
('\\$', ('$',))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from treewright.errors import TreeError

WORD_NULL = "@"
MARK = "$"

Scheme = Literal["$", "$+left"]
SCHEMES: tuple[Scheme, ...] = ("$", "$+left")

_PLAIN = re.compile(r"[^\\:$@]+")
_ESCAPED = re.compile(r"\\(.)|(::)|([^\\:]+)|:", re.DOTALL)


def is_mark(symbol: str) -> bool:
    """Whether binarisation made the node: `$`, `$NP`."""
    return symbol.startswith(MARK)


def is_null(symbol: str) -> bool:
    """Whether the symbol stands for no constituent: a mark or `@`."""
    return symbol == WORD_NULL or symbol.startswith(MARK)


def mark_of(scheme: Scheme, leftmost: str) -> str:
    """The mark over children of which `leftmost` is the symbol of the first."""
    return MARK if scheme == "$" else MARK + leftmost


def check_scheme(scheme: str) -> None:
    """Refuse what is no scheme."""
    if scheme not in SCHEMES:
        raise TreeError(f"no scheme {scheme!r}; there are {' and '.join(SCHEMES)}")


@lru_cache(maxsize=1 << 16)
def escape_label(label: str) -> str:
    """One label as a symbol writes it."""
    if _PLAIN.fullmatch(label):
        return label
    if not label:
        return r"\e"
    text = label.replace("\\", r"\\").replace(":", r"\:")
    return "\\" + text if text[0] in "$@" else text


def join_chain(labels: Sequence[str]) -> str:
    """The symbol of a unary chain, given top-down."""
    if not labels:
        raise TreeError("a unary chain has at least one label")
    return "::".join(map(escape_label, labels))


@lru_cache(maxsize=1 << 16)
def split_chain(symbol: str) -> tuple[str, ...]:
    """The labels of a chain, top-down; `()` for `@` and marks, which name no constituent."""
    if is_null(symbol):
        return ()
    if _PLAIN.fullmatch(symbol):
        return (symbol,)
    labels: list[str] = []
    current: list[str] = []
    for match in _ESCAPED.finditer(symbol):
        escaped, joint, plain = match.groups()
        if joint:
            labels.append("".join(current))
            current = []
        elif escaped is not None:
            current.append("" if escaped == "e" else escaped)
        else:
            current.append(plain or ":")
    labels.append("".join(current))
    return tuple(labels)


def is_well_formed(symbol: str) -> bool:
    """Whether binarisation could have made the symbol: only then can it match one in a tree."""
    if is_mark(symbol):
        rest = symbol.removeprefix(MARK)
        return not rest or (not is_mark(rest) and is_well_formed(rest))
    return symbol == WORD_NULL or join_chain(split_chain(symbol)) == symbol
