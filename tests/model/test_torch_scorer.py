"""Many sentences: batches inside, answers in order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.networks import LABELS, SENTENCES, TAGS, features_of, grammar, make
from treewright.charts import cell_count
from treewright.decode import decode
from treewright.errors import TreeError
from treewright.model.torch_scorer import TorchScorer, batches
from treewright.scorer import Description, Scorer
from treewright.text.subwords import Subwords


def scorer(encoder: str = "bert", batch_subwords: int = 4096, **changes: object) -> TorchScorer:
    network, tokenizer = make(encoder, **changes)
    description = Description(LABELS, TAGS, grammar())
    return TorchScorer(network.train(), tokenizer, description, batch_subwords=batch_subwords)


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_batches(sizes: list[int], most: int) -> None:
    sentences = [Subwords([0] * size, [0], [0]) for size in sizes]
    found = list(batches(sentences, most))
    assert sorted(b for batch in found for b in batch) == list(range(len(sizes)))
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(sizes[b] for b in batch) <= most


@pytest.mark.parametrize("encoder", ["bert", "characters"])
def test_answers_in_order_whatever_the_batches(encoder: str) -> None:
    whole: Scorer = scorer(encoder, dropout=0.5)
    single = scorer(encoder, batch_subwords=1, dropout=0.5)
    one, other = whole.score(SENTENCES), single.score(SENTENCES)
    assert one.lengths.tolist() == [len(words) for words in SENTENCES]
    assert one.rows.dtype == torch.float32
    assert one.rows.shape == (sum(cell_count(len(words)) for words in SENTENCES), len(LABELS))
    torch.testing.assert_close(one.rows, other.rows, atol=1e-5, rtol=1e-4)
    assert np.array_equal(one.tags, other.tags)
    assert set(one.tags.tolist()) <= set(range(len(TAGS)))
    assert not one.rows.requires_grad
    parses = decode(one.rows, whole.description.labels, grammar(), lengths=one.lengths)
    assert len(parses) == len(SENTENCES)


def test_same_as_the_network() -> None:
    some = scorer()
    with torch.no_grad():
        output = some.network(features_of(some.network, some.tokenizer, SENTENCES))
    scores = some.score(SENTENCES)
    torch.testing.assert_close(scores.rows, output.rows, atol=1e-5, rtol=1e-4)
    assert scores.tags.tolist() == output.tag_logits.argmax(-1).tolist()


def test_nothing_to_score() -> None:
    scores = scorer().score([])
    assert scores.rows.shape == (0, len(LABELS))
    assert len(scores.lengths) == len(scores.tags) == 0
    with pytest.raises(TreeError, match="sentence 2"):
        scorer().score([["a"], []])


def test_bf16_is_near() -> None:
    exact = scorer()
    half = TorchScorer(exact.network, exact.tokenizer, exact.description, bf16=True)
    one, other = exact.score(SENTENCES), half.score(SENTENCES)
    assert other.rows.dtype == torch.float32
    assert not torch.equal(one.rows, other.rows)
    torch.testing.assert_close(one.rows, other.rows, atol=0.2, rtol=0.1)


def test_without_tagger_every_tag_is_the_first() -> None:
    assert scorer(tagger_size=0).score([["a", "b"]]).tags.tolist() == [0, 0]
