"""The whole network: neighbours, padding, gradients, and its ways of scoring spans."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from model.networks import LABELS, SENTENCES, TAGS, features_of, make
from treewright.charts import cell_count, packed_index
from treewright.model.encoder import PretrainedEncoder
from treewright.model.network import _attention_kernels

KINDS = [
    ("characters", {}),
    ("bert", {"subwords": "first"}),
    ("bert", {"subwords": "mean", "layer_mix": True, "layers": 2}),
    ("bert", {"subwords": "last", "label_attention": False}),
    ("bert", {"layers": 0, "label_feed_forward_size": 0, "label_heads": 3}),
]


@pytest.mark.parametrize(("encoder", "changes"), KINDS)
def test_neighbours_change_nothing(encoder: str, changes: dict[str, object]) -> None:
    """Alone, in a batch, in another order: the same scores and tags of every sentence."""
    network, tokenizer = make(encoder, **changes)
    with torch.no_grad():
        together = network(features_of(network, tokenizer, SENTENCES))
        reversed_ = network(features_of(network, tokenizer, SENTENCES[::-1]))
    cells = [cell_count(len(words)) for words in SENTENCES]
    words = [len(sentence) for sentence in SENTENCES]
    in_batch = together.rows.split(cells)
    in_order = reversed_.rows.split(cells[::-1])[::-1]
    tags = together.tag_logits.split(words)
    for b, sentence in enumerate(SENTENCES):
        with torch.no_grad():
            alone = network(features_of(network, tokenizer, [sentence]))
        torch.testing.assert_close(in_batch[b], alone.rows, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(in_order[b], alone.rows, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(tags[b], alone.tag_logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(in_batch[0], in_batch[4], atol=1e-5, rtol=1e-4)  # the same words
    assert in_batch[0].std() > 1e-2  # or the comparison says nothing


def test_padding_changes_nothing() -> None:
    """More padding, of sub-words and of tokens, than the batch needs."""
    network, tokenizer = make("bert")
    features = features_of(network, tokenizer, SENTENCES[:1])
    wide = features_of(network, tokenizer, [*SENTENCES[:1], SENTENCES[1]])
    with torch.no_grad():
        got = network(features).rows
        padded = network(wide).rows[: len(got)]
    torch.testing.assert_close(got, padded, atol=1e-5, rtol=1e-4)


def test_words_matter() -> None:
    """And so do their order and their neighbours within the sentence."""
    network, tokenizer = make("bert")
    sentences = [["a", "b", "c"], ["a", "b", "d"], ["b", "a", "c"]]
    with torch.no_grad():
        one, other, swapped = network(features_of(network, tokenizer, sentences)).rows.split(6)
    at = packed_index(3, 0, 2)
    assert not torch.allclose(one[at], other[at], atol=1e-4)
    assert not torch.allclose(one[at], swapped[at], atol=1e-4)


@pytest.mark.parametrize("null", ["zero", "learned"])
@pytest.mark.parametrize("training", [False, True])
def test_span_scores_are_those_of_the_chart(null: str, training: bool) -> None:
    network, tokenizer = make(null=null, dropout=0.3, attention_dropout=0.3)
    network.train(training)
    features = features_of(network, tokenizer, SENTENCES)
    encoded = network.encode(features)
    with torch.no_grad():
        rows = network.chart(encoded)
    spans = [
        (b, i, j, column)
        for b, words in enumerate(SENTENCES)
        for i in range(len(words))
        for j in range(i + 1, len(words) + 1)
        for column in range(len(LABELS))
    ]
    sentences, begins, ends, columns = map(torch.tensor, zip(*spans, strict=True))
    live = network.span_scores(encoded, sentences, begins, ends, columns)
    torch.testing.assert_close(live.detach(), rows.flatten())
    assert live.requires_grad
    live.sum().backward()
    assert all(parameter.grad is not None for parameter in network.scorer.parameters())


@pytest.mark.parametrize(("encoder", "changes"), KINDS)
def test_every_parameter_has_a_gradient(encoder: str, changes: dict[str, object]) -> None:
    """Or training in several processes would wait for it."""
    network, tokenizer = make(encoder, **changes)
    output = network(features_of(network, tokenizer, SENTENCES))
    (output.rows.square().sum() + output.tag_logits.square().sum()).backward()
    missing = [name for name, p in network.named_parameters() if p.grad is None]
    assert not missing


@pytest.mark.parametrize(("encoder", "changes"), KINDS)
def test_gradients_match_finite_differences(encoder: str, changes: dict[str, object]) -> None:
    """Along a random direction of each parameter, in float64."""
    network, tokenizer = make(encoder, **changes)
    network.double()
    features = features_of(network, tokenizer, SENTENCES[:3])
    torch.manual_seed(3)
    first = network(features)
    at_rows, at_tags = torch.randn_like(first.rows), torch.randn_like(first.tag_logits)

    def value() -> torch.Tensor:
        output = network(features)
        return (output.rows * at_rows).sum() + (output.tag_logits * at_tags).sum()

    value().backward()
    step = 1e-6
    for name, parameter in network.named_parameters():
        direction = torch.randn_like(parameter)
        wanted = float((parameter.grad * direction).sum())
        with torch.no_grad():
            parameter += step * direction
            above = float(value())
            parameter -= 2 * step * direction
            below = float(value())
            parameter += step * direction
        assert (above - below) / (2 * step) == pytest.approx(wanted, rel=1e-4, abs=1e-5), name


def test_scores_are_float32_under_autocast() -> None:
    network, tokenizer = make("bert")
    features = features_of(network, tokenizer, SENTENCES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        encoded = network.encode(features)
        rows = network.chart(encoded)
    assert encoded.fenceposts.dtype == rows.dtype == torch.float32
    # Differences far below what bfloat16 can tell apart are there
    with torch.no_grad():
        assert len(torch.unique(rows[:, 2])) > len(torch.unique(rows[:, 2].bfloat16()))
        torch.testing.assert_close(rows, network(features).rows, atol=0.2, rtol=0.1)


def test_one_head_a_label() -> None:
    assert make()[0].config.label_heads == 4
    assert make(label_heads=7)[0].config.label_heads == 7
    assert make(labels=("@", "$"))[0].config.label_heads == 1


def test_extended() -> None:
    """New labels and tags begin anew; old ones score as before, wherever their columns are."""
    network, tokenizer = make()
    features = features_of(network, tokenizer, SENTENCES)
    labels = ("@", "$", "ADJP", "NP", "S", "S::VP", "VP")
    wider = network.extended(labels, ("JJ", *TAGS))
    with torch.no_grad():
        old, new = network(features), wider(features)
    keep = [labels.index(label) for label in LABELS]
    torch.testing.assert_close(new.rows[:, keep], old.rows)
    torch.testing.assert_close(new.tag_logits[:, 1:], old.tag_logits)
    assert new.rows[:, 2].std() > 0
    assert wider.config.label_heads == network.config.label_heads
    without = network.extended(LABELS[:3], TAGS[:1])
    with torch.no_grad():
        torch.testing.assert_close(without(features).rows, old.rows[:, :3])


def test_without_tagger() -> None:
    network, tokenizer = make(tagger_size=0)
    assert network(features_of(network, tokenizer, SENTENCES)).tag_logits is None


def test_two_groups_of_parameters() -> None:
    network, _ = make("bert", layer_mix=True)
    groups = Counter(map(id, network.encoder_parameters()))
    groups.update(map(id, network.top_parameters()))
    assert groups == Counter(map(id, network.parameters()))
    assert isinstance(network.encoder, PretrainedEncoder)
    assert id(network.encoder.mix.scale) in set(map(id, network.encoder_parameters()))


def test_no_kernel_that_plans_each_shape_anew_on_an_accelerator() -> None:
    before = torch.backends.cuda.cudnn_sdp_enabled()
    with _attention_kernels(torch.device("cuda")):
        assert not torch.backends.cuda.cudnn_sdp_enabled()
        assert torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.cudnn_sdp_enabled() == before
