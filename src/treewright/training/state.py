"""What a run must remember to go on as if nothing had happened.

Owns one file, written beside and renamed, that holds weights, optimizer, schedule, place in the
epoch and the states of all random numbers; and what is said when the disk is full. It is read with
`weights_only=True`: numbers, texts and tensors, no code. It belongs to the run, not to the model,
and is no use to anybody else.
"""

from __future__ import annotations

import errno
import os
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from treewright.errors import CheckpointError, OutputError, Place, SettingError, TrainingError
from treewright.settings import to_table
from treewright.training.config import TrainConfig
from treewright.training.setup import Materials

VERSION = 2

# Settings that a run may go on with though it began with others
_FREE = frozenset({"train", "dev", "out", "name", "epochs", "max_minutes", "piece_subwords"})

# What the system says where no more can be written
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def save_state(state: dict[str, Any], path: Path) -> None:
    """Write the state of a run in place of an older one."""
    with writing(path):
        descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(descriptor, "wb") as handle:
                torch.save({"version": VERSION, **state}, handle)
                handle.flush()
                os.fsync(handle.fileno())
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


def load_state(path: Path) -> dict[str, Any]:
    """The state of a run, tensors in the memory of the CPU."""
    place = Place(str(path))
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # there is none that noise in place of a pickle could not raise
        first = str(error).partition("\n")[0] or type(error).__name__
        raise CheckpointError(f"is damaged: {first}", place) from None
    if not isinstance(state, dict) or state.get("version") != VERSION:
        raise CheckpointError(f"is no state of a run that version {VERSION} can read", place)
    return state


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what fails while a run writes into one line, which says what to do with a full disk."""
    try:
        yield
    except (OutputError, OSError, RuntimeError) as error:
        # Our own errors and torch's are in words of their own, with the system's behind them.
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OSError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, OutputError):
            reason, place = error.message, error.place
        elif cause is not None or "write" in str(error):
            reason = (cause.strerror if cause is not None else None) or "cannot be written"
            place = Place(str(path))
        else:
            raise
        if cause is not None and cause.errno in _FULL:
            reason += ": what was written before is whole; make room and go on with --resume"
        raise OutputError(reason, place) from error


def identity(start: str | None, made: Materials) -> dict[str, Any]:
    """What makes a run the same run, its settings apart."""
    return {
        "data": {"train": made.train.sha256, "dev": made.dev.sha256},
        "start": start,
        "labels": list(made.labels.names),
        "tags": list(made.description.tags),
    }


def check_same(
    state: Mapping[str, Any], config: TrainConfig, start: str | None, made: Materials
) -> None:
    """Refuse to go on with other trees, settings or models than a run began with."""
    now = identity(start, made)
    for part, treebank in (("train", made.train), ("dev", made.dev)):
        if state["data"][part] != now["data"][part]:
            message = f"{treebank.file} does not hold the trees that the run began with"
            raise TrainingError(message)
    if not _same_path(state["start"], start):
        began = "no model" if state["start"] is None else repr(state["start"])
        raise SettingError(f"the run began with {began} to go on from: say the same again (--from)")
    if any(state[key] != now[key] for key in ("labels", "tags")):
        raise TrainingError(f"{start} is not the model that the run began with")
    settings, then = _flat(to_table(config)), _flat(state["config"])
    for key in settings:
        if key not in _FREE and settings[key] != then.get(key):
            message = f"{key!r} is {settings[key]!r}, but the run began with {then.get(key)!r}"
            raise SettingError(f"{message}: go on with what it began with")


def _same_path(one: str | None, other: str | None) -> bool:
    """Whether two texts name one directory, as `m1`, `m1/` and `./m1` do."""
    if one is None or other is None:
        return one is other
    return Path(one).resolve() == Path(other).resolve()


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A table's values by their dotted keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{key}.")
        else:
            found[before + key] = value
    return found


def random_state() -> dict[str, Any]:
    """The states of all random numbers of this process."""
    state: Any = np.random.get_state(legacy=True)
    kind, keys, position, has_gauss, cached = state
    accelerators = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {
        "python": random.getstate(),
        "numpy": (kind, torch.from_numpy(keys.astype(np.int64)), position, has_gauss, cached),
        "torch": torch.get_rng_state(),
        "cuda": accelerators,
    }


def restore_random_state(state: dict[str, Any]) -> None:
    """Go on with random numbers where they were."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    kind, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, cached))
    torch.set_rng_state(state["torch"])
    if state["cuda"] and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])
