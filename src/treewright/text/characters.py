"""Classes of characters that finding words and sentences rests on.

Owns which characters separate words, which never begin one (what belongs to the character before),
and which are words by themselves: punctuation and symbols, and Chinese characters, where writing
shows no word boundaries. Everything else, marks and unassigned characters included, makes words, so
that no script is torn apart for want of a rule.

The classes are written as the inside of a regular expression's `[...]`.
"""

from __future__ import annotations

import unicodedata

# White space, and what is none to Unicode but has no place in a word: control characters, the
# zero-width space and the byte-order mark.
SEPARATORS = r"\s\x00-\x1f\x7f-\x9f\u200b\ufeff"

CHINESE = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f"  # radicals, 々 and its kind, Hiragana
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)

WIDE_PUNCTUATION = r"\u3000-\u3020\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"

APOSTROPHES = "'\u2019"
HYPHENS = r"\-\u2010\u2011"
DASHES = r"\u2012-\u2015"

PUNCTUATION = (
    r"!-/:-@\[-^`{-~"  # ASCII but the underscore, which identifiers hold
    r"\xa1-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    r"\u037e\u0387\u055d\u0589\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a\u06d4\u0964\u0965"
    r"\u1362-\u1368\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u245f\u2500-\u2bff\u2e00-\u2e7f"
    r"\u3001-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f"
    r"\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee\ufffc\ufffd\U0001f000-\U0001faff"
)

# Closing quotes and brackets: what may stand between a stop and the end of its sentence
CLOSERS = "\"')]}\u2019\u201d\u00bb\u203a\u3009\u300b\u300d\u300f\u3011\u3015\uff02\uff07\uff09"
OPENERS = "\"'([{\u2018\u201c\u201e\u00ab\u2039\u00bf\u00a1"

LINE_ENDS = r"\n\r\x85\u2028"
PAGE_ENDS = r"\f\v\u2029\x1c-\x1e"  # these end a paragraph as well

_JOINERS = "\u200c\u200d"


def belongs_to_previous(text: str, at: int) -> bool:
    """Whether the character at `at` is part of the one before it, as a reader counts characters.

    Combining marks, variation selectors, skin tones, tags, and what a zero-width joiner joins.
    """
    character = text[at]
    if character < "\u0300":
        return False
    return (
        unicodedata.category(character)[0] == "M"
        or character in _JOINERS
        or text[at - 1] == "\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )
