"""Decoders of all kinds against each other, from 10 words to 320: times, ratios, memory, a plot.

Charts are over the grammar of CRAFT, with scores at random and as a trained parser gives them
(`as_trained.py`). All that is compared takes turns in one run, and the fastest turn of each counts:
whatever disturbs a turn makes it slower. torch-struct takes part where it is installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import as_trained
import decode_plot
import numpy as np
import vector_bound
from as_trained import Gold
from common import arguments, peak_megabytes, print_table, treebank, write_json
from decode_methods import RANDOM, TRAINED, WAYS, Batch, Rules, Trained, Way, at_random, trained
from vector_bound import Bound

from treewright import Grammar, read_trees

Rows = list[list[str]]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    grammar: str  # the treebank that it is read from
    sentences: Mapping[int, int]  # of each length
    corpus: int  # sentences of a corpus
    turns: int
    seconds: float  # after which a way gets no more turns
    patience: float  # what one sentence may take
    bytes: float  # what a step may hold
    memory_of: str  # how the names of the ways begin whose memory is measured


FULL = Plan(
    grammar="craft_train",
    sentences={10: 256, 20: 256, 24: 256, 40: 256, 80: 64, 160: 24, 320: 12},
    corpus=1000,
    turns=25,
    seconds=0.35,
    patience=4.0,
    bytes=2e9,
    memory_of="",
)
QUICK = Plan(
    grammar="craft_dev",
    sentences={5: 8, 10: 8},
    corpus=20,
    turns=1,
    seconds=0.01,
    patience=0.2,
    bytes=1e8,
    memory_of="native free",
)


class Key(NamedTuple):
    """What was timed."""

    way: str
    scores: str
    threads: int
    n: int


Times = dict[Key, float]  # seconds a sentence


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--quick", action="store_true", help="short sentences only, in seconds")
    parser.add_argument("--plot", type=Path, help="draw cost against length here (SVG)")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL

    bound = vector_bound.measure()
    grammar = Grammar.from_trees(read_trees(treebank(plan.grammar)))
    rules = Rules(grammar)
    labels, tables = rules.labels, rules.tables
    print(f"{plan.grammar}: {len(labels)} labels, {len(tables.rules):,} rules", end=", ")
    print(f"{len(tables.pairs)} pairs of children\nThe most there is: {bound}")

    pool = as_trained.golds(read_trees(treebank("craft_dev")), labels)
    times, made = time_ways(plan, rules, pool)
    print_times(times)
    rows = ratios(times, bound, len(tables.pairs))
    header = ["one thread", *(f"n = {n}" for n in plan.sentences), "wished"]
    print_table("Ratios of times, by length", header, rows)

    corpus, made["corpus"] = time_corpus(plan, rules, pool)
    print_table(
        f"{plan.corpus} sentences of craft_dev, scores as trained",
        ["threads", "free: sentences/s", "rules: sentences/s", "rules : free", "wished"],
        [
            [t, f"{1 / free:,.0f}", f"{1 / ruled:,.0f}", f"{ruled / free:.2f}", "2 at most"]
            for t, (free, ruled) in corpus.items()
        ],
    )
    print_table(
        "Scores as trained",
        ["words", "noise", "free parses legal", "F1 of free parses"],
        [[n, f"{t.noise:.2f}", f"{t.legal:.0%}", f"{100 * t.f1:.1f}"] for n, t in made.items()],
    )
    longest = max(plan.sentences)
    memory = peaks(grammar, longest, plan)
    print_table(
        f"Peak memory beside the scores, n = {longest} (wished: native under 200 MB)",
        ["way", "one sentence", "two, two threads"],
        [[way, *(f"{megabytes:.0f} MB" for megabytes in both)] for way, both in memory.items()],
    )

    figures = [{**key._asdict(), "seconds": seconds} for key, seconds in times.items()]
    write_json(
        options.json,
        {
            "grammar": [plan.grammar, len(labels), len(tables.rules), len(tables.pairs)],
            "bound": bound.figures(),
            "as_trained": {str(n): one._asdict() for n, one in made.items()},
            "seconds_a_sentence": figures,
            "ratios": [dict(zip(header, row, strict=True)) for row in rows],
            "corpus_seconds_a_sentence": corpus,
            "peak_mb": memory,
        },
    )
    if options.plot:
        decode_plot.draw(figures, options.plot)


def turns(runs: Mapping[Any, Callable[[], object]], plan: Plan) -> dict[Any, float]:
    """Seconds of each: the fastest of its turns. Who has used up the time gets no more turns."""
    taken: dict[Any, list[float]] = {key: [] for key in runs}
    for turn in range(-1, plan.turns):  # the first makes tables and finds memory
        for key, run in runs.items():
            if sum(taken[key]) > plan.seconds:
                continue
            time.sleep(0.002)  # until the threads of the one before sleep
            begun = time.perf_counter()
            run()
            seconds = time.perf_counter() - begun
            if turn >= 0 or seconds > plan.seconds:
                taken[key].append(seconds)
    return {key: min(seconds) for key, seconds in taken.items()}


def time_ways(plan: Plan, rules: Rules, pool: list[Gold]) -> tuple[Times, dict[int | str, Trained]]:
    """Seconds a sentence of all that is affordable, and what the charts were like."""
    times: Times = {}
    made: dict[int | str, Trained] = {}
    last: dict[tuple[str, str], tuple[int, float]] = {}  # the length and seconds last measured
    for n, most in plan.sentences.items():
        random = np.random.default_rng(n)
        golds = as_trained.of_length(pool, n, most, rules.labels, random)
        batches = {RANDOM: at_random(rules, n, most, random)}
        batches[TRAINED], made[n] = trained(rules, golds, random)
        counts: dict[Key, int] = {}
        runs: dict[Key, Callable[[], object]] = {}
        for way, scores in those_there_are(rules, n, plan):
            shorter, seconds = last.get((way.name, scores), (n, 1e-3))
            expected = seconds * (n / shorter) ** 3  # at most
            if expected > plan.patience:
                continue
            count = max(1, min(way.most, most, int(plan.seconds / expected)))
            run = way.start(batches[scores].first(count))
            for threads in way.threads:
                key = Key(way.name, scores, threads, n)
                counts[key], runs[key] = count, partial(run, threads)
        for key, taken in turns(runs, plan).items():
            times[key] = taken / counts[key]
            if key.threads == 1:
                last[key.way, key.scores] = n, times[key]
    return times, made


def those_there_are(rules: Rules, n: int, plan: Plan) -> Iterator[tuple[Way, str]]:
    """The ways with their kinds of scores, but for what is not installed or is too large."""
    for way in WAYS:
        missing = way.needs is not None and find_spec(way.needs) is None
        if not missing and way.bytes_needed(rules, n) <= plan.bytes:
            yield from ((way, scores) for scores in way.scores)


def print_times(times: Times) -> None:
    """Sentences a second of everything, a table for each number of threads."""
    lengths = sorted({key.n for key in times})
    for threads, how_many in ((1, "one thread"), (2, "two threads")):
        rows: Rows = []
        for way in WAYS:
            for scores in way.scores:
                row = [times.get(Key(way.name, scores, threads, n)) for n in lengths]
                name = way.name if len(way.scores) == 1 else f"{way.name}, {scores}"
                if any(row):
                    rows.append([name, *(f"{1 / s:,.3g}" if s else "" for s in row)])
        title = f"Sentences a second, {how_many}, by length"
        print_table(title, ["way", *(f"n = {n}" for n in lengths)], rows)


def ratios(times: Times, bound: Bound, pairs: int) -> Rows:
    """What the times are worth beside each other, by length, and what was wished for.

    The share of the most there is counts one addition for every pair at every split. The kernel
    does about half of them: pairs that differ in what no rule tells apart share theirs.
    """
    lengths = sorted({key.n for key in times})

    def compared(name: str, slow: tuple[Any, ...], fast: tuple[Any, ...], wished: str) -> list[str]:
        found = []
        for n in lengths:
            a, b = times.get(Key(*slow, n)), times.get(Key(*fast, n))
            found.append(f"{a / b:,.3g}" if a and b else "")
        return [name, *found, wished]

    dense = ("native dense", RANDOM, 1)
    shares = [bound.share(n, pairs, times[Key(*dense, n)]) or 0.0 for n in lengths]
    rows = [
        compared(
            "torch-struct : native free",
            ("torch-struct free", RANDOM, 1),
            ("native free", RANDOM, 1),
            "10 at least",
        ),
        compared(
            "algorithm 5 : native dense",
            ("algorithm 5, as meant", RANDOM, 1),
            dense,
            "1,000 at n = 24",
        ),
        ["native dense: share of the most there is", *(f"{s:.0%}" for s in shares), "30%"],
        compared("native soft dense : dense", ("native soft dense", RANDOM, 1), dense, "1.15"),
        compared("native k = 10 : dense", ("native k = 10", RANDOM, 1), dense, "4"),
        compared("native marginals : dense", ("native marginals", RANDOM, 1), dense, "6"),
        compared("batched rules : native dense", ("batched rules", RANDOM, 1), dense, ""),
        compared(
            "native rules : free, as trained",
            ("native rules", TRAINED, 1),
            ("native free", TRAINED, 1),
            "",
        ),
    ]
    for way, scores in (
        ("native free", RANDOM),
        ("native rules", TRAINED),
        ("native dense", RANDOM),
        ("native k = 10", RANDOM),
        ("native marginals", RANDOM),
    ):
        name = f"{way}, {scores}: one thread : two"
        rows.append(compared(name, (way, scores, 1), (way, scores, 2), "1.8 over 256"))
    return rows


def time_corpus(
    plan: Plan, rules: Rules, pool: list[Gold]
) -> tuple[dict[int, tuple[float, float]], Trained]:
    """Seconds a sentence, free and with rules, of sentences with a corpus's lengths."""
    random = np.random.default_rng(0)
    golds = [pool[at] for at in random.permutation(len(pool))[: plan.corpus]]
    batch, made = trained(rules, golds, random)
    names = "native free", "native rules"
    started = {way.name: way.start(batch) for way in WAYS if way.name in names}
    runs = {(name, t): partial(run, t) for name, run in started.items() for t in (1, 2)}
    taken = {key: seconds / len(golds) for key, seconds in turns(runs, plan).items()}
    return {t: (taken[names[0], t], taken[names[1], t]) for t in (1, 2)}, made


