"""The parser from end to end: sentences and words a second, beside the bare encoder and the peer.

Words of GUM's and CRAFT's test parts, and raw text, all in one run on two threads: PyTorch and ONNX
Runtime, single precision and int8, rules off, hard and soft; then a cold start, from the start of
the process to the first tree, with its memory. Candidates take turns, so ratios are fair.

Without options the bundled model is measured alone. With `--checkpoint DIR` that model is exported
in both precisions and measured in PyTorch too; with `--encoder DIR`, a folder that transformers can
read, the peer's pipeline takes part (see `peer.py`), its head of random weights.

    python benchmarks/bench_parse.py --checkpoint models/en --encoder ENCODER
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import SHARED, alternate, arguments, print_table, treebank, write_json

import treewright
from treewright.parser import Parser
from treewright.parser.loading import BUNDLED
from treewright.runtime.batches import of_one_length
from treewright.runtime.scorer import OnnxScorer
from treewright.scorer import Description, RulesMode
from treewright.text.penn import unescape
from treewright.trees import read_trees

MODES: tuple[RulesMode, ...] = ("off", "hard", "soft")
SENTENCE = "The quick brown fox that we saw yesterday jumped over the lazy dog."
_ENCODER_BATCH = 512  # sub-words of a run of the bare encoder


class Set(NamedTuple):
    """A test set: its words, and the same as raw text, a line a sentence."""

    words: list[list[str]]
    lines: list[str]

    @property
    def n_words(self) -> int:
        """Words of all sentences."""
        return sum(map(len, self.words))


def main() -> None:
    options = parsed_arguments()
    with tempfile.TemporaryDirectory() as folder:
        models = exported(options, Path(folder))
        # First, while this process is small: a child's peak memory begins at its parent's.
        figures: dict[str, Any] = {"threads": options.threads, "cold": cold_starts(models, options)}
        figures["sets"] = {name: measure(name, models, options) for name in options.sets}
    write_json(options.json, figures)


def parsed_arguments() -> argparse.Namespace:
    parser = arguments((__doc__ or "").splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, help="a trained model, to be exported")
    parser.add_argument("--calibrate", type=Path, help="trees for int8; else those of training")
    parser.add_argument("--encoder", type=Path, help="the peer's encoder; without it, no peer")
    parser.add_argument("--sets", nargs="+", default=["gum_test", "craft_test"])
    parser.add_argument("--sentences", type=int, help="of each set, the first so many")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def exported(options: argparse.Namespace, folder: Path) -> dict[str, Path]:
    """The directories of the models that take part, by name."""
    if options.checkpoint is None:
        return {"bundled": BUNDLED / "en"}
    models = {"torch": options.checkpoint}
    for precision in ("fp32", "int8"):
        models[precision] = folder / precision
        command = [sys.executable, "-m", "treewright", "export", "--precision", precision]
        if precision == "int8" and options.calibrate is not None:
            command += ["--calibrate", str(options.calibrate)]
        subprocess.run([*command, str(options.checkpoint), str(models[precision])], check=True)
    return models


def measure(name: str, models: dict[str, Path], options: argparse.Namespace) -> dict[str, Any]:
    """Every candidate on one set."""
    given = read_set(name, options.sentences)
    steps: dict[str, Callable[[], object]] = {}
    for kind, directory in models.items():
        parser = treewright.load(directory, threads=options.threads)
        steps[f"{kind}, encoder alone"] = encoder_alone(parser, given, options.threads)
        for mode in MODES:
            steps[f"{kind}, rules {mode}"] = lambda p=parser, m=mode: parse(p, given.words, m)
        steps[f"{kind}, rules hard, raw text"] = lambda p=parser: parse_raw(p, given.lines)
    for step in steps.values():
        step()  # caches of words are warm for all
    seconds = alternate(steps, rounds=options.rounds)
    if options.encoder is not None:
        seconds["peer"] = once(peer(options.encoder, given, models))
    count = len(given.words)
    rates = {step: count / taken for step, taken in seconds.items()}
    rows = [
        [step, f"{rate:,.0f}", f"{rate * given.n_words / count:,.0f}", *ratios(step, rates)]
        for step, rate in rates.items()
    ]
    print_table(
        f"{name}: {count:,} sentences, {given.n_words:,} words, {options.threads} threads",
        ["step", "sentences/s", "words/s", "to encoder", "to rules off", "to peer"],
        rows,
    )
    return {"sentences": count, "words": given.n_words, "sentences_per_second": rates}


def ratios(step: str, rates: dict[str, float]) -> list[str]:
    """How fast a step is beside its encoder alone, itself without rules, and the peer."""
    kind = step.partition(",")[0]
    others = (f"{kind}, encoder alone", f"{kind}, rules off", "peer")
    return [f"{rates[step] / rates[other]:.2f}" if other in rates else "" for other in others]


def read_set(name: str, most: int | None) -> Set:
    """The words of a test set as written, and its raw lines; words joined where it has none."""
    trees = list(read_trees(treebank(name)))[:most]
    words = [[unescape(word) for word in tree.words()] for tree in trees]
    raw = SHARED / "data" / f"{name}.raw.txt"
    if raw.is_file():
        return Set(words, raw.read_text("utf-8").split("\n")[: len(words)])
    return Set(words, [" ".join(sentence) for sentence in words])


def parse(parser: Parser, words: Sequence[Sequence[str]], mode: RulesMode) -> int:
    """Words to trees."""
    return sum(len(found.tree.label) for found in parser.parse_many(words, rules=mode))


def parse_raw(parser: Parser, lines: Sequence[str]) -> int:
    """Lines of raw text to trees, splitting into words included."""
    given = (parser.input_of(line) for line in lines)
    return sum(len(found.tree.label) for _, found in parser.run(one for one in given if one.words))


def encoder_alone(parser: Parser, given: Set, threads: int) -> Callable[[], object]:
    """The encoder over sub-words made beforehand, as many sentences of like length as suit it."""
    if isinstance(parser.scorer, OnnxScorer):
        return onnx_encoder_alone(parser.scorer, given, threads)
    return torch_encoder_alone(parser.scorer, given)


def onnx_encoder_alone(scorer: OnnxScorer, given: Set, threads: int) -> Callable[[], object]:
    ids = [subwords.ids for subwords in scorer._tokenizer.encode(given.words)]
    sizes = np.array([len(one) for one in ids])
    batches = [
        {"ids": np.array([ids[b] for b in batch.tolist()])}
        for batch in of_one_length(sizes, _ENCODER_BATCH)
    ]

    def run() -> None:
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(scorer._encoder.run, batches):
                pass

    return run


def torch_encoder_alone(scorer: Any, given: Set) -> Callable[[], object]:
    import torch

    from treewright.model.torch_scorer import batches

    tokenized = scorer.features.tokenize(given.words)
    features = [
        scorer.features.collate([tokenized[b] for b in batch])
        for batch in batches(tokenized, scorer.batch_subwords)
    ]

    @torch.inference_mode()
    def run() -> None:
        for batch in features:
            scorer.network.encoder(batch)

    return run


def peer(encoder: Path, given: Set, models: dict[str, Path]) -> Callable[[], object]:
    """The peer's pipeline with as many labels as ours."""
    from peer import Peer

    pipeline = Peer(str(encoder), n_labels(models))
    pipeline.parse(given.words[:50])
    return lambda: pipeline.parse(given.words)


