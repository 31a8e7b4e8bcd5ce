"""Dropout is torch's in all that matters: shares, scale, gradients, the seed, evaluation."""

from __future__ import annotations

import doctest

import pytest
import torch
from torch import nn

from model.networks import make
from treewright.model import dropout
from treewright.model.dropout import Dropout, quicken


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_share_and_scale(share: float, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    x = torch.ones(333, 1001, dtype=dtype, requires_grad=True)
    y = Dropout(share)(x)
    kept = y != 0
    assert y.dtype == dtype
    assert kept.double().mean().item() == pytest.approx(1 - share, abs=3e-3)
    for way in (0, 1):  # everywhere alike: each column and each row
        assert kept.double().mean(way).std().item() < 0.03
    torch.testing.assert_close(
        y[kept], torch.full_like(y[kept], 1 / (1 - share)), rtol=1e-2, atol=0
    )
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_neighbours_are_independent() -> None:
    """Numbers that share a draw too."""
    torch.manual_seed(2)
    kept = (Dropout(0.5)(torch.ones(400_000)) > 0).double().view(-1, 4)
    correlations = torch.corrcoef(kept.T) - torch.eye(4, dtype=torch.float64)
    assert correlations.abs().max().item() < 0.02


def test_the_seed_decides() -> None:
    x = torch.ones(7, 13)
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(Dropout(0.5)(x))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize(("share", "kept"), [(0.0, 1.0), (1.0, 0.0), (1e-7, 1.0000001)])
def test_all_and_nothing(share: float, kept: float) -> None:
    assert Dropout(share)(torch.ones(50)).mean().item() == pytest.approx(kept)


def test_nothing_in_evaluation_and_of_no_numbers() -> None:
    x = torch.randn(3, 5)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert Dropout(0.5)(torch.empty(0, 4)).shape == (0, 4)


def test_an_encoder_s_own_are_replaced() -> None:
    network, _ = make("bert")
    kinds = {type(module) for module in network.modules() if isinstance(module, nn.Dropout)}
    assert kinds == {Dropout}
    other = nn.Sequential(nn.Dropout(0.3))
    quicken(other)
    assert (type(other[0]), other[0].p) == (Dropout, 0.3)


def test_docstrings() -> None:
    assert doctest.testmod(dropout).failed == 0
