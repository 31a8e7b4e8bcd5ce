r"""Raw text to sentences, each with its place in the text: one pass, bounded memory.

Owns where a sentence ends: after `.`, `!`, `?` and their kind in other scripts where what stands
around them says so; at blank lines always; at a line end where the line was not broken for want of
room; and, in text that never stops, at white space before `limit` characters.

Our own, because of the libraries made for it none reads a stream and none found more boundaries:
`docs/text.md` has the figures.

A decision looks at most `_AHEAD` characters ahead and is made once they are there, so sentences do
not depend on how a text is cut into chunks.

>>> split_sentences("Dr. Wu left at 5 p.m. on Jan. 3. Who knew? J. R. Ewing did.")
[(0, 32), (33, 42), (43, 59)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treewright.errors import OptionError
from treewright.text.characters import (
    CHINESE,
    CLOSERS,
    LINE_ENDS,
    OPENERS,
    PAGE_ENDS,
    SEPARATORS,
    belongs_to_previous,
)
from treewright.text.english import (
    ABBREVIATIONS,
    AMBIGUOUS,
    BEFORE_NUMBERS,
    PRONOUNS,
    STARTERS,
    TITLES,
)

LIMIT = 3000  # characters, some 500 words: longer than sentences are, short enough to parse

_AHEAD = 1000
_FAR = 300  # more white space than this ends a sentence, and no line looks farther than this
_LONG_LINE = 200  # lines are not wrapped as late as this
_SHORT_LINE = 40  # nor as early as this
_PIECE = 1 << 16


class RawSentence(NamedTuple):
    """A sentence as it stands in the text, without the white space around it."""

    text: str
    start: int


def split_sentences(text: str, *, limit: int = LIMIT) -> list[tuple[int, int]]:
    """The spans of the sentences of a text, half-open, in order."""
    sentences = iter_sentences([text], limit=limit)
    return [(start, start + len(sentence)) for sentence, start in sentences]


def iter_sentences(chunks: Iterable[str], *, limit: int = LIMIT) -> Iterator[RawSentence]:
    """The sentences of a text that comes in chunks of any size; none is longer than `limit`.

    >>> list(iter_sentences(["One. T", "wo."]))
    [RawSentence(text='One.', start=0), RawSentence(text='Two.', start=5)]
    """
    if limit < 1:
        raise OptionError(f"a sentence holds at least one character, not {limit}")
    buffer = ""
    base = 0  # where the buffer begins in the text
    line = 0  # where the line begins that holds `at`, counted in the buffer
    for piece, final in _pieces(chunks):
        buffer += piece
        at = 0
        while True:
            begin = _skip(buffer, at)
            line = _line_start(buffer, line, at, begin)
            at = begin
            end = _sentence_end(buffer, at, line, limit, final)
            if end is None:
                break
            yield RawSentence(buffer[at:end], base + at)
            line = _line_start(buffer, line, at, end)
            at = end
        buffer = buffer[at:]
        base += at
        line -= at


def _pieces(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """The text in pieces of a middling size whatever the chunks; the last one says that it is."""
    waiting: list[str] = []
    size = 0
    for chunk in chunks:
        for at in range(0, len(chunk), _PIECE):
            waiting.append(chunk[at : at + _PIECE])
            size += len(waiting[-1])
            if size >= _PIECE:
                yield "".join(waiting), False
                waiting = []
                size = 0
    yield "".join(waiting), True


_STOPS = ".!?\u2026\u203c\u203d\u2047-\u2049\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u1368"
_CLOSE = f"[{re.escape(CLOSERS)}]"
_REFERENCE = r" ?\[(?:\d{1,3}(?:[,\u2013-] ?\d{1,3}){0,5}|\.{3}|\u2026)\]"
_CANDIDATE = re.compile(
    rf"(?P<stop>(?<![{_STOPS}])[{_STOPS}]+){_CLOSE}*(?:{_REFERENCE}){{0,9}}(?=[{SEPARATORS}]|\Z)"
    rf"|(?P<wide>[\u3002\uff01\uff1f\uff61]+{_CLOSE}*|(?<=[{CHINESE}])[!?]+{_CLOSE}*(?=[{CHINESE}]))"
    rf"|(?P<line>\r\n|[{LINE_ENDS}{PAGE_ENDS}])"
)
_GAP = re.compile(f"[{SEPARATORS}]*")
_LINE = r"(?:\r\n|\r(?!\n)|[\n\x85\u2028])"
_BLANK_LINE = re.compile(rf"{_LINE}[^\S{LINE_ENDS}]*{_LINE}|[{PAGE_ENDS}]")


def _skip(buffer: str, at: int) -> int:
    """Where the next word begins, at `at` or after it."""
    match = _GAP.match(buffer, at)
    return match.end() if match else at


def _line_start(buffer: str, line: int, begin: int, end: int) -> int:
    """Where the line begins that holds `end`, if the one of `begin` began at `line`."""
    last = max(buffer.rfind("\n", begin, end), buffer.rfind("\r", begin, end))
    return line if last < 0 else last + 1


def _sentence_end(buffer: str, start: int, line: int, limit: int, final: bool) -> int | None:
    """Where the sentence that begins at `start` ends; None if more of the text must be seen."""
    if start == len(buffer):
        return None
    horizon = start + limit
    for match in _CANDIDATE.finditer(buffer, start, horizon + _AHEAD):
        at, end = match.span()
        if at >= horizon:
            break
        if not final and end + _AHEAD > len(buffer):
            return None
        after = _skip(buffer, end)
        if match["line"]:
            if _line_ends_sentence(buffer, at, after, line):
                return _without_space(buffer, start, at)
            line = _line_start(buffer, line, at, after)
        elif match["wide"] or _stop_ends_sentence(buffer, start, match, after):
            return min(end, horizon)
    if len(buffer) > horizon and (final or len(buffer) > horizon + _AHEAD):
        return _cut(buffer, start, horizon)
    return _without_space(buffer, start, len(buffer)) if final else None


def _without_space(buffer: str, start: int, end: int) -> int:
    """The end of `buffer[start:end]` without the white space there."""
    while end > start and _GAP.fullmatch(buffer, end - 1, end):
        end -= 1
    return end


_PAUSE = re.compile(f"(?<=[;:])[{SEPARATORS}]")
_SPACE = re.compile(f"[{SEPARATORS}]")


def _cut(buffer: str, start: int, horizon: int) -> int:
    """Where to cut what does not stop.

    Late and after `;` or `:`, else at white space, else between any two characters.
    """
    middle = (start + horizon) // 2
    for pattern, lowest in ((_PAUSE, middle), (_SPACE, start + 1)):
        ends = [match.start() for match in pattern.finditer(buffer, lowest, horizon + 1)]
        if ends:
            return _without_space(buffer, start, ends[-1])
    end = horizon
    while end > start and belongs_to_previous(buffer, end):
        end -= 1
    return end if end > start else horizon


_BULLET = re.compile(
    r"(?:[-*\u2022\u2023\u2043\u25aa\u25cf\u25e6\u2013\u2014]"
    r"|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])[ \t]"
)
_REST_OF_LINE = re.compile(rf"[^{LINE_ENDS}{PAGE_ENDS}]+")
_RUN = re.compile(f"[^{SEPARATORS}]+")


def _divided(buffer: str, before: int, after: int) -> bool:
    """Whether what stands between two words ends any sentence: a blank line, a list's bullet."""
    gap = buffer[before:after]
    if len(gap) > _FAR or after == len(buffer) or _BLANK_LINE.search(gap):
        return True
    return ("\n" in gap or "\r" in gap) and _BULLET.match(buffer, after) is not None


