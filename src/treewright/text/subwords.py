"""Words to the sub-words of a pretrained encoder, through the `tokenizers` library alone.

Owns `SubwordTokenizer`: any `tokenizer.json`, whether WordPiece, byte-level BPE or Unigram.

An encoder's tokenizer reads each word of a pre-split sentence on its own, so the sub-words of a
word depend on nothing but the word. They are asked for once and remembered: after the first few
thousand words of a text, a sentence costs a dictionary look-up a word, and no alignment is needed
to know which sub-words belong to which word.

Length is no concern here: nothing is truncated, whatever a `tokenizer.json` says (many carry the
truncation and padding of the script that saved them). `windows` handles what is too long.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from treewright.errors import Place, TokenizerError
from treewright.files import atomic_write, name_of, open_bytes
from treewright.text.penn import unescape

# Words remembered before all are forgotten, and the length up to which they are: some 50 MB at most
_MEMORY = 1 << 17
_LONG_WORD = 64

_SPACED = {"ByteLevel", "Metaspace"}  # pre-tokenizers in whose vocabulary words begin with a space
_PAD_TOKENS = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>")
_UNKNOWN_TOKENS = ("[UNK]", "<unk>", "<|unk|>", "<|unknown|>")


class Subwords(NamedTuple):
    """The sub-words of a sentence.

    `ids` has the special tokens around them; `first` and `last`, one a word, are the positions in
    `ids` of each word's first and last sub-word (`last` is inside: a word of one sub-word has both
    at the same position).
    """

    ids: list[int]
    first: list[int]
    last: list[int]


class SubwordTokenizer:
    """An encoder's own tokenizer, over words that are already found.

    Pieces of words are remembered, so an object gets faster as it goes; threads may share it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        # A copy: the settings changed below are of no concern to whoever else uses the tokenizer
        tokenizer = Tokenizer.from_str(tokenizer.to_str())
        description = json.loads(tokenizer.to_str())
        self._padding = tokenizer.padding
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True  # `[SEP]` in a text is five letters, no special
        self._tokenizer = tokenizer
        self._space = " " if _types(description.get("pre_tokenizer")) & _SPACED else ""
        self._pieces: dict[str, list[int]] = {}
        self._unknown = self._find_unknown(description)
        self._prefix, self._suffix = self._find_specials()
        self._special = {*self._prefix, *self._suffix}

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> SubwordTokenizer:
        """Wrap a tokenizer of the `tokenizers` library (`backend_tokenizer` in transformers)."""
        return cls(tokenizer)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> SubwordTokenizer:
        """Read a `tokenizer.json`."""
        with open_bytes(path) as handle:
            data = handle.read()
        try:
            return cls(Tokenizer.from_buffer(data))
        except TokenizerError as error:
            raise TokenizerError(error.message, Place(name_of(path))) from None
        except Exception as error:  # the library raises nothing narrower
            message = f"is no tokenizer.json that the library tokenizers can read: {error}"
            raise TokenizerError(message, Place(name_of(path))) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `tokenizer.json`, beside and renamed."""
        with atomic_write(path) as handle:
            handle.write(self._as_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_json, (self._as_json(),)

    def _as_json(self) -> str:
        tokenizer = Tokenizer.from_str(self._tokenizer.to_str())
        if self._padding is not None:  # it may be all that tells which token pads
            token = self._padding["pad_token"]
            tokenizer.enable_padding(pad_id=self._padding["pad_id"], pad_token=token)
        return tokenizer.to_str(pretty=True)

    @property
    def vocab_size(self) -> int:
        """The number of sub-words, added ones included: ids are below it."""
        vocabulary = self._tokenizer.get_vocab(with_added_tokens=True)
        return max(vocabulary.values()) + 1

    @property
    def pad_id(self) -> int:
        """What fills a row of a batch; 0 where the tokenizer names nothing."""
        if self._padding is not None:
            return int(self._padding["pad_id"])
        return self._first_known(_PAD_TOKENS) or 0

    @property
    def n_special(self) -> int:
        """Special tokens around every sentence: what they take of an encoder's positions."""
        return len(self._prefix) + len(self._suffix)

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[Subwords]:
        """The sub-words of each sentence, in order; every word has at least one.

        Words are unescaped first (`penn.unescape`). A word that the encoder has nothing for (white
        space, control and zero-width characters) is its unknown token.
        """
        known = self._pieces
        missing = {word for words in sentences for word in words if word not in known}
        new = self._learn(missing) if missing else {}
        return [self._assemble(words, known, new) for words in sentences]

    def counts(self, sentences: Sequence[Sequence[str]]) -> list[int]:
        """The number of sub-words of each sentence, special tokens included."""
        return [len(subwords.ids) for subwords in self.encode(sentences)]

    def _assemble(
        self, words: Sequence[str], known: dict[str, list[int]], new: dict[str, list[int]]
    ) -> Subwords:
        ids = list(self._prefix)
        first: list[int] = []
        last: list[int] = []
        for word in words:
            first.append(len(ids))
            ids += known.get(word) or new[word]
            last.append(len(ids) - 1)
        ids += self._suffix
        return Subwords(ids, first, last)

    def _learn(self, missing: Iterable[str]) -> dict[str, list[int]]:
        """The sub-words of words that are not known; those of the short ones are remembered."""
        words = list(missing)
        ids = self._ask([self._spell(word) for word in words])
        new = {
            word: self._allowed(of_word) if of_word and word.strip() else self._unknown
            for word, of_word in zip(words, ids, strict=True)
        }
        short = {word: of_word for word, of_word in new.items() if len(word) <= _LONG_WORD}
        if len(self._pieces) + len(short) > _MEMORY:
            self._pieces = {}  # a new one: another thread may be reading the old
        if len(short) <= _MEMORY:
            self._pieces.update(short)
        return new

    def _allowed(self, ids: list[int]) -> list[int]:
        """Without special tokens: a Unigram vocabulary finds `</s>` among its pieces."""
        if self._special.isdisjoint(ids):
            return ids
        return [self._unknown[0] if of in self._special else of for of in ids]

    def _spell(self, word: str) -> str:
        """The word as the library is to read it: lone surrogates, which it refuses, replaced."""
        return self._space + unescape(word).encode("utf-8", "replace").decode()

    def _ask(self, texts: list[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _ask_first(self, text: str) -> list[int]:
        """The first question to a new tokenizer, whose vocabulary may lack what its model needs."""
        try:
            return self._ask([text])[0]
        except Exception as error:  # the library raises nothing narrower
            raise TokenizerError(f"cannot split words: {error}") from None

    def _find_unknown(self, description: dict[str, Any]) -> list[int]:
        """The token of words without sub-words, or what stands for one where there is none."""
        odd = self._ask_first("\ufffd")
        model = description.get("model") or {}
        if isinstance(model.get("unk_id"), int):
            return [model["unk_id"]]
        token = model.get("unk_token")
        found = self._tokenizer.token_to_id(token) if isinstance(token, str) else None
        found = self._first_known(_UNKNOWN_TOKENS) if found is None else found
        if found is not None:
            return [found]
        if odd:  # byte-level vocabularies need no unknown token
            return odd
        raise TokenizerError("has no unknown token, and no sub-word for a character it lacks")

    def _first_known(self, tokens: Iterable[str]) -> int | None:
        ids = map(self._tokenizer.token_to_id, tokens)
        return next((known for known in ids if known is not None), None)

    def _find_specials(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after a sentence."""
        for sample in ("a", "?", "\ufffd", *self._tokenizer.get_vocab()):
            encoding = self._tokenizer.encode(sample)
            inside = [at for at, mask in enumerate(encoding.special_tokens_mask) if not mask]
            if inside:
                return encoding.ids[: inside[0]], encoding.ids[inside[-1] + 1 :]
        raise TokenizerError("has no sub-words")


def _from_json(text: str) -> SubwordTokenizer:
    return SubwordTokenizer(Tokenizer.from_str(text))


def _types(node: object) -> set[str]:
    """The types of a component and of all that it is made of."""
    if isinstance(node, list):
        return set().union(*map(_types, node))
    if not isinstance(node, dict):
        return set()
    own = {node["type"]} if isinstance(node.get("type"), str) else set()
    return own.union(*map(_types, node.values()))
