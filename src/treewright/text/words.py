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
from functools import lru_cache
from typing import Literal, NamedTuple

from treewright.errors import OptionError
from treewright.text.characters import SEPARATORS
from treewright.text.pieces import split_run

Hyphens = Literal["split", "keep"]

_RUN = re.compile(f"[^{SEPARATORS}]+")

# The words of a run depend on the run, on whether it begins or ends the sentence, and on nothing
# else, so those of short runs are remembered.
_LONG_RUN = 40
_remembered = lru_cache(maxsize=1 << 16)(split_run)


class Word(NamedTuple):
    """A word and where it stands: `text == source[start:end]`."""

    text: str
    start: int
    end: int


def tokenize(text: str, *, hyphens: Hyphens = "split") -> list[Word]:
    """The words of one sentence, in order; together they hold all but what separates words.

    `hyphens="split"` makes a word of every part of `well-kept` and of the hyphen, as treebanks
    since 2004 do; `"keep"` leaves it whole, as the WSJ has it.
    """
    if hyphens not in ("split", "keep"):
        raise OptionError(f'hyphens are "split" or "keep", not {hyphens!r}')
    keep = hyphens == "keep"
    words: list[Word] = []
    runs = [match.span() for match in _RUN.finditer(text)]
    for number, (start, end) in enumerate(runs, 1):
        run = text[start:end]
        split = _remembered if end - start <= _LONG_RUN else split_run
        begin = 0
        for to in split(run, number == 1, number == len(runs), keep):
            words.append(Word(run[begin:to], start + begin, start + to))
            begin = to
    return words
