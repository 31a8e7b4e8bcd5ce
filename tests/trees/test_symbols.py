"""Symbols round-trip, whatever stands in the labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.errors import TreeError
from treewright.trees.symbols import is_mark, is_null, join_chain, mark_of, split_chain

ODD = st.text(alphabet="SN:$@\\e-", max_size=4)


@given(st.lists(st.one_of(ODD, st.text(max_size=4)), min_size=1, max_size=4).map(tuple))
def test_every_chain_round_trips(chain: tuple[str, ...]) -> None:
    symbol = join_chain(chain)
    assert split_chain(symbol) == chain
    assert not is_null(symbol)


@given(st.lists(st.lists(ODD, min_size=1, max_size=3).map(tuple), unique=True, max_size=8))
def test_different_chains_have_different_symbols(chains: list[tuple[str, ...]]) -> None:
    assert len({join_chain(chain) for chain in chains}) == len(chains)


def test_plain_labels_stand_as_they_are() -> None:
    assert join_chain(("S", "VP")) == "S::VP"
    assert join_chain(("NP|X",)) == "NP|X"
    assert join_chain(("PRP$",)) == "PRP$"


def test_nulls_are_no_chains() -> None:
    assert split_chain("@") == split_chain("$") == split_chain("$NP") == ()
    assert is_mark("$NP")
    assert not is_mark("@")
    assert not is_mark(join_chain(("$",)))
    assert (mark_of("$", "NP"), mark_of("$+left", "NP")) == ("$", "$NP")


def test_an_empty_chain_is_refused() -> None:
    with pytest.raises(TreeError):
        join_chain(())
