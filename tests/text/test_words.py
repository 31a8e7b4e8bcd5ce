"""Words: how treebanks split, case by case, and what holds of any text."""

from __future__ import annotations

import string
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from text.made import TEXTS
from treewright.errors import OptionError
from treewright.text import words as words_module
from treewright.text.characters import SEPARATORS
from treewright.text.english import CONTRACTIONS
from treewright.text.pieces import _split_by_patterns, split_run
from treewright.text.words import Word, tokenize

# A sentence as it is written, and its words with a space between them
CASES = {
    "contractions": [
        ("I don't, can't and won't.", "I do n't , ca n't and wo n't ."),
        ("She’s sure they’ll say they'd've come.", "She ’s sure they ’ll say they 'd 've come ."),
        ("You shouldn't've DON'T", "You should n't 've DO N'T"),
        ("I cannot, gonna, wanna, gotta.", "I can not , gon na , wan na , got ta ."),
        ("Gimme! Lemme! dunno didnt", "Gim me ! Lem me ! du n no did nt"),
        ("wouldnt, (couldnt)", "would nt , ( could nt )"),
        ("'Tis y'all’s c'mon d'you", "'T is y'all ’s c'm on d' you"),
        ("The boys' dog's o'clock L'Enfant", "The boys ' dog 's o'clock L'Enfant"),
        ("get 'em 'cause the '90s, 80's", "get 'em 'cause the '90s , 80's"),
        ("it 's n't", "it 's n't"),
        ("(Smith)'s “Foo”'s", "( Smith ) 's “ Foo ” 's"),
    ],
    "quotes and brackets": [
        ("\"Yes,\" 'no' “maybe” ‘so’", "\" Yes , \" ' no ' “ maybe ” ‘ so ’"),
        ("``Old'' style", "`` Old '' style"),
        ("(a [b] {c} <d>)", "( a [ b ] { c } < d > )"),
        ("friend(s) of [12], [1–3].", "friend(s) of [ 12 ] , [ 1 – 3 ] ."),
        ("f(x) -LRB- x -RRB-", "f ( x ) -LRB- x -RRB-"),
    ],
    "stops": [
        ("Well... yes… no..", "Well ... yes … no .."),
        ("What?! No!!", "What ? ! No ! !"),
        ('He said "go."', 'He said " go . "'),
        ("It ended (badly.)", "It ended ( badly . )"),
        ("Yes .", "Yes ."),
        (".", "."),
    ],
    "abbreviations": [
        ("Dr. Wu of Acme Inc. met J. R. Ewing.", "Dr. Wu of Acme Inc. met J. R. Ewing ."),
        ("At 5 p.m. in the U.S. of etc.", "At 5 p.m. in the U.S. of etc."),
        ("e.g., i.e., vs. (cf. Ph.D.)", "e.g. , i.e. , vs. ( cf. Ph.D. )"),
        ("No. 5 on Jan. 3, p. 7", "No. 5 on Jan. 3 , p. 7"),
        ("I said no.", "I said no ."),
        ("We saw the sun.", "We saw the sun ."),
        ("Take vitamin C.", "Take vitamin C ."),
        ("He is from the U.S.", "He is from the U.S."),
        ("“At Time Inc.”", "“ At Time Inc. ”"),
        ("1. First", "1. First"),
        ("It is 1. Or 2.", "It is 1 . Or 2 ."),
        ("St.Louis end.The", "St. Louis end . The"),
    ],
    "numbers": [
        ("$5.20, €3,000 and £1", "$ 5.20 , € 3,000 and £ 1"),
        ("15% of 3/4 at 10:30, 12:30:59", "15 % of 3/4 at 10:30 , 12:30:59"),
        ("1,2,3 and .5 or -.5", "1 , 2 , 3 and .5 or - .5"),
        ("1990s 21st 3D 5km 7pm", "1990s 21st 3D 5 km 7 pm"),
        ("call 555-1234 or 201-592-4699", "call 555-1234 or 201-592-4699"),
        ("pages 10-15, 1939–45", "pages 10 - 15 , 1939 – 45"),
        ("7.", "7."),
        ("US$20 20°C", "US $ 20 20 ° C"),
    ],
    "dashes, slashes, symbols": [
        ("power—influence--both – yes", "power — influence -- both – yes"),
        ("and/or, he/she", "and / or , he / she"),
        ("R&D at AT&T; a&b", "R&D at AT&T ; a & b"),
        ("#1 #tag @me C# a@b", "#1 #tag @me C # a @b"),
        ("==== *** ~~", "==== *** ~~"),
        ("Good :) fine ;-) <3", "Good :) fine ;-) <3"),
        ("I w- w- want th-, er", "I w- w- want th- , er"),
    ],
    "links": [
        ("See http://a.org/b_(c)?d=e#f.", "See http://a.org/b_(c)?d=e#f ."),
        ("(https://x.de/y), www.z.com!", "( https://x.de/y ) , www.z.com !"),
        ("Mail first.last@uni.ac.uk.", "Mail first.last@uni.ac.uk ."),
        ("Amazon.com sells readme.txt", "Amazon.com sells readme.txt"),
        ("on github.com/a/b, ok", "on github.com/a/b , ok"),
        ("doi:10.1037/0022-3514.92.6.1087", "doi:10.1037/0022-3514.92.6.1087"),
    ],
    "other scripts": [
        ("他在2024年去了New York。", "他 在 2024 年 去 了 New York 。"),
        ("「你好！」她说……", "「 你 好 ！ 」 她 说 ……"),
        ("カタカナとひらがな", "カタカナ と ひ ら が な"),
        ("한국어 문장입니다.", "한국어 문장입니다 ."),
        ("مرحبا، كيف الحال؟", "مرحبا ، كيف الحال ؟"),
        ("שלום, עולם!", "שלום , עולם !"),
        ("यह हिन्दी है।", "यह हिन्दी है ।"),
        ("Η Αθήνα; naïve cafe\u0301.", "Η Αθήνα ; naïve cafe\u0301 ."),
    ],
    "characters of many code points": [
        ("I👩\u200d👩\u200d👧👍🏽!", "I 👩\u200d👩\u200d👧 👍🏽 !"),
        ("🇩🇪🇫🇷 ok", "🇩🇪 🇫🇷 ok"),
        ("1\ufe0f\u20e3 #\ufe0f\u20e3 ✌\ufe0f", "1\ufe0f\u20e3 #\ufe0f\u20e3 ✌\ufe0f"),
        ("a-\u0301b .\u0308.", "a -\u0301 b .\u0308 ."),
        ("中\U000e0100文", "中\U000e0100 文"),
    ],
}
HYPHENS = [
    ("a well-kept 21-year-old", "a well - kept 21 - year - old", "a well-kept 21-year-old"),
    ("an e-mail, re-read", "an e-mail , re-read", "an e-mail , re-read"),
    ("non-profit-based", "non-profit - based", "non-profit-based"),
    ("Uh-huh, mm-hm", "Uh-huh , mm-hm", "Uh-huh , mm-hm"),
    ("mother-in-law's", "mother - in - law 's", "mother-in-law 's"),
    ("U.S.-based 1990-95", "U.S. - based 1990 - 95", "U.S.-based 1990-95"),
    ("mid-1980s COVID-19", "mid-1980s COVID - 19", "mid-1980s COVID-19"),
    ("non‑breaking", "non‑breaking", "non‑breaking"),
    ("well‑kept", "well ‑ kept", "well‑kept"),
    ("-- - -a", "-- - - a", "-- - - a"),
]


