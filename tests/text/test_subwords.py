"""Sub-words: as the library itself splits sentences, whatever the tokenizer and the words."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from text.made import FRAGMENTS, KINDS, tokenizer
from treewright.errors import NotFound, TokenizerError
from treewright.text import subwords
from treewright.text.penn import unescape
from treewright.text.subwords import Subwords, SubwordTokenizer

SENTENCE = "The cat 's owner ca n't re-read -LRB- neurocognitive -RRB- e-mails , 3,000 cafés `` ?"
WORDS = SENTENCE.split()
NOTHING = ["", " ", "\t", "\u00a0", "\u3000"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ours(kind: str) -> SubwordTokenizer:
    return SubwordTokenizer.from_tokenizer(tokenizer(kind))


def pieces(subwords: Subwords) -> list[list[int]]:
    spans = zip(subwords.first, subwords.last, strict=True)
    return [subwords.ids[first : last + 1] for first, last in spans]


def test_as_the_library_does(kind: str, ours: SubwordTokenizer) -> None:
    wanting_space = "byte-level" if kind.startswith("byte-level") else kind
    theirs = tokenizer(wanting_space).encode([*map(unescape, WORDS)], is_pretokenized=True)
    (found,) = ours.encode([WORDS])
    assert found.ids == theirs.ids
    places = [[at for at, w in enumerate(theirs.word_ids) if w == n] for n in range(len(WORDS))]
    assert found.first == [at[0] for at in places]
    assert found.last == [at[-1] for at in places]


@given(words=st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=8)), max_size=12))
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("kind", KINDS)
def test_any_words(kind: str, words: list[str]) -> None:
    made = SubwordTokenizer.from_tokenizer(tokenizer(kind))
    found, alone = made.encode([words, words[::-1]])
    assert len(found.first) == len(found.last) == len(words)
    inside = [at for a, b in zip(found.first, found.last, strict=True) for at in range(a, b + 1)]
    start = len(made.encode([[]])[0].ids) - made.n_special
    assert start == 0
    assert len(inside) == len(found.ids) - made.n_special
    assert inside == list(range(inside[0], inside[0] + len(inside))) if inside else not words
    assert all(first <= last for first, last in zip(found.first, found.last, strict=True))
    assert all(0 <= token < made.vocab_size for token in found.ids)
    assert pieces(alone) == pieces(found)[::-1]


def test_special_tokens(ours: SubwordTokenizer, kind: str) -> None:
    (empty,) = ours.encode([[]])
    assert empty == Subwords(empty.ids, [], [])
    assert len(empty.ids) == ours.n_special == (1 if kind == "unigram" else 2)
    (one,) = ours.encode([["cat"]])
    before = one.first[0]
    assert one.ids[:before] + one.ids[one.last[0] + 1 :] == empty.ids
    assert before == (0 if kind == "unigram" else 1)
    assert ours.counts([["cat"], []]) == [len(one.ids), len(empty.ids)]
    assert ours.encode([]) == []


def test_special_tokens_in_a_text_are_letters(ours: SubwordTokenizer) -> None:
    special = set(ours.encode([[]])[0].ids)
    for word in ("[SEP]", "</s>", "<s>", "[CLS]"):
        (found,) = ours.encode([[word]])
        assert not special & set(*pieces(found))


@pytest.mark.parametrize("word", NOTHING)
def test_no_subwords_make_the_unknown_token(ours: SubwordTokenizer, word: str) -> None:
    first, unknown, last = pieces(ours.encode([["cat", word, "cat"]])[0])
    assert first == last
    if (known := ours._first_known(["[UNK]", "<unk>"])) is not None:
        assert unknown == [known]
    assert unknown


@pytest.mark.parametrize("word", ["\x00", "\x07", "\u200b", "\ufeff", "\u200d"])
def test_control_characters(word: str) -> None:
    made = SubwordTokenizer.from_tokenizer(tokenizer("wordpiece"))
    found = pieces(made.encode([["cat", word]])[0])[1]
    assert found == [tokenizer("wordpiece").token_to_id("[UNK]")]


def test_lone_surrogates(ours: SubwordTokenizer) -> None:
    assert len(ours.encode([["a\ud800", "\udfff"]])[0].first) == 2


def test_settings_saved_with_a_tokenizer(kind: str, tmp_path: Path) -> None:
    """Truncation and padding of whoever saved the file do not reach a sentence."""
    changed = Tokenizer.from_str(tokenizer(kind).to_str())
    changed.enable_truncation(4)
    changed.enable_padding(length=64, pad_id=7, pad_token="<odd>")
    changed.save(str(tmp_path / "tokenizer.json"))
    made = SubwordTokenizer.from_file(tmp_path / "tokenizer.json")
    assert made.encode([WORDS]) == SubwordTokenizer(tokenizer(kind)).encode([WORDS])
    assert made.pad_id == 7
    assert changed.truncation is not None  # and what was handed over is as it was
    made.save(tmp_path / "again.json")
    again = SubwordTokenizer.from_file(tmp_path / "again.json")
    assert again.pad_id == 7
    assert again.encode([WORDS]) == made.encode([WORDS])


def test_pad_and_size(ours: SubwordTokenizer, kind: str) -> None:
    plain = tokenizer(kind)
    names = {"wordpiece": "[PAD]"}
    assert ours.pad_id == plain.token_to_id(names.get(kind, "<pad>"))
    assert ours.vocab_size == plain.get_vocab_size()


def test_pickles(ours: SubwordTokenizer) -> None:
    again = pickle.loads(pickle.dumps(ours))
    words = [*WORDS, "[SEP]", "\x00"]
    assert again.encode([words]) == ours.encode([words])


def test_forgets_rather_than_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "_MEMORY", 20)
    made = SubwordTokenizer.from_tokenizer(tokenizer("wordpiece"))
    fresh = SubwordTokenizer.from_tokenizer(tokenizer("wordpiece"))
    monkeypatch.setattr(fresh, "_pieces", {})
    for at in range(30):
        words = [f"cat{n}" for n in range(at, at + 5)] + WORDS[: at % 7] + ["long" * 50]
        assert made.encode([words]) == SubwordTokenizer(tokenizer("wordpiece")).encode([words])
        assert len(made._pieces) <= 20
        assert "long" * 50 not in made._pieces
    many = [[f"cat{n}" for n in range(50)]]
    assert made.encode(many) == fresh.encode(many)


def test_threads_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "_MEMORY", 30)
    made = SubwordTokenizer.from_tokenizer(tokenizer("byte-level"))
    batches = [[[f"w{n * k % 41}" for n in range(20)]] for k in range(60)]
    wanted = [SubwordTokenizer.from_tokenizer(tokenizer("byte-level")).encode(b) for b in batches]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(made.encode, batches)) == wanted


def test_a_megabyte_of_a_word(ours: SubwordTokenizer) -> None:
    found = ours.encode([["a", "-" * 1_000_000, "a"]])[0]
    assert len(found.first) == 3
    assert found.last[2] < len(found.ids)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        SubwordTokenizer.from_file(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").write_text('{"a": 1}')
    with pytest.raises(TokenizerError) as caught:
        SubwordTokenizer.from_file(tmp_path / "tokenizer.json")
    assert caught.value.place is not None
    assert caught.value.place.file == str(tmp_path / "tokenizer.json")
    with pytest.raises(TokenizerError):
        SubwordTokenizer.from_tokenizer(Tokenizer(models.WordPiece({}, unk_token="[UNK]")))
