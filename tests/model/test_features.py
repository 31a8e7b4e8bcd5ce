"""From words to indices: windows, tokens, padding."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.networks import SENTENCES, features_of, make
from treewright.charts import cell_count
from treewright.errors import SettingError, TreeError
from treewright.model.build import feature_maker
from treewright.model.features import FeatureMaker, layout


def test_small_batch() -> None:
    _, tokenizer = make("bert")
    features = FeatureMaker(tokenizer, window=64, overlap=8)([["abc", "d"], ["efghi"]])
    assert features.lengths == (2, 1)
    assert features.ids.shape == (2, 5)
    assert features.mask.sum(1).tolist() == [5, 5]
    assert features.first.tolist() == [0, 1, 3, 4, 5, 6, 9]
    assert features.last.tolist() == [0, 2, 3, 4, 5, 8, 9]
    assert features.pieces.tolist() == list(range(10))
    assert features.owners.tolist() == [0, 1, 1, 2, 3, 4, 5, 5, 5, 6]
    assert features.positions.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert features.words.tolist() == [1, 2, 5]
    assert features.left.tolist() == [0, 1, 2, 4, 5]
    assert features.right.tolist() == [1, 2, 3, 5, 6]
    assert features.real.tolist() == [[True] * 4, [True] * 3 + [False]]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_layout(lengths: list[int]) -> None:
    """Packed to padded and back; padding repeats a token of its own sentence."""
    found = layout(lengths)
    tokens = [n + 2 for n in lengths]
    assert len(found["positions"]) == sum(tokens)
    assert found["rows"][found["places"]].tolist() == list(range(sum(tokens)))
    padded = found["sentences"][found["rows"]].view(len(lengths), -1)
    assert (padded == torch.arange(len(lengths)).unsqueeze(1)).all()
    assert found["real"].sum(1).tolist() == tokens
    assert found["real"].flatten()[found["places"]].all()
    assert len(found["words"]) == sum(lengths)


@pytest.mark.parametrize("encoder", ["bert", "characters"])
@pytest.mark.parametrize("window", [5, 9, 20])
def test_windows_are_stitched(encoder: str, window: int) -> None:
    """Every token's vector is what the encoder says of it in the window that keeps it."""
    network, tokenizer = make(encoder, window=window, overlap=3)
    words = SENTENCES[1] + SENTENCES[3]
    features = features_of(network, tokenizer, [["one"], words, ["a"]])
    assert len(features.ids) > 3
    with torch.no_grad():
        together = network.encoder(features)[3 : 3 + len(words) + 2]
    assert len(together) == len(words) + 2
    assert features.ids.shape[1] <= window
    # The ids found at each token's place are the token's own
    flat = features.ids.flatten()
    whole = tokenizer.encode([words])[0]
    for word in range(len(words)):
        token = 3 + 1 + word
        ids = flat[int(features.first[token]) : int(features.last[token]) + 1].tolist()
        wanted = whole.ids[whole.first[word] : whole.last[word] + 1]
        if len(wanted) <= window - tokenizer.n_special:
            assert ids == wanted
        else:  # a word longer than a window loses its middle
            assert ids[0] == wanted[0]
            assert ids[-1] == wanted[-1]


def test_no_word_reads_beyond_its_window() -> None:
    """A pretrained encoder's positions are never exceeded, however long the sentence."""
    network, tokenizer = make("bert", positions=16)
    assert network.encoder.window == 16
    maker = feature_maker(network, tokenizer)
    features = maker([["abcdef", "gh"] * 30, ["x" * 100], ["a"]])
    assert features.ids.shape[1] <= 16
    with torch.no_grad():
        rows = network(features).rows
    assert len(rows) == cell_count(60) + 2
    assert torch.isfinite(rows).all()


def test_two_thousand_words() -> None:
    network, tokenizer = make("bert")
    features = features_of(network, tokenizer, [["word", "of", "many"] * 667])
    with torch.no_grad():
        rows = network(features).rows
    assert len(rows) == cell_count(2001)
    assert torch.isfinite(rows).all()


def test_refusals() -> None:
    network, tokenizer = make("bert")
    with pytest.raises(TreeError, match="sentence 2: a sentence has at least one word"):
        feature_maker(network, tokenizer).tokenize([["a"], []])
    with pytest.raises(SettingError, match="a window of 2 sub-words leaves no room"):
        FeatureMaker(tokenizer, window=2, overlap=0)


def test_odd_words_of_characters() -> None:
    network, tokenizer = make()
    odd = ["", " ", "\x00", "\u200b", "né", "汉字", "😀" * 3, "-LRB-", "\ud800", "a b", "\n"]
    features = features_of(network, tokenizer, [odd, ["a"]])
    assert features.lengths == (len(odd), 1)
    with torch.no_grad():
        assert torch.isfinite(network(features).rows).all()
