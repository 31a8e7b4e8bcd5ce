"""Treebanks as they are distributed, with their standard splits. Pure Python, no numpy.

>>> from treewright.corpora import read
>>> corpus = read("ptb", "treebank_3")                    # doctest: +SKIP
>>> sum(1 for tree in corpus.dev), corpus.dev.expected     # doctest: +SKIP
(1700, 1700)
"""

from __future__ import annotations

import os
from pathlib import Path

from treewright.corpora import brackets, craft, ctb, gum, mctb, nltk_sample, ptb, sinica
from treewright.corpora.corpus import Corpus, Part, Treebank
from treewright.errors import CorpusError, InputError, NotFound, Place

#: Every treebank that can be read, by name.
TREEBANKS: dict[str, Treebank] = {
    module.TREEBANK.name: module.TREEBANK
    for module in (ptb, ctb, mctb, gum, craft, sinica, nltk_sample, brackets)
}


def read(name: str, source: str | os.PathLike[str], verbatim: bool = False) -> Corpus:
    """Open a copy of a treebank; its trees are read as they are asked for.

    They come normalised (see `treewright.trees.normalize`), and what has no word left is dropped;
    `verbatim` keeps function tags, indices and traces.
    """
    if name not in TREEBANKS:
        raise CorpusError(f"no treebank {name!r}; there are {', '.join(TREEBANKS)}")
    if not os.fspath(source):  # which a path would take for the current folder
        raise NotFound("a treebank to read needs a folder or a file, not an empty name")
    try:
        return TREEBANKS[name].open(Path(source), verbatim)
    except OSError as error:
        where = error.filename or source
        raise InputError(error.strerror or str(error), Place(os.fspath(where))) from None


__all__ = ["TREEBANKS", "Corpus", "Part", "Treebank", "read"]
