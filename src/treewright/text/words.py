"""One sentence of raw text to the words of a treebank, each with its place in the text.

Owns tokenisation in the manner of Penn's treebanks as GUM and its contemporaries have it. Words are
slices of the text and nothing else: no character is changed, dropped or invented. How a run of
characters between white space falls into words is for `pieces` to say.

>>> [word.text for word in tokenize("They can't pay $5.20 (or won't).")]
['They', 'ca', "n't", 'pay', '$', '5.20', '(', 'or', 'wo', "n't", ')', '.']
>>> tokenize("A well-kept e-mail.")[1:5]
[Word(text='well', start=2, end=6), Word(text='-', start=6, end=7), \
Word(text='kept', start=7, end=11), Word(text='e-mail', start=12, end=18)]
>>> [word.text for word in tokenize("A well-kept e-mail.", hyphens="keep")]
['A', 'well-kept', 'e-mail', '.']
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from treewright.errors import OptionError
from treewright.text.characters import SEPARATORS
from treewright.text.pieces import split_run

Hyphens = Literal["split", "keep"]

_RUN = re.compile(f"[^{SEPARATORS}]+")

# The words of a run depend on the run, on whether it begins or ends the sentence, and on nothing
# else, so those of short runs are remembered, up to so many.
_LONG_RUN = 40
_MEMORY = 1 << 16


class Word(NamedTuple):
    """A word and where it stands: `text == source[start:end]`."""

    text: str
    start: int
    end: int


_new = tuple.__new__  # what a named tuple does, without the function around it


def tokenize(text: str, *, hyphens: Hyphens = "split") -> list[Word]:
    """The words of one sentence, in order; together they hold all but what separates words.

    `hyphens="split"` makes a word of every part of `well-kept` and of the hyphen, as treebanks
    since 2004 do; `"keep"` leaves it whole, as the WSJ has it.
    """
    if hyphens not in ("split", "keep"):
        raise OptionError(f'hyphens are "split" or "keep", not {hyphens!r}')
    keep = hyphens == "keep"
    inside = _remembered[keep, False, False]
    words: list[Word] = []
    runs = list(_RUN.finditer(text))
    for number, found in enumerate(runs, 1):
        run, start = found[0], found.start()
        if 1 < number < len(runs):
            ends = inside.get(run) or _ends(run, keep, first=False, last=False)
        else:
            ends = _ends(run, keep, first=number == 1, last=number == len(runs))
        if len(ends) == 1:
            words.append(_new(Word, (run, start, start + ends[0])))
            continue
        begin = 0
        for end in ends:
            words.append(_new(Word, (run[begin:end], start + begin, start + end)))
            begin = end
    return words


# By whether hyphens are kept, whether the run begins its sentence, and whether it ends it.
_remembered: dict[tuple[bool, bool, bool], dict[str, tuple[int, ...]]] = {
    (keep, first, last): {}
    for keep in (False, True)
    for first in (False, True)
    for last in (False, True)
}


def _ends(run: str, keep: bool, first: bool, last: bool) -> tuple[int, ...]:
    """Where the words of a run end."""
    known = _remembered[keep, first, last]
    ends = known.get(run)
    if ends is None:
        ends = split_run(run, first, last, keep)
        if len(run) <= _LONG_RUN:
            if len(known) >= _MEMORY:
                known.clear()
            known[run] = ends
    return ends
