r"""How treebanks write words that brackets would misread, and what those words are.

Owns the escapes of the Penn Treebank, as pure functions of one word. Text that is parsed keeps its
words as written; they are escaped where a tree goes into brackets, and unescaped where an encoder,
which never saw an escape, is to read them.

>>> escape_brackets("("), escape_brackets(":-)"), escape_brackets("word")
('-LRB-', ':--RRB-', 'word')
>>> [unescape(word) for word in ("-LRB-", "``", "1\\/2")]
['(', '"', '1/2']
"""

from __future__ import annotations

_APOSTROPHE = "\u2019"  # as typesetters write it
_ESCAPES = {"(": "-LRB-", ")": "-RRB-"}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)

_WHOLE_WORDS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    "`": "'",
}
_WHOLE_WORDS |= {word.lower(): plain for word, plain in _WHOLE_WORDS.items()}


def escape_brackets(word: str) -> str:
    """The word as a bracketed tree can hold it: round brackets become `-LRB-` and `-RRB-`.

    Only round ones: they alone would end a tree, and treebanks differ about the others.
    """
    return word.translate(_ESCAPE_TABLE) if "(" in word or ")" in word else word


def unescape(word: str) -> str:
    r"""The word as an encoder should read it: no bracket escapes, plain quotes, `\/` as `/`.

    An apostrophe is one character however it was typed, so that contractions are the same words in
    every treebank.
    """
    plain = _WHOLE_WORDS.get(word)
    if plain is not None:
        return plain
    if "-" in word:
        word = word.replace("-LRB-", "(").replace("-RRB-", ")")
    if "\\" in word:
        word = word.replace("\\/", "/").replace("\\*", "*")
    return word.replace(_APOSTROPHE, "'")
