"""A run that ended too early goes on, and ends as if nothing had happened, to the bit."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock

from training.made import Watch, figures, made_trees, metrics, quick, same_weights, weights, write
from treewright.errors import (
    CheckpointError,
    Interrupted,
    OutputError,
    SettingError,
    TrainingError,
)
from treewright.files import atomic_write
from treewright.training.config import TrainConfig, load_config
from treewright.training.dev import Dev
from treewright.training.loop import Run, train
from treewright.training.observer import Progress
from treewright.training.record import Record
from treewright.training.state import load_state, writing

# Dropout, an average, a schedule with a memory, learned rule scores: all that a run must remember
FULL = (
    *("epochs=4", "checks_per_epoch=2", "average=0.9", "rule_scores=learned"),
    *("schedule=plateau", "patience=1", "halvings=9"),
)


def at_step(step: int, act: Callable[[], object]) -> Watch:
    def after(progress: Progress) -> None:
        if progress.step == step:
            act()

    return Watch(after)


def folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    config = quick(tmp_path_factory.mktemp("unharmed"), *FULL)
    train(config)
    return config


def check_same_end(config: TrainConfig, unharmed: TrainConfig) -> None:
    for name in ("model", "model.resume/last"):
        ours, theirs = (Path(c.out).parent / name for c in (config, unharmed))
        assert same_weights(ours, theirs), name
        for file in ("treewright.json", "grammar.json"):
            assert (ours / file).read_bytes() == (theirs / file).read_bytes()
    assert figures(metrics(config.out)) == figures(metrics(unharmed.out))


@pytest.mark.parametrize("step", [1, 2, 5, 8])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["terminate", "ctrl-c"])
def test_signals(number: signal.Signals, step: int, unharmed: TrainConfig, tmp_path: Path) -> None:
    """The step is finished, everything kept, and the message says how to go on."""
    before = signal.getsignal(number)
    config = quick(tmp_path, *FULL)
    watch = at_step(step, lambda: os.kill(os.getpid(), number))
    with pytest.raises(Interrupted, match=f"stopped after step {step};.*with the same command"):
        train(config, observer=watch)
    assert signal.getsignal(number) == before
    again = Watch()
    train(config, resume=True, observer=again)
    assert again.steps[0].step == step + 1
    assert f"going on after step {step}, epoch {1 + step // 3}" in again.messages
    check_same_end(config, unharmed)


_KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from pathlib import Path
from training.made import quick
from training.test_resume import FULL, at_step
from treewright.training.loop import train
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
train(quick(Path(sys.argv[1]), *FULL), observer=at_step(8, kill))
"""


def test_killed(unharmed: TrainConfig, tmp_path: Path) -> None:
    """SIGKILL between checks: steps 7 and 8 are lost and done again."""
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    watch = Watch()
    config = quick(tmp_path, *FULL)
    train(config, resume=True, observer=watch)
    assert watch.steps[0].step == 7
    check_same_end(config, unharmed)


class Killed(BaseException):
    """Stands for a kill at a chosen line."""