def _line_ends_sentence(buffer: str, before: int, after: int, line: int) -> bool:
    """Whether a sentence without a stop ends with the line that began at `line`.

    In running text a line is broken where the next word does not fit. If it would have fitted, as
    the length of the next line shows, the break was meant: a heading, a line of an address.
    """
    if _divided(buffer, before, after):
        return True
    if buffer[after].islower() or buffer[before - 1] in ",-":
        return False
    length = before - line
    if not _SHORT_LINE <= length <= _LONG_LINE:
        return True
    following = _REST_OF_LINE.match(buffer, after, after + _FAR)
    word = _RUN.match(buffer, after, after + _FAR)
    return bool(following and word and length + 1 + len(word[0]) <= len(following[0]))


_NEXT = re.compile(rf"(?P<open>[{re.escape(OPENERS)}]{{0,4}})(?P<word>\w[\w'\u2019]{{0,30}})?")
_GOES_ON = frozenset(",;:)]}%&/=+-\u2013\u2014.\u2026")  # what no sentence begins with


def _stop_ends_sentence(buffer: str, start: int, match: re.Match[str], after: int) -> bool:
    """Whether a sentence ends with the stop that `match` found; the next word is at `after`."""
    if _divided(buffer, match.end(), after):
        return True
    stop = match["stop"]
    if stop[-1] not in ".!?\u2026":  # scripts that use these for nothing else
        return True
    following = _NEXT.match(buffer, after)
    word = following["word"] if following else None
    if word is None:
        return buffer[after] not in _GOES_ON
    if word[0].islower():
        alone = stop in (".", "!", "?") and match.end() == match.end("stop")
        if not (alone and _begins(word, PRONOUNS)):
            return False
    return stop != "." or _period_ends_sentence(buffer, start, match.start(), word)


_BEFORE = re.compile(r"[^\s()\[\]{}\"\u2018\u201c\u201d]+\Z")
_MARKER = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}|[A-Za-z]|[ivx]{1,5}|[IVX]{1,5}")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")


def _begins(word: str, words: frozenset[str]) -> bool:
    return word.lower().replace("\u2019", "'") in words


def _period_ends_sentence(buffer: str, start: int, at: int, word: str) -> bool:
    """Whether a sentence ends with the period at `at`; `word` follows and is not in lower case."""
    found = _BEFORE.search(buffer, max(start, at - 40), at)
    if found is None:
        return True
    before = found[0]
    plain = before.lower()
    starts = _begins(word, STARTERS) and not word[0].islower()
    if found.start() <= start + 1 and _MARKER.fullmatch(before):
        return False  # the number of a heading or of a list's item
    if word[0].isdigit() and plain in BEFORE_NUMBERS:
        return False
    if plain in AMBIGUOUS:
        return starts or before.islower() or plain == "no"
    if len(before) == 1 and before.isupper():
        return starts or before == "I"
    if plain in TITLES:
        return False
    return starts or not (plain in ABBREVIATIONS or _DOTTED.fullmatch(before))
