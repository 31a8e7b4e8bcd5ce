r"""Ways of training side by side: F1 on held-out trees, several seeds each, and what they cost.

WAYS is a file of TOML: a table a way, of settings of `treewright train`; an empty table is the
preset as it is. Each run is a process of one thread, OUT/NUMBER-seed, NUMBER being the way's; the
same command goes on where it stopped, and what was begun with other settings is refused. The cost
is the share of a forward pass over dev that is spent above the encoder: processor time, one thread,
float32, the last seed's model.

    python experiments/compare.py WAYS OUT --preset small --encoder FOLDER --train wsj_train.mrg \
        --dev wsj_dev.mrg --set precision=bf16 --seeds 777 778 779 --jobs 2 --also gum=gum_dev.mrg

Choose by the held-out sets that are named here; score the choice, once, with `evaluate.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evaluate import named_file, score

from treewright import Tree, read_trees
from treewright.parser import load
from treewright.settings import read_toml

# Of dev: sentences whose forward pass is timed, in how large batches, how often
_TIMED, _BATCH, _ROUNDS = 192, 32, 3


def main() -> None:
    """Train what is not trained yet, and print the table."""
    options = arguments().parse_args()
    ways = {name: list(assignments(table)) for name, table in read_toml(options.ways).items()}
    also = {name: list(read_trees(file)) for name, file in map(named_file, options.also)}
    timed = list(read_trees(options.dev))[:_TIMED]
    runs: dict[Path, list[str]] = {}
    for seed in options.seeds:
        for number, of in enumerate(ways.values()):
            out = options.out / f"{number}-{seed}"
            settings = [*options.settings, *of, f"seed={seed}"]
            runs[out] = command(options, out, settings)
    for out, wanted in runs.items():
        told = beside(out, "json")
        if told.exists() and json.loads(told.read_text()) != wanted:
            sys.exit(f"{out} was begun with other settings, see {told}: name another OUT")
    with ThreadPoolExecutor(options.jobs) as pool:
        failed = [log for log in pool.map(train, runs.keys(), runs.values()) if log]
    if failed:
        sys.exit("\n".join(["these runs failed; see their logs:", *failed]))
    print("| " + " | ".join(["way", "share of the top", "dev", *also, "seeds"]) + " |")
    print("|---" * (len(also) + 4) + "|")
    for number, name in enumerate(ways):
        models = [options.out / f"{number}-{seed}" for seed in options.seeds]
        scores = [dev_f1(model) for model in models]
        others = [mean(f1(model, trees) for model in models) for trees in also.values()]
        cells = [f"{share_of_top(models[-1], timed):.0%}", spread(scores), *others, len(models)]
        print("| " + " | ".join([name, *map(str, cells)]) + " |", flush=True)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ways", metavar="WAYS", type=Path)
    parser.add_argument("out", metavar="OUT", type=Path)
    parser.add_argument("--preset", default="small")
    parser.add_argument("--encoder", metavar="FOLDER")
    parser.add_argument("--train", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="KEY=VALUE", help="in all"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[777])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME[=FILE]")
    return parser


def assignments(table: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Settings as the command line takes them.

    >>> list(assignments({"top_rate": 0.001, "model": {"label_attention": False}}))
    ['top_rate=0.001', 'model.label_attention=false']
    """
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from assignments(value, f"{within}{key}.")
        else:
            yield f"{within}{key}={json.dumps(value)}"


def command(options: argparse.Namespace, out: Path, settings: Sequence[str]) -> list[str]:
    """What trains one model."""
    words = ["train", "--preset", options.preset, "--out", str(out)]
    for key in ("encoder", "train", "dev"):
        words += [f"--{key}", getattr(options, key)] if getattr(options, key) else []
    return words + [part for text in settings for part in ("--set", text)]


def beside(out: Path, end: str) -> Path:
    """A file beside a model."""
    return out.with_name(f"{out.name}.{end}")


def train(out: Path, words: Sequence[str]) -> str:
    """Train one model, or go on with it; its log's name if that failed."""
    if (out / "run" / "result.json").exists():
        return ""
    out.parent.mkdir(parents=True, exist_ok=True)
    beside(out, "json").write_text(json.dumps(words))
    resume = ["--resume"] if (beside(out, "resume") / "state.pt").exists() else []
    log = beside(out, "log")
    with log.open("a") as handle:
        done = subprocess.run(
            [sys.executable, "-m", "treewright", *words, *resume],
            stdout=handle,
            stderr=handle,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    print(f"{log}: {'failed' if done.returncode else 'done'}", file=sys.stderr, flush=True)
    return str(log) if done.returncode else ""


def dev_f1(model: Path) -> float:
    """What a run says of dev, rules hard."""
    result: float = json.loads((model / "run" / "result.json").read_text())["dev"]["hard"]["f1"]
    return result


def f1(model: Path, gold: Sequence[Tree]) -> float:
    """EVALB's F1 on other trees, rules hard."""
    return score(load(str(model)).scorer, gold, "").figures["hard"]["f1"]


def share_of_top(model: Path, gold: Sequence[Tree]) -> float:
    """Of the time of a forward pass, the share that is spent above the encoder."""
    import torch

    from treewright.model import checkpoint
    from treewright.model.build import feature_maker

    torch.set_num_threads(1)
    scorer = checkpoint.load(model, "cpu")
    network = scorer.network
    words = sorted((tree.words() for tree in gold), key=len)
    tokenize = feature_maker(network, scorer.tokenizer)
    subwords = scorer.tokenizer.encode(words)
    batches = [tokenize.collate(subwords[at : at + _BATCH]) for at in range(0, len(words), _BATCH)]
    times: dict[str, list[float]] = {"whole": [], "encoder": []}
    with torch.inference_mode():
        network.encoder(batches[-1])
        for _ in range(_ROUNDS):
            for what, of in times.items():
                begun = time.process_time()
                for batch in batches:
                    if what == "whole":
                        network.chart(network.encode(batch))
                    else:
                        network.encoder(batch)
                of.append(time.process_time() - begun)
    return 1 - statistics.median(times["encoder"]) / statistics.median(times["whole"])


def mean(values: Iterator[float]) -> str:
    """A mean as tables have it."""
    return f"{statistics.mean(values):.2f}"


def spread(values: Sequence[float]) -> str:
    """Mean, least and most.

    >>> spread([90.0, 92.0])
    '91.00 [90.00, 92.00]'
    """
    return f"{statistics.mean(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


if __name__ == "__main__":
    main()
