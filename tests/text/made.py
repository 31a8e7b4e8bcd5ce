"""Tiny tokenizers of every kind an encoder comes with, trained here; texts that invite trouble."""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

KINDS = ("wordpiece", "byte-level", "byte-level without a prefix space", "unigram")

TEXT = [
    "The cat's owner can't say (or won't) why 3,000 cats re-read well-kept e-mails, isn't it?",
    "Neurocognitive processing of adult-learned languages; naïve cafés of São Paulo [12].",
    "中文 和 한국어, ελληνικά, العربية: words of many a script, and 😀 too.",
] * 20


@lru_cache
def tokenizer(kind: str) -> Tokenizer:
    """A tokenizer with special tokens around sentences."""
    if kind == "wordpiece":
        return _wordpiece()
    if kind == "unigram":
        return _unigram()
    return _byte_level(add_prefix_space=kind == "byte-level")


def _wordpiece() -> Tokenizer:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        TEXT, trainers.WordPieceTrainer(vocab_size=250, special_tokens=special)
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(token, made.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return made


def _byte_level(*, add_prefix_space: bool) -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "<pad>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator(TEXT, trainer)
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    made.post_processor = processors.RobertaProcessing(
        ("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>"))
    )
    made.decoder = decoders.ByteLevel()
    return made


def _unigram() -> Tokenizer:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=["<pad>", "<unk>", "</s>"], unk_token="<unk>"
    )
    made.train_from_iterator(TEXT, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", made.token_to_id("</s>"))]
    )
    return made


FRAGMENTS = [
    *" \t\n.,;:!?…'\"’“”‘()[]{}<>-–—/\\&%$€#@*_=+~^|`",
    *("\r\n", "\n\n", "\f", "\u2028", "\u00a0", "\u3000", "\x00", "\x07", "\x1f", "\x85"),
    *("\u200b", "\u200d", "\u200e", "\u00ad", "\u0301", "\u20e3", "\ufe0f", "\ufeff", "\ud800"),
    *("the", "The", "can't", "gonna", "U.S.", "Dr.", "e.g.", "No.", "3.14", "1,000", "J.", "I"),
    *("😀", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "1\ufe0f\u20e3", "é", "e\u0301", "नमस्ते", "שלום"),
    *(
        "中",
        "文。",
        "カタカナ",
        "ひらがな",
        "！",
        "한국어",
        "สวัสดี",
        "العربية",
        "؟",
        "x@y.org",
        "@me",
    ),
    *("-LRB-", "n't", "''", "``", "...", "[1]", "(s)", "f(x)=x**2;", "5km", "10:30", "R&D"),
    *("http://a.b/c_(d)?e=f", "a-b", "#tag", "Ph.D.", "well-kept", "x@y.org"),
]

TEXTS = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(" ".join),
    st.text(max_size=60),
    st.text(alphabet="aB.1 \n!'\"-", max_size=80),
)
