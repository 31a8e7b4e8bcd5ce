"""An exported model says what PyTorch says, whatever it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from export.making import exported
from model.networks import SENTENCES, grammar, make, wordpieces
from treewright.decode import decode
from treewright.model.build import feature_maker
from treewright.model.config import ModelConfig
from treewright.model.encoder import PretrainedEncoder
from treewright.model.network import Network
from treewright.model.torch_scorer import TorchScorer
from treewright.runtime import OnnxScorer

# Words of many sub-words, and sentences that take several windows
LONG = [
    *SENTENCES,
    ["abcdefghijklmnopqrstuvwxyz" * 8, "in", "the", "middle"],
    [f"word{number % 7}" for number in range(90)],
    [f"w{number % 5}" for number in range(89)],
]

MADE = {
    "bert": {"encoder": "bert"},
    "bert of first sub-words": {"encoder": "bert", "subwords": "first"},
    "bert of last sub-words": {"encoder": "bert", "subwords": "last"},
    "bert, layers mixed": {"encoder": "bert", "layer_mix": True},
    "characters": {"encoder": "characters"},
    "characters in windows": {"encoder": "characters", "window": 40, "overlap": 10},
    "without self-attention": {"layers": 0},
    "three layers of self-attention": {"layers": 3},
    "without label attention": {"label_attention": False, "model_size": 18},
    "few label heads": {"label_heads": 2},
    "no feed-forward over labels": {"label_feed_forward_size": 0},
    "learned nulls": {"null": "learned"},
    "no tagger": {"tagger_size": 0},
}


def assert_same(one: TorchScorer, other: OnnxScorer) -> None:
    assert other.description == one.description
    expected, found = one.score(LONG), other.score(LONG)
    assert isinstance(found.rows, np.ndarray)
    assert found.rows.dtype == np.float32
    np.testing.assert_array_equal(found.lengths, expected.lengths)
    np.testing.assert_allclose(found.rows, expected.rows.numpy(), atol=2e-5, rtol=1e-4)
    np.testing.assert_array_equal(found.tags, expected.tags)
    trees = [
        [
            parse.spans
            for parse in decode(
                np.asarray(scores.rows), one.description.labels, grammar(), lengths=scores.lengths
            )
        ]
        for scores in (expected, found)
    ]
    assert trees[0] == trees[1]


@pytest.mark.parametrize("name", MADE)
def test_same_as_torch(name: str, tmp_path: Path) -> None:
    assert_same(*exported(tmp_path, *make(**MADE[name])))  # type: ignore[arg-type]


def _model(kind: str, vocabulary: int) -> torch.nn.Module:
    import transformers as hf

    sizes = {
        "vocab_size": vocabulary,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "max_position_embeddings": 64,
    }
    configs: dict[str, Any] = {
        "roberta": lambda: hf.RobertaConfig(**sizes, pad_token_id=0),
        "electra": lambda: hf.ElectraConfig(**sizes, embedding_size=8),
        "distilbert": lambda: hf.DistilBertConfig(
            vocab_size=vocabulary,
            dim=16,
            n_layers=2,
            n_heads=2,
            hidden_dim=24,
            max_position_embeddings=64,
        ),
    }
    return hf.AutoModel.from_config(configs[kind]())  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["roberta", "electra"])
def test_other_encoders_of_berts_kind(kind: str, tmp_path: Path) -> None:
    _test_encoder(kind, tmp_path)


def test_an_encoder_that_is_traced(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="PyTorch traces with onnxscript")
    _test_encoder("distilbert", tmp_path)


def _test_encoder(kind: str, folder: Path) -> None:
    tokenizer = wordpieces()
    network, _ = make("bert")
    torch.manual_seed(0)
    encoder = PretrainedEncoder(_model(kind, tokenizer.vocab_size), pooling="mean", layer_mix=False)
    config: ModelConfig = network.config
    network = Network(config, encoder, network.labels, network.tags)
    assert feature_maker(network, tokenizer).reach.limit == encoder.window - 2
    assert_same(*exported(folder, network, tokenizer))
