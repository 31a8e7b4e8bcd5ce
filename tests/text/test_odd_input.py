"""What people paste: sentences and words together, with offsets into the whole text."""

from __future__ import annotations

import gc
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings

from text.made import TEXTS
from treewright.text.sentences import split_sentences
from treewright.text.words import Word, tokenize


def words_of(text: str) -> list[list[Word]]:
    """The words of every sentence, placed in the whole text."""
    return [
        [Word(w.text, start + w.start, start + w.end) for w in tokenize(text[start:end])]
        for start, end in split_sentences(text)
    ]


ODD = {
    "empty": ("", []),
    "spaces": (" \t\u00a0\u3000\n", []),
    "controls only": ("\x00\x07\ufeff\u200b", []),
    "one character": ("a", [["a"]]),
    "one stop": (".", [["."]]),
    "byte-order mark": ("\ufeffHello you.", [["Hello", "you", "."]]),
    "NUL inside": ("He\x00llo\x07 you.", [["He", "llo", "you", "."]]),
    "Windows": ("One two.\r\nThree\r\n\r\nFour", [["One", "two", "."], ["Three"], ["Four"]]),
    "brackets": ("-LRB- ( ) )(", [["-LRB-", "(", ")", ")", "("]]),
    "code": (
        "if (a[i] == b) { return f(x); }",
        [
            [
                "if",
                "(",
                "a",
                "[",
                "i",
                "]",
                "==",
                "b",
                ")",
                "{",
                "return",
                "f",
                "(",
                "x",
                ")",
                ";",
                "}",
            ]
        ],
    ),
    "right to left": ("שלום עולם. مرحبا!", [["שלום", "עולם", "."], ["مرحبا", "!"]]),
    "marks of direction": ("\u200fabc\u200e.", [["\u200fabc\u200e", "."]]),
    "Chinese": ("他来了。她走了！", [["他", "来", "了", "。"], ["她", "走", "了", "！"]]),
    "emoji": ("👩\u200d💻👍🏽 Yes.", [["👩\u200d💻", "👍🏽", "Yes", "."]]),
    "lone surrogate": ("a \ud800 b", [["a", "\ud800", "b"]]),
    "line separators": ("a\u2028b\u2029c", [["a", "b"], ["c"]]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd(name: str) -> None:
    text, wanted = ODD[name]
    found = words_of(text)
    assert [[word.text for word in words] for words in found] == wanted
    assert all(text[w.start : w.end] == w.text for words in found for w in words)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_every_sentence_has_a_word(text: str) -> None:
    found = words_of(text)
    assert all(found)
    flat = [word for words in found for word in words]
    assert all(text[w.start : w.end] == w.text for w in flat)
    assert all(a.end <= b.start for a, b in pairwise(flat))


LONG = {
    "letters": "a",
    "stops": ".",
    "spaced stops": ". ",
    "abbreviations": "e.g. ",
    "initials": "a.",
    "initials that are none": "A.Bc.",
    "hyphens": "a-",
    "clitics": "a's",
    "quotes": "'",
    "hosts": "a.com",
    "host names that are none": "a-b.",
    "addresses": "a@",
    "links": "http://",
    "links in brackets": "www.a)",
    "brackets": "(",
    "references": ". [1]",
    "digits": "1,234",
    "times": "1:11",
    "joined": "👩\u200d",
    "marks": "\u0301",
    "Chinese": "中",
    "spaces": " ",
    "lines": "ab\n",
    "faces": ":)!",
}


@pytest.mark.parametrize("name", LONG)
def test_time_is_linear(name: str) -> None:
    """Eight times the text takes nowhere near 64 times as long."""

    def seconds(size: int) -> float:
        text = "x" + LONG[name] * (size // len(LONG[name])) + "x"
        begun = time.process_time()
        split_sentences(text)
        tokenize(text)
        return time.process_time() - begun

    gc.disable()  # what all tests before have left behind is not walked through meanwhile
    try:
        short = min(seconds(10_000) for _ in range(3))
        assert seconds(80_000) < 30 * short + 0.1
    finally:
        gc.enable()


def test_a_megabyte_of_a_word() -> None:
    text = "x" * 1_000_000
    assert tokenize(text) == [Word(text, 0, len(text))]
    assert sum(end - start for start, end in split_sentences(text)) == len(text)


def test_two_thousand_words_without_a_stop() -> None:
    text = " ".join(f"w{n}" for n in range(2000))
    assert [w.text for words in words_of(text) for w in words] == text.split()
    assert [w.text for w in tokenize(text)] == text.split()
