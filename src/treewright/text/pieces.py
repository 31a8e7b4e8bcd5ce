"""A run of characters without white space to the words in it.

Owns the patterns of words and what follows from them: contractions, hyphens, the period that ends
an abbreviation or a sentence. The patterns are tried in order at each position; a character that
fits none is a word of its own.

Everything repeated in a pattern is either bounded or of characters that what follows excludes, so
time is linear in the run, whatever it holds.

>>> run = "(gonna)..."
>>> split_run(run, first=True, last=True, keep_hyphens=False)
(1, 4, 6, 7, 10)
"""

from __future__ import annotations

import re

from treewright.text.characters import (
    APOSTROPHES,
    CHINESE,
    CLOSERS,
    DASHES,
    HYPHENS,
    PUNCTUATION,
    SEPARATORS,
    WIDE_PUNCTUATION,
    belongs_to_previous,
)
from treewright.text.english import (
    ABBREVIATIONS,
    AMBIGUOUS,
    CLITICS,
    CONTRACTIONS,
    DOTTED_ENDS,
    INTERJECTIONS,
    PREFIXES,
    SUFFIXES,
    UNITS,
    WITH_APOSTROPHE,
)

_W = rf"[^{SEPARATORS}{PUNCTUATION}{CHINESE}]"  # what words are made of
_A = f"[{APOSTROPHES}]"
_H = f"[{HYPHENS}]"
_LINKED = rf"[^{SEPARATORS}{CHINESE}{WIDE_PUNCTUATION}<>\"\u201c\u201d\u00ab\u00bb]"

_PATTERNS = {
    "link": rf"(?:[A-Za-z][A-Za-z0-9+.-]{{1,10}}://|www\.|(?:doi|mailto):(?=\w)){_LINKED}+",
    "address": r"[A-Za-z0-9_.+%-]{1,64}@[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,8}",
    "dotted": (
        rf"(?:[A-Za-z0-9_][A-Za-z0-9_-]{{0,62}}\.){{1,8}}(?:{'|'.join(sorted(DOTTED_ENDS))})"
        rf"(?!{_H}?\w|\.\w)(?:(?::\d{{2,5}})?/{_LINKED}*)?"
    ),
    "handle": rf"[@#](?=\w){_W}+",
    "smile": r"(?:[:;]-?[()DPpOo]|:'\(|<3|\^_\^)(?=[.,!?]*\Z)",
    "escape": r"-[LR][RSC]B-",
    "dots": r"\.{2,}|\u2026+\.*",
    "phone": (
        r"\+\d[\d-]{5,14}(?!\w)|(?:\d{3}[-.]){1,2}\d{4}(?![.-]?\w)"
        r"|\d{5}-\d{4}(?!-?\w)"
    ),
    "time": r"\d{1,2}(?::\d\d){1,2}(?!:?\w)|\d{1,3}/\d{1,3}(?![/.]?\w)",
    "decade": rf"{_A}?\d{{1,3}}0{_A}?s(?!\w)",
    "number": rf"(?:(?<!\w)\.(?=\d))?\d+(?:,\d{{3}}(?!\d))*(?:\.\d+)*{_W}*",
    "initials": r"(?:[A-Za-z]\.)+[A-Za-z](?!\w)\.?|Ph\.?D\.|(?:[BM]\.Sc|D\.Phil)\.?",
    "company": r"[A-Z]{1,3}&[A-Z]{1,3}(?!\w)",
    "clitic": rf"(?:(?<=.)|(?=.{{2,3}}\Z)){_A}(?i:s|m|d|re|ve|ll|t|nt)(?!\w)",
    "elided": rf"[{APOSTROPHES}\u2018](?i:{'|'.join(sorted(WITH_APOSTROPHE))})(?!{_A}?\w)",
    "word": (
        rf"{_W}+(?:(?:{_A}|{_H}){_W}+)*"
        rf"(?:\((?:s|es)\)|(?<=[^\W\d_])-(?![-{APOSTROPHES}\w]))?"
    ),
    "dashes": rf"-{{2,}}|[{DASHES}]+|``|''",
    "repeated": r"(?P<again>[=*_~#+|<>/\\])(?P=again)+",
    "flag": r"[\U0001f1e6-\U0001f1ff]{2}",
}
_PIECE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()))
_MORE_HYPHENATED = re.compile(f"(?:{_H}{_W}+)+")
_QUANTITY = re.compile(r"([\d.,]+)([A-Za-z]+)")
_MOST_CLITICS = 3  # `shouldn't've` has two
_MOST_CLOSERS = 16  # quotes and brackets that may follow the period that ends a sentence
_AFTER_LINKS = ".,;:!?*_'\u2019]}"
_HYPHEN = re.compile(_H)
_SINGLE_PERIOD = re.compile(r"\.(?!\.)")
_WORD_CHARACTER = re.compile(_W)


