"""Two processes under Accelerate learn what one learns from the same batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from training.made import NO_DROPOUT, apart, metrics, quick, weights
from treewright.settings import to_table, to_toml
from treewright.training.config import TrainConfig
from treewright.training.loop import train

# 31 trees in batches of 10: the last has one, so the second process has nothing to learn in it.
# Pieces are so small that shares are taken in several, the two processes in different numbers.
SETTINGS = ("epochs=3", "piece_subwords=120", "average=0.9", *NO_DROPOUT)


def launch(config: TrainConfig, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "config.toml").write_text(to_toml(to_table(config)))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
        "ACCELERATE_USE_CPU": "true",
    }
    # `accelerate launch` starts several processes on accelerators, but one alone on CPUs.
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"),
        *("-m", "treewright", "train", str(folder / "config.toml")),
    ]
    return subprocess.run(
        [*command, *options], env=environment, capture_output=True, text=True, timeout=300
    )


def test_two_processes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    alone = quick(tmp_path / "one", *SETTINGS, n_train=31)
    train(alone)
    config = quick(tmp_path / "two", *SETTINGS, n_train=31)
    run = launch(config, tmp_path / "two")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == config.out  # said once
    assert run.stderr.count("31 trees to learn from") == 1
    known = json.loads((Path(config.out) / "run" / "provenance.json").read_text())
    assert known["processes"] == 2
    one, two = metrics(alone.out), metrics(config.out)
    for name in ("loss", "free", "ruled", "tags", "missed"):
        assert [line[name] for line in two] == pytest.approx([line[name] for line in one], rel=1e-3)
    assert [line["step"] for line in two] == [line["step"] for line in one] == [4, 8, 12]
    # Dev's F1 may differ by a tie
    for mode in ("hard", "off"):
        f1 = [[line["dev"][mode]["f1"] for line in lines] for lines in (two, one)]
        assert f1[0] == pytest.approx(f1[1], abs=1.0)
    lasts = [tmp_path / name / "model.resume" / "last" for name in ("one", "two")]
    assert weights(lasts[0]).keys() == weights(lasts[1]).keys()
    assert apart(*lasts, alone) < 0.01

    again = launch(config, tmp_path / "two", "--resume", "--set", "epochs=4")
    assert again.returncode == 0, again.stderr
    assert "going on after step 12, epoch 3" in again.stderr
    assert [line["step"] for line in metrics(config.out)] == [4, 8, 12, 16]
