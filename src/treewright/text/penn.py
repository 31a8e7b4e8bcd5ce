r"""What the words are that treebanks write in another way, as a pure function of one word.

Owns the way back from the escapes of the Penn Treebank, for encoders, which never saw one. Text
that is parsed keeps its words as written; `treewright.trees.brackets` escapes them where it must.

>>> [unescape(word) for word in ("-LRB-", "``", "1\\/2")]
['(', '"', '1/2']
"""

from __future__ import annotations

_APOSTROPHE = "\u2019"  # as typesetters write it

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