@pytest.mark.parametrize(
    ("victim", "count"),
    [("_save", 1), ("save", 2), ("save", 3), ("_score_dev", 1), ("_score_dev", 3), ("finish", 1)],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_writing(
    victim: str,
    count: int,
    when: str,
    unharmed: TrainConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever a check of dev or the end is cut, there is a state to go on from."""
    real = getattr(Run, victim)
    calls = 0

    def cut(run: Run, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        last = calls == count
        if last and when == "before":
            raise Killed
        result = real(run, *arguments, **named)
        if last:
            raise Killed
        return result

    config = quick(tmp_path, *FULL)
    monkeypatch.setattr(Run, victim, cut)
    with pytest.raises(Killed):
        train(config)
    monkeypatch.setattr(Run, victim, real)
    train(config, resume=True)
    check_same_end(config, unharmed)


def test_killed_before_the_end_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is finished, the record is not: it must not be lifted for a second time."""
    unharmed = quick(folder(tmp_path / "unharmed"))
    assert train(unharmed).figures["lift"] > 0, "or this tests nothing"
    config = quick(folder(tmp_path / "killed"))

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Record, "finish", killed)
        with pytest.raises(Killed):
            train(config)
    train(config, resume=True)
    check_same_end(config, unharmed)


def test_ctrl_c_while_the_model_is_finished(
    unharmed: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = quick(tmp_path, *FULL)

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Dev, "lift", pressed)
        with pytest.raises(Interrupted, match=r"best model was finished; .* and --resume"):
            train(config)
    train(config, resume=True)
    check_same_end(config, unharmed)


def test_killed_between_two_renames(unharmed: TrainConfig, tmp_path: Path) -> None:
    """Where directories cannot be swapped at once, a kill can leave the model aside."""
    config = quick(tmp_path, *FULL)
    with pytest.raises(Interrupted):
        train(config, observer=at_step(8, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    aside = folder(tmp_path / ".model.abcdefgh")
    (tmp_path / "model").rename(aside / "old")
    train(config, resume=True)
    check_same_end(config, unharmed)
    assert not aside.exists()


def test_nobody_else_trains_at_the_same_place(tmp_path: Path) -> None:
    config = quick(tmp_path)
    refused: list[str] = []

    def another() -> None:
        with pytest.raises(SettingError) as error:
            train(config, resume=True)
        refused.append(str(error.value))

    train(config, observer=at_step(2, another))
    assert refused == [f"{config.out}: 'out' is being trained by another process"]
    train(config, resume=True)


@pytest.mark.parametrize("error", [NotImplementedError, OSError(errno.ENOLCK, "No locks")])
def test_a_file_system_without_locks(
    error: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def acquire(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(FileLock, "acquire", acquire)
    train(quick(tmp_path))


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    config = quick(tmp_path, "epochs=2")
    train(config)
    before = weights(config.out)
    watch = Watch()
    train(config, resume=True, observer=watch)
    assert not watch.steps
    assert all(torch.equal(value, before[name]) for name, value in weights(config.out).items())


def test_more_epochs_may_be_asked_for(tmp_path: Path) -> None:
    config = quick(tmp_path, "epochs=2")
    train(config)
    watch = Watch()
    train(replace(config, epochs=3), resume=True, observer=watch)
    assert [progress.step for progress in watch.steps] == [7, 8, 9]
    assert load_config(str(Path(config.out) / "run" / "config.toml")).epochs == 3


def test_trained_in_a_thread(tmp_path: Path) -> None:
    """Where signals cannot be watched."""
    results: list[float] = []
    config = quick(tmp_path)
    thread = threading.Thread(target=lambda: results.append(train(config).f1))
    thread.start()
    thread.join()
    assert len(results) == 1


# What is refused


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    config = quick(tmp_path_factory.mktemp("stopped"), "epochs=1")
    train(config)
    return config


def test_killed_before_the_first_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing to resume, and nothing in the way of beginning again."""
    with monkeypatch.context() as patched:
        patched.setattr(Run, "save", lambda _: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            train(quick(tmp_path))
    assert (tmp_path / "model" / "run" / "config.toml").exists()
    with pytest.raises(CheckpointError, match="is missing"):
        train(quick(tmp_path), resume=True)
    train(quick(tmp_path))


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"state\.pt: is missing: .* begin it without"):
        train(quick(tmp_path), resume=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"top_rate": 0.5}, "'top_rate' is 0.5, but the run began with 0.004"),
        ({"lambda_": 0.9}, "'lambda' is 0.9, but the run began with 0.4"),
        ({"batch_size": 11}, "'batch_size' is 11, but the run began with 10"),
    ],
)
def test_other_settings(changes: dict[str, Any], message: str, stopped: TrainConfig) -> None:
    with pytest.raises(SettingError) as error:
        train(replace(stopped, **changes), resume=True)
    assert message in str(error.value)


def test_other_network(stopped: TrainConfig) -> None:
    model = replace(stopped.model, layers=2)
    with pytest.raises(SettingError, match=r"'model\.layers' is 2, but the run began with 1"):
        train(replace(stopped, model=model), resume=True)


def test_other_trees(stopped: TrainConfig, tmp_path: Path) -> None:
    for part in ("train", "dev"):
        other = write(tmp_path / "other.mrg", made_trees(9, seed=5))
        with pytest.raises(TrainingError, match=r"other\.mrg does not hold the trees that"):
            train(replace(stopped, **{part: other}), resume=True)


def test_trees_that_moved_are_the_same_trees(stopped: TrainConfig, tmp_path: Path) -> None:
    (tmp_path / "moved.mrg").write_bytes(Path(stopped.train).read_bytes())
    train(replace(stopped, train=str(tmp_path / "moved.mrg")), resume=True)


def test_begun_from_a_model(stopped: TrainConfig, tmp_path: Path) -> None:
    """`--from` belongs to the run; a model that has changed since is no longer its own."""
    config = quick(tmp_path)
    train(config, start=stopped.out)
    with pytest.raises(SettingError, match=r"the run began with .* to go on from: say the same"):
        train(config, resume=True)
    with pytest.raises(SettingError, match="the run began with no model to go on from"):
        train(stopped, start=str(tmp_path / "model"), resume=True)
    train(config, start=stopped.out, resume=True)


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "other"])
def test_damaged_state(damage: str, stopped: TrainConfig, tmp_path: Path) -> None:
    aside = folder(tmp_path / "model.resume")
    data = (Path(stopped.out).parent / "model.resume" / "state.pt").read_bytes()
    texts = {"empty": b"", "cut": data[: len(data) // 2], "noise": bytes(range(256)) * 9}
    if damage == "other":
        torch.save({"version": 99}, aside / "state.pt")
    else:
        (aside / "state.pt").write_bytes(texts[damage])
    with pytest.raises(CheckpointError) as error:
        train(replace(stopped, out=str(tmp_path / "model")), resume=True)
    assert str(error.value).startswith(f"{aside / 'state.pt'}: is ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", [b"a.", b"J\x01.", b"}]K\x01s.", b"K\x01R."])
def test_noise_for_a_state(text: bytes, tmp_path: Path) -> None:
    """Whatever error a pickle of it ends in."""
    (tmp_path / "state.pt").write_bytes(b"\x80\x02" + text)
    with pytest.raises(CheckpointError, match=r"state\.pt: is damaged"):
        load_state(tmp_path / "state.pt")


def test_only_a_full_disk_is_to_be_made_room_on(tmp_path: Path) -> None:
    room = "what was written before is whole; make room and go on with --resume"
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        with pytest.raises(OutputError) as error, writing(tmp_path):
            raise OSError(number, "Full")
        assert str(error.value) == f"{tmp_path}: Full: {room}"
    with pytest.raises(OutputError) as error, writing(tmp_path), atomic_write(tmp_path / "a"):
        raise OSError(errno.ENOSPC, "Full")
    assert str(error.value) == f"{tmp_path / 'a'}: Full: {room}"
    with pytest.raises(OutputError) as error, writing(tmp_path):
        raise OSError(errno.EACCES, "Permission denied")
    assert str(error.value) == f"{tmp_path}: Permission denied"
    with pytest.raises(RuntimeError, match="no kernel"), writing(tmp_path):
        raise RuntimeError("no kernel")


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("evil",)


def test_no_code_is_run(
    stopped: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = folder(tmp_path / "model.resume")
    torch.save({"version": 1, "step": Evil()}, aside / "state.pt")
    work = folder(tmp_path / "work")
    monkeypatch.chdir(work)
    with pytest.raises(CheckpointError, match="is damaged"):
        train(replace(stopped, out=str(tmp_path / "model")), resume=True)
    assert not list(work.iterdir())
