"""Every layer against its literal form, on batches of sentences of different lengths."""

from __future__ import annotations

import pytest
import torch

from model import literal
from model.networks import LABELS, SENTENCES, features_of, make
from treewright.model.attention import Halves, sinusoids
from treewright.model.encoder import LayerMix, pool
from treewright.model.features import Features, layout
from treewright.model.label_attention import LabelAttention


def some_features(lengths: list[int]) -> Features:
    """Features of sentences that no encoder reads."""
    none = torch.zeros(0, dtype=torch.int64)
    rest = dict.fromkeys(("ids", "mask", "first", "last", "pieces", "owners"), none)
    return Features(lengths=tuple(lengths), **rest, **layout(lengths))


def halves(features: Features, half: int) -> Halves:
    shape = (len(features.sentences), half)
    return Halves(torch.randn(shape).double(), torch.randn(shape).double())


@pytest.mark.parametrize("lengths", [[1], [5], [1, 7, 3], [2, 2, 9, 1]])
def test_self_attention(lengths: list[int]) -> None:
    network, _ = make()
    features = some_features(lengths)
    layer = network.double().layers[0].attention
    x = halves(features, 8)
    got, wanted = layer(x, features), literal.self_attention(layer, x, features)
    torch.testing.assert_close(got.content, wanted.content)
    torch.testing.assert_close(got.position, wanted.position)


@pytest.mark.parametrize("heads", [1, 5])
@pytest.mark.parametrize("lengths", [[1], [1, 7, 3], [4, 4, 4]])
def test_label_attention(lengths: list[int], heads: int) -> None:
    torch.manual_seed(1)
    layer = LabelAttention(
        half=6,
        heads=heads,
        key_half=3,
        output_size=4,
        feed_forward_size=8,
        dropout=0.0,
        attention_dropout=0.0,
    ).double()
    torch.nn.init.normal_(layer.norm.weight)
    features = some_features(lengths)
    x = halves(features, 6)
    wanted = literal.label_attention(layer, x, features)
    torch.testing.assert_close(layer.attend(x, features), wanted)
    flat = wanted.flatten(1)
    wanted = layer.norm_feed_forward(flat + layer.feed_forward(flat)).view_as(wanted)
    torch.testing.assert_close(layer(x, features), wanted)


@pytest.mark.parametrize("null", ["zero", "learned"])
@pytest.mark.parametrize("labels", [LABELS, ("NP", "$", "VP", "@"), ("@", "$@", "$NP", "NP")])
def test_span_scorer(null: str, labels: tuple[str, ...]) -> None:
    """W1 of fenceposts is W1 of spans; columns in any order; nulls as asked for."""
    network, _ = make(null=null, labels=labels)
    scorer = network.double().scorer
    features = some_features([1, 4, 2])
    said = torch.randn(len(features.sentences), network.config.label_heads, 4).double()
    posts = scorer.fenceposts(said, features)
    assert posts.shape == (1 + 4 + 2 + 3, 10)
    begins, ends = torch.tensor([0, 2, 2, 8]), torch.tensor([1, 3, 6, 9])
    rows = scorer.rows_of(posts, begins, ends)
    wanted = literal.chart(scorer, said, features)
    # (0,1) of the first; (0,1), (0,4) of the second; (1,2) of the third
    torch.testing.assert_close(rows, wanted[torch.tensor([0, 1, 4, 13])])
    zero = {"@", "$"} if null == "zero" else set()
    for column, label in enumerate(labels):
        assert bool((rows[:, column] == 0).all()) == (label in zero)


def test_scorer_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    network, tokenizer = make()
    features = features_of(network, tokenizer, SENTENCES)
    whole = network(features).rows
    monkeypatch.setattr("treewright.model.span_scorer._CELLS", 7)
    with torch.no_grad():
        rows = network(features).rows
    torch.testing.assert_close(rows, whole.detach())


def test_content_and_position_stay_apart() -> None:
    """Where attention weights are equal, what position is says nothing of content."""
    network, _ = make()
    features = some_features([4])
    layer = network.double().layers[0]
    for linear in (layer.attention.project_in.content, layer.attention.project_in.position):
        torch.nn.init.zeros_(linear.weight[: 4 * 2 * layer.attention.heads])  # queries and keys
    x = halves(features, 8)
    other = Halves(x.content, torch.randn_like(x.position))
    got, changed = layer(x, features), layer(other, features)
    torch.testing.assert_close(got.content, changed.content)
    assert not torch.allclose(got.position, changed.position)


def test_sinusoids_tell_positions_apart() -> None:
    waves = sinusoids(torch.arange(3000).float(), 16)
    assert waves.shape == (3000, 16)
    assert torch.cdist(waves, waves).fill_diagonal_(1.0).min() > 1e-3
    torch.testing.assert_close(waves[0], torch.tensor([0.0] * 8 + [1.0] * 8))


def test_pooling() -> None:
    network, tokenizer = make("bert")
    features = features_of(network, tokenizer, [["abc", "d"], ["efghi"]])
    vectors = torch.randn(*features.ids.shape, 3)
    one, two = vectors
    torch.testing.assert_close(
        pool(vectors, features, "first"), torch.stack([*one[[0, 1, 3, 4]], *two[[0, 1, 4]]])
    )
    torch.testing.assert_close(
        pool(vectors, features, "last"), torch.stack([*one[[0, 2, 3, 4]], *two[[0, 3, 4]]])
    )
    means = [one[0], one[1:3].mean(0), one[3], one[4], two[0], two[1:4].mean(0), two[4]]
    torch.testing.assert_close(pool(vectors, features, "mean"), torch.stack(means))


def test_layer_mix() -> None:
    mix = LayerMix(3)
    layers = tuple(torch.randn(3, 2, 4))
    torch.testing.assert_close(mix(layers), torch.stack(layers).mean(0))
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, 50.0, 0.0]))
        mix.scale.fill_(2.0)
    torch.testing.assert_close(mix(layers), 2 * layers[1])