def split_run(run: str, first: bool, last: bool, keep_hyphens: bool) -> tuple[int, ...]:
    """Where the words of a run end.

    `first` and `last` say whether the run begins or ends its sentence. `keep_hyphens` leaves
    hyphenated words whole.
    """
    plain = run[:-1] if run[-1] == "," else run
    if plain.isalpha() and plain.isascii():  # most are, and no pattern says more of them
        ends = (*CONTRACTIONS.get(plain.lower(), ()), len(plain))
        return ends if plain is run else (*ends, len(run))
    return _split_by_patterns(run, first, last, keep_hyphens)


def _split_by_patterns(run: str, first: bool, last: bool, keep_hyphens: bool) -> tuple[int, ...]:
    ends: list[int] = []
    at = 0
    while at < len(run):
        match = _PIECE.match(run, at)
        kind, end = (match.lastgroup, match.end()) if match else ("", at + 1)
        if kind in ("link", "dotted"):
            end = _without_final_punctuation(run, at, end)
        elif kind in ("number", "initials") and keep_hyphens:
            more = _MORE_HYPHENATED.match(run, end)
            end = more.end() if more else end
        inside = []
        if kind in ("word", "elided"):
            inside = _inside_word(run[at:end], keep_hyphens)
        elif kind == "number":
            quantity = _QUANTITY.fullmatch(run, at, end)
            if quantity and quantity[2].lower() in UNITS:
                inside = [quantity.end(1) - at]
        ends.extend(at + to for to in inside)
        if kind in ("word", "number") and _SINGLE_PERIOD.match(run, end):
            begin = ends[-1] if inside else at
            end += _keeps_period(run, begin, end, first, last)
        ends.append(end)
        at = end
    return tuple(ends if run.isascii() else _between_characters(run, ends))


def _without_final_punctuation(run: str, at: int, end: int) -> int:
    """Where a link ends: not with what ends a sentence, nor with a bracket opened before it."""
    surplus = run.count(")", at, end) - run.count("(", at, end)
    while end > at + 1 and (run[end - 1] in _AFTER_LINKS or (run[end - 1] == ")" and surplus > 0)):
        surplus -= run[end - 1] == ")"
        end -= 1
    return end


def _inside_word(word: str, keep_hyphens: bool) -> list[int]:
    """Where words end inside a word of letters, apostrophes and hyphens, its own end left out."""
    ends: list[int] = []
    at = 0
    for part_end in [len(word)] if keep_hyphens else _hyphenated_parts(word):
        ends.extend(at + to for to in _contracted(word[at:part_end]))
        ends.append(part_end)
        at = part_end
    return ends[:-1]


def _hyphenated_parts(word: str) -> list[int]:
    """Where the parts of a hyphenated word, and the hyphens between them, end."""
    hyphens = [match.start() for match in _HYPHEN.finditer(word, 1, len(word) - 1)]
    if not hyphens:
        return [len(word)]
    parts = [part.lower() for part in _HYPHEN.split(word)]
    if all(part in INTERJECTIONS for part in parts):
        return [len(word)]
    if parts[0] in PREFIXES:
        hyphens = hyphens[1:]
    if hyphens and parts[-1] in SUFFIXES:
        hyphens = hyphens[:-1]
    return [end for hyphen in hyphens for end in (hyphen, hyphen + 1)] + [len(word)]


def _contracted(word: str) -> list[int]:
    """Where words end inside a contraction: `would|n't|'ve`."""
    plain = word.lower().replace("\u2019", "'")
    if plain in CONTRACTIONS and len(plain) == len(word):
        return list(CONTRACTIONS[plain])
    ends: list[int] = []
    end = len(word)
    while len(ends) < _MOST_CLITICS:
        clitic = next((c for c in CLITICS if plain.endswith(c, 1, end)), None)
        if clitic is None:
            break
        end -= len(clitic)
        ends.append(end)
    return ends[::-1]


def _keeps_period(run: str, begin: int, end: int, first: bool, last: bool) -> bool:
    """Whether the period at `end` belongs to the word `run[begin:end]`."""
    word = run[begin:end].lower()
    rest = run[end + 1 : end + 1 + _MOST_CLOSERS]
    if word.isdigit():  # a list's number
        return first and begin == 0 and not rest
    final = last and end + 1 + len(rest) == len(run) and not rest.strip(CLOSERS)
    if _WORD_CHARACTER.match(rest):
        return word in ABBREVIATIONS and word not in AMBIGUOUS
    if word in AMBIGUOUS or len(word) == 1:
        return not final and rest[:1] not in ('"', "\u201d") and word.isalpha()
    return word in ABBREVIATIONS


def _between_characters(run: str, ends: list[int]) -> list[int]:
    """The ends moved on to where a character, as a reader counts them, ends."""
    moved: list[int] = []
    for end in ends:
        if moved and end <= moved[-1]:
            continue
        while end < len(run) and belongs_to_previous(run, end):
            end += 1
        moved.append(end)
    return moved