@pytest.mark.parametrize(
    ("text", "words"), [case for cases in CASES.values() for case in cases], ids=lambda text: text
)
def test_cases(text: str, words: str) -> None:
    assert " ".join(word.text for word in tokenize(text)) == words


@pytest.mark.parametrize(("text", "split", "kept"), HYPHENS)
def test_hyphens(text: str, split: str, kept: str) -> None:
    assert " ".join(word.text for word in tokenize(text)) == split
    assert " ".join(word.text for word in tokenize(text, hyphens="keep")) == kept


def test_offsets() -> None:
    assert tokenize(" Go,\tnow!") == [
        Word("Go", 1, 3),
        Word(",", 3, 4),
        Word("now", 5, 8),
        Word("!", 8, 9),
    ]


def test_options() -> None:
    with pytest.raises(OptionError):
        tokenize("a", hyphens="drop")  # type: ignore[arg-type]


# Words of plain letters, with those that fall apart or look like parts of something else
PLAIN = [
    *(word for word in CONTRACTIONS if word.isalpha()),
    *("www", "doi", "mailto", "http", "PhD", "BSc", "xD", "km", "nt", "s", "ll", "Inc", "com"),
]


def check(text: str, words: list[Word]) -> None:
    """Words are slices, in order, apart, and leave out only what separates words."""
    import re

    at = 0
    for word in words:
        assert at <= word.start < word.end <= len(text)
        assert text[word.start : word.end] == word.text
        assert re.fullmatch(f"[{SEPARATORS}]*", text[at : word.start])
        assert not re.search(f"[{SEPARATORS}]", word.text)
        at = word.end
    assert re.fullmatch(f"[{SEPARATORS}]*", text[at:])


@given(TEXTS)
@example("")
@example("x" * 1000 + "." * 1000)
@settings(max_examples=400, deadline=None)
def test_any_text(text: str) -> None:
    for hyphens in ("split", "keep"):
        check(text, tokenize(text, hyphens=hyphens))  # type: ignore[arg-type]


@given(TEXTS)
@example("\u200d.")
@settings(max_examples=200, deadline=None)
def test_no_reader_s_character_is_split(text: str) -> None:
    import unicodedata

    ends = {word.end for word in tokenize(text)}
    for word in tokenize(text):
        if word.start in ends:  # it follows another word directly
            first = text[word.start]
            assert unicodedata.category(first)[0] != "M"
            assert first != "\u200d"
            assert text[word.start - 1] != "\u200d" or first < "\u0300"  # it joins no such thing


def forget() -> None:
    for known in words_module._remembered.values():
        known.clear()


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_what_is_remembered_is_what_is_found(text: str) -> None:
    again = tokenize(text)
    forget()
    assert tokenize(text) == again


def test_forgets_rather_than_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    text = " ".join(f"w{n}'s" for n in range(100)) + " " + "long" * 20 + " end"
    whole = tokenize(text)
    monkeypatch.setattr(words_module, "_MEMORY", 10)
    forget()
    assert tokenize(text) == whole
    inside = words_module._remembered[False, False, False]
    assert 0 < len(inside) <= 10
    assert "long" * 20 not in inside


@given(st.text(alphabet=string.ascii_letters, min_size=1, max_size=9) | st.sampled_from(PLAIN))
@settings(max_examples=500, deadline=None)
def test_words_of_plain_letters_are_what_the_patterns_say(word: str) -> None:
    """The short way, which most words go, leads where the long one does."""
    for run in (word, word.title(), word.upper(), f"{word},"):
        for first, last, keep in product((False, True), repeat=3):
            wanted = _split_by_patterns(run, first, last, keep)
            assert split_run(run, first, last, keep) == wanted
