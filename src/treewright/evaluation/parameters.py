"""What EVALB may be told: which labels do not count, and which are the same.

Owns `Parameters` and the reading of `.prm` files. What the parameters do to a sentence is the
affair of `sentence` and `score`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from treewright.errors import NotFound, ParameterError, Place
from treewright.files import name_of, text_lines

_DATA = Path(__file__).with_name("data")
_SHIPPED = {"collins": "COLLINS.prm", "new": "new.prm", "nk": "nk.prm"}

_NUMBERS = {"MAX_ERROR": "max_error", "CUTOFF_LEN": "cutoff", "LABELED": "labelled"}
_LABELS = {
    "DELETE_LABEL": "delete_labels",
    "DELETE_LABEL_FOR_LENGTH": "delete_labels_for_length",
    "QUOTE_LABEL": "quote_labels",
}
_ANY_LABEL = "any label"
_PAIRS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}


@dataclass(frozen=True)
class Parameters:
    """How to score; what is not given is as in EVALB without a parameter file.

    >>> Parameters.collins().equal_labels
    (('ADVP', 'PRT'),)
    """

    max_error: int = 10
    """Scoring stops at error sentence number `max_error + 2`; EVALB counts so."""

    cutoff: int = 40
    """The second summary covers the sentences of at most this length."""

    labelled: bool = True
    """Whether brackets must agree in their labels, or only in what they cover."""

    delete_labels: tuple[str, ...] = ()
    """A word under such a tag is left out; a bracket with such a label is not counted."""

    delete_labels_for_length: tuple[str, ...] = ()
    """A word under such a tag does not count in a sentence's length."""

    quote_labels: tuple[str, ...] = ()
    """Tags that a quotation mark may bear; one that only one side leaves out is put back."""

    equal_labels: tuple[tuple[str, str], ...] = ()
    """Pairs of labels, or tags, that count as the same; A = B and B = C do not give A = C."""

    equal_words: tuple[tuple[str, str], ...] = ()
    """Pairs of words that count as the same."""

    def __post_init__(self) -> None:
        for name in ("max_error", "cutoff"):
            if getattr(self, name) < 0:
                raise ParameterError(f"{name} is {getattr(self, name)}, less than 0")

    @classmethod
    def collins(cls) -> Parameters:
        """The usual ones for English: punctuation does not count, ADVP is PRT."""
        return cls.read(_DATA / _SHIPPED["collins"])

    @classmethod
    def new(cls) -> Parameters:
        """As `collins`, and quotation marks are put back that one side tagged as words."""
        return cls.read(_DATA / _SHIPPED["new"])

    @classmethod
    def nk(cls) -> Parameters:
        """As `new`, but for the number of errors: for parsers that have only begun to learn."""
        return cls.read(_DATA / _SHIPPED["nk"])

    @classmethod
    def named(cls, name: str) -> Parameters:
        """Those shipped as `collins`, `new` or `nk`, or else those of the file of that name.

        Where there is no such file, `COLLINS.prm` and `New` are the shipped ones too.
        """
        if name not in _SHIPPED:
            try:
                return cls.read(name)
            except NotFound as error:
                wanted = name.lower().removesuffix(".prm")
                if wanted not in _SHIPPED:
                    message = f"{error.message}; built in are {', '.join(_SHIPPED)}"
                    raise NotFound(message, error.place) from None
                name = wanted
        return cls.read(_DATA / _SHIPPED[name])

    @classmethod
    def read(cls, source: str | os.PathLike[str]) -> Parameters:
        """Read a `.prm` file: a name and its values a line; `#` begins a comment line."""
        fields: dict[str, Any] = {}
        for number, line in enumerate(text_lines(source), 1):
            place = Place(name_of(source), line=number)
            if not line.strip() or line.startswith("#"):
                continue
            name, *values = line.split()
            if name == "DEBUG":  # asks EVALB to print more; Report.worst() shows that better
                continue
            if name in _NUMBERS:
                fields[_NUMBERS[name]] = _integer(name, _expect(name, values, 1, place)[0], place)
            elif name in _LABELS:
                field = _LABELS[name]
                fields[field] = (*fields.get(field, ()), _expect(name, values, 1, place)[0])
            elif name in _PAIRS:
                left, right = _expect(name, values, 2, place)
                field = _PAIRS[name]
                fields[field] = (*fields.get(field, ()), (left, right))
            else:
                raise ParameterError(f"EVALB has no parameter {name!r}", place)
        fields["labelled"] = bool(fields.get("labelled", True))
        return cls(**fields)

    # What scoring asks, worked out once

    def same_label(self, one: str, other: str) -> bool:
        """Whether two labels, or tags, count as the same."""
        return one == other or (one, other) in self._equal_labels

    def same_word(self, one: str, other: str) -> bool:
        """Whether two words count as the same."""
        return one == other or (one, other) in self._equal_words

    @cached_property
    def _equal_labels(self) -> frozenset[tuple[str, str]]:
        return _both_ways(self.equal_labels)

    @cached_property
    def _equal_words(self) -> frozenset[tuple[str, str]]:
        return _both_ways(self.equal_words)

    @cached_property
    def bracket_labels(self) -> dict[str, str | None]:
        """A bracket's label as it counts, by its label as it stands; None if it does not count."""
        return _BracketLabels(self)

    @cached_property
    def families(self) -> dict[str, str]:
        """One name for all labels that are linked by pairs of equal ones, however indirectly.

        Only labels of one family can match; where labels do not count, there is but one family.

        >>> families = Parameters(equal_labels=(("B", "C"), ("B", "A"))).families
        >>> families["A"], families["C"], families["D"]
        ('A=B=C', 'A=B=C', 'D')
        """
        return _Families(self)


class _BracketLabels(dict[str, "str | None"]):
    """Fills itself: cuts function tags and indices, then forgets the labels that do not count.

    As in EVALB, a label that begins with `-` or `=` is cut to nothing: only tags keep `-NONE-`.
    """

    def __init__(self, parameters: Parameters) -> None:
        super().__init__()
        self._parameters = parameters

    def __missing__(self, label: str) -> str | None:
        cut = label.partition("-")[0].partition("=")[0]
        known = self._parameters
        deleted = any(known.same_label(cut, other) for other in known.delete_labels)
        self[label] = kept = None if deleted else cut
        return kept


class _Families(dict[str, str]):
    """Fills itself: a label that is equal to none is a family of its own."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__()
        self._labelled = parameters.labelled
        members: dict[str, set[str]] = {}
        for left, right in parameters.equal_labels:
            joined = members.get(left, {left}) | members.get(right, {right})
            members.update(dict.fromkeys(joined, joined))
        if self._labelled:
            self.update({label: "=".join(sorted(joined)) for label, joined in members.items()})

    def __missing__(self, label: str) -> str:
        self[label] = name = label if self._labelled else _ANY_LABEL
        return name


def _both_ways(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(pair for left, right in pairs for pair in ((left, right), (right, left)))


def _expect(name: str, values: list[str], count: int, place: Place) -> list[str]:
    if len(values) != count:
        wanted = "one value" if count == 1 else "two values"
        raise ParameterError(f"{name} takes {wanted}, not {len(values)}", place)
    return values


def _integer(name: str, value: str, place: Place) -> int:
    try:
        number = int(value)
    except ValueError:
        raise ParameterError(f"{name} takes a whole number, not {value!r}", place) from None
    if number < 0:
        raise ParameterError(f"{name} is {number}, less than 0", place)
    return number
