"""Sentences: where they end, case by case; the same whatever the chunks; bounded memory."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text.made import TEXTS
from treewright.errors import OptionError
from treewright.text.characters import SEPARATORS
from treewright.text.sentences import LIMIT, RawSentence, iter_sentences, split_sentences

# Texts in which a bar stands where a sentence ends
CASES = [
    "He left.| She stayed!| Why?| Who knows?!| Well...| Then he left.",
    "Dr. Wu met Mr. and Mrs. J. R. Ewing at 5 p.m. on Jan. 3.| They left.",
    "Acme Inc. of the U.S. Navy sued Foo Ltd. in Nov. 2003.| It lost.",
    "He lives in the U.S.| The house is big.| It is on Main St. in Troy.",
    "See Fig. 3, No. 5, pp. 7–9, vol. 2.| No. 5 is best.| I said no.| Then I left.",
    "It cost $3.50.| 25 of them came.| Version 2.0 is out.",
    "He said “Go.”| She went.| (It rained.)| [Twice.]| 'Yes.'| “No!”| Done.",
    "“Really?” he asked.| “Yes!” she said.",
    "It was… odd.| It was ... odd.| I waited…| Nothing came.",
    "Yahoo! is a firm.| What is a what? is a question.",
    "It was shown [12].| It was not. [13]| He went on.[14, 15]| So did she.",
    "Vitamin C.| The dose is small.| So did I.| Bob left.",
    "It runs on iOS. iPhones are small.",
    "1. First point.| 2. Second point.| A. Third point.",
    "One line\nof running text.|\nTwo",
    "A heading|\n\nA paragraph that\nis wrapped.|\n\n\nAnother",
    "A heading|\r\n\r\nA paragraph that\r\nis wrapped.|\r\n \t\r\nAnother",
    "Heading|\nThis is a paragraph that was never wrapped and goes on a while.|\nIt ends.",
    "This line was broken for want of room, as the next one shows, by\nSomebody with an editor.",
    "Buy:|\n- milk|\n- bread|\n* eggs|\n1. tea|\n(a) salt",
    "Dear Ann,\nBill",
    "他来了。|她走了！|真的吗？|“是的。”|他说：好……|\n\n完。",
    "3.14是数。|2.0 也是。",
    "مرحبا.| كيف الحال؟| بخير.",
    "यह वाक्य है।| यह भी।",
    "Page one|\fPage two",
    "i went home.| then i slept!| you know? yes.| i said so... we left",
    "At 5 p.m. he left.| “Go.” he said.| It was Ann vs. he.",
    "Left .| Right !| Done",
]


@pytest.mark.parametrize("case", CASES)
def test_cases(case: str) -> None:
    parts = case.split("|")
    text = "".join(parts)
    found = [text[start:end] for start, end in split_sentences(text)]
    assert found == [part.strip() for part in parts]


def test_stream_and_text_agree_on_a_page() -> None:
    text = " ".join(case.replace("|", "") for case in CASES)
    wanted = [RawSentence(text[a:b], a) for a, b in split_sentences(text)]
    for size in (1, 7, 100):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert list(iter_sentences(chunks)) == wanted


def check(text: str, spans: list[tuple[int, int]], limit: int) -> None:
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert end - start <= limit
        assert re.fullmatch(f"[{SEPARATORS}]*", text[at:start])
        assert not re.match(f"[{SEPARATORS}]", text[start])
        assert not re.match(f"[{SEPARATORS}]", text[end - 1])
        at = end
    assert re.fullmatch(f"[{SEPARATORS}]*", text[at:])


@given(TEXTS, st.sampled_from([1, 2, 5, 20, LIMIT]))
@settings(max_examples=400, deadline=None)
def test_any_text(text: str, limit: int) -> None:
    check(text, split_sentences(text, limit=limit), limit)


@given(st.lists(TEXTS, max_size=8), st.sampled_from([3, 30, LIMIT]))
@settings(max_examples=200, deadline=None)
def test_chunks_do_not_matter(chunks: list[str], limit: int) -> None:
    text = "".join(chunks)
    whole = [RawSentence(text[a:b], a) for a, b in split_sentences(text, limit=limit)]
    assert list(iter_sentences(chunks, limit=limit)) == whole


@given(st.integers(0, 2**31), st.sampled_from([50, 3000]))
@settings(max_examples=20, deadline=None)
def test_where_pieces_meet_does_not_matter(seed: int, limit: int) -> None:
    """Texts of several buffers, read from different beginnings of the buffers."""
    import random

    source = random.Random(seed)
    parts = [
        "Mr. ",
        "No. 5 ",
        "word ",
        "End. ",
        "A",
        "\n",
        "\n\n",
        " " * 400,
        "x" * 200,
        "。",
        "...",
        " [1]",
    ]
    text = "".join(source.choices(parts, k=3000))
    whole = list(iter_sentences([text], limit=limit))
    for size in (997, 70_001):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert list(iter_sentences(chunks, limit=limit)) == whole
    assert [(s.start, s.start + len(s.text)) for s in whole] == split_sentences(text, limit=limit)


def test_blank_lines_always_break() -> None:
    for gap in ("\n\n", "\n \t\n", "\r\n\r\n", "\r\r", "\u2029", "\f", "\n\x00\n"):
        assert len(split_sentences(f"one,{gap}two")) == (1 if "\x00" in gap else 2), repr(gap)


def test_no_stop_at_all() -> None:
    text = "word " * 2000
    spans = split_sentences(text)
    assert max(end - start for start, end in spans) <= LIMIT
    assert min(end - start for start, end in spans[:-1]) > LIMIT - 10
    assert all(
        text[start:end].split() == ["word"] * len(text[start:end].split()) for start, end in spans
    )
    assert sum(len(text[start:end].split()) for start, end in spans) == 2000
    assert len(split_sentences(text, limit=20_000)) == 1


def test_a_pause_is_the_better_place_to_cut() -> None:
    text = "a; " + "word " * 15 + "end; " + "word " * 10
    (first, *_) = split_sentences(text, limit=100)
    assert text[slice(*first)].endswith("end;")


def test_no_space_at_all() -> None:
    for character in ("a", "中", "👍🏽", "e\u0301"):
        text = character * 10_000
        spans = split_sentences(text)
        check(text, spans, LIMIT)
        assert all((end - start) % len(character) == 0 for start, end in spans)


def stream(chunks: int, piece: str) -> Iterator[str]:
    chunk = (piece * (100_000 // len(piece) + 1))[:100_000]
    for _ in range(chunks):
        yield chunk


@pytest.mark.parametrize(
    "piece", ["A sentence of six words stands. ", "word ", "x", " ", "\n", "。"]
)
def test_memory_is_bounded(piece: str) -> None:
    """However long the text: the peak is a few pieces, be it 300 kB or 900."""
    tracemalloc.start()
    try:
        count = sum(1 for _ in iter_sentences(stream(3, piece)))
        once = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        assert sum(1 for _ in iter_sentences(stream(9, piece))) >= count
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < max(1.2 * once, 2_000_000)


def test_limit_is_checked() -> None:
    with pytest.raises(OptionError):
        split_sentences("a", limit=0)