def n_labels(models: dict[str, Path]) -> int:
    """The columns of our own charts."""
    return len(Description.load(next(iter(models.values()))).labels)


def once(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def cold_starts(models: dict[str, Path], options: argparse.Namespace) -> dict[str, Any]:
    """From the start of a process to its first tree: the median of five, and peak memory."""
    parse = [sys.executable, "-m", "treewright", "parse", "--sentences", "--model"]
    commands = {kind: [*parse, str(directory)] for kind, directory in models.items()}
    if options.encoder is not None:
        script = str(Path(__file__).with_name("peer.py"))
        words = [*SENTENCE[:-1].split(), "."]
        head = [str(options.encoder), str(n_labels(models))]
        commands["peer"] = [sys.executable, script, *head, *words]
    figures: dict[str, Any] = {}
    for kind, command in commands.items():
        runs = [fresh_process(command) for _ in range(5)]
        seconds, megabytes = np.median([run[0] for run in runs]), max(run[1] for run in runs)
        figures[kind] = {"seconds": float(seconds), "megabytes": megabytes}
    print_table(
        "Cold start: one sentence, process start to tree",
        ["model", "seconds", "peak MB"],
        [[kind, f"{of['seconds']:.2f}", f"{of['megabytes']:.0f}"] for kind, of in figures.items()],
    )
    return figures


def fresh_process(command: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak megabytes of a process that is given one sentence."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(f"{SENTENCE}\n".encode())
    process.stdin.close()
    assert process.stdout is not None
    answer = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not answer.strip():
        sys.exit(f"no tree came of {' '.join(command)}")
    return seconds, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