def peaks(grammar: Grammar, n: int, plan: Plan) -> dict[str, list[float]]:
    """Megabytes beside the scores: of one sentence, and of two where two threads are used."""
    with TemporaryDirectory() as folder:
        file = str(Path(folder, "grammar.json"))
        grammar.save(file)

        def peak(name: str | None, count: int, with_torch: bool) -> float:
            here = str(Path(__file__).parent)
            return peak_megabytes(
                f"import sys\nsys.path.insert(0, {here!r})\nimport bench_decode\n"
                f"bench_decode.once({name!r}, {file!r}, {n}, {count}, {with_torch})"
            )

        found: dict[str, list[float]] = {}
        nothing: dict[tuple[int, bool], float] = {}
        for way, scores in those_there_are(Rules(grammar), n, plan):
            if scores != RANDOM or not way.name.startswith(plan.memory_of):
                continue
            if way.name.startswith("reference"):  # it would take an hour
                continue
            for case in ((1, way.uses_torch), (2, way.uses_torch)):
                if case not in nothing:
                    nothing[case] = peak(None, *case)
                found.setdefault(way.name, []).append(peak(way.name, *case) - nothing[case])
    return found


def once(name: str | None, grammar: str, n: int, count: int, with_torch: bool) -> None:
    """Decode once, with as many threads as sentences; or only make what would be decoded."""
    batch: Batch = at_random(Rules(Grammar.load(grammar)), n, count, np.random.default_rng(0))
    if with_torch:
        batch.padded()
    for way in WAYS:
        if way.name == name:
            way.start(batch)(count)


if __name__ == "__main__":
    main()
