"""Small tensors are fastest on one thread, and on a busy machine far the fastest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from optional import torch


@pytest.fixture(autouse=True, scope="session")
def one_torch_thread() -> Iterator[None]:
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The batched form is one of PyTorch's operations."""
    skip = pytest.mark.skip(reason="the batched form wants PyTorch, of the extra `train`")
    for item in items:
        called = getattr(item, "callspec", None)
        if torch is None and called is not None and called.params.get("method") == "batched":
            item.add_marker(skip)
