"""Small networks over encoders made on the spot; nothing is loaded."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from treewright.grammar import Grammar
from treewright.model.build import feature_maker
from treewright.model.characters import CharacterEncoder, character_tokenizer
from treewright.model.config import ModelConfig
from treewright.model.encoder import PretrainedEncoder
from treewright.model.features import Features
from treewright.model.network import Network
from treewright.text.subwords import SubwordTokenizer
from treewright.trees import Tree

LABELS = ("@", "$", "NP", "S", "S::VP", "VP")
TAGS = ("DT", "NN", "VB")

SENTENCES = [
    ["a", "b"],
    [*"this is quite a long one , by all means , for it has the most words".split()],  # noqa: SIM905
    ["one"],
    ["unbelievably", "long", "words", "-LRB-", "overcomplicated", "ones", "-RRB-"],
    ["a", "b"],
]

SIZES = {
    "model_size": 16,
    "heads": 2,
    "key_size": 8,
    "feed_forward_size": 24,
    "label_key_size": 6,
    "label_output_size": 4,
    "label_feed_forward_size": 12,
    "scorer_size": 10,
    "tagger_size": 8,
    "character_size": 12,
}


def grammar() -> Grammar:
    trees = ["(S (NP (DT a) (NN b)) (VP (VB c)))", "(S (VP (VB go) (NP (DT a) (JJ b) (NN c))))"]
    return Grammar.from_trees([Tree.from_brackets(text) for text in trees])


def wordpieces() -> SubwordTokenizer:
    """A WordPiece tokenizer of pairs of letters, so that words have several sub-words."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = [a + b for a in letters for b in letters]
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *pairs]
    known += [f"##{piece}" for piece in (*letters, *pairs)]
    vocabulary = {token: number for number, token in enumerate(known)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return SubwordTokenizer.from_tokenizer(tokenizer)


def bert(vocab_size: int, positions: int = 64) -> torch.nn.Module:
    from transformers import BertConfig, BertModel

    return BertModel(
        BertConfig(
            vocab_size=vocab_size,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=24,
            max_position_embeddings=positions,
        )
    )


def make(encoder: str = "characters", **changes: object) -> tuple[Network, SubwordTokenizer]:
    """A small network in its mode for evaluation, biases and scales of norms at random too."""
    torch.manual_seed(0)
    positions = changes.pop("positions", 64)
    labels = changes.pop("labels", LABELS)
    config = ModelConfig(encoder=encoder, **(SIZES | changes))  # type: ignore[arg-type]
    if encoder == "characters":
        tokenizer = character_tokenizer(SENTENCES, min_count=1)
        words = CharacterEncoder(tokenizer.vocab_size, config)
    else:
        tokenizer = wordpieces()
        words = PretrainedEncoder(  # type: ignore[assignment]
            bert(tokenizer.vocab_size, positions),  # type: ignore[arg-type]
            pooling=config.subwords,
            layer_mix=config.layer_mix,
        )
    network = Network(config, words, labels, TAGS)  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() < 2:
                parameter += 0.3 * torch.randn_like(parameter)
    return network.eval(), tokenizer


def features_of(
    network: Network, tokenizer: SubwordTokenizer, sentences: list[list[str]]
) -> Features:
    return feature_maker(network, tokenizer)(sentences)
