r"""EVALB's figures of one model or several on test sets, rules hard, soft and off.

Words are gold's, traces left out; predicted trees carry gold's tags, since EVALB knows punctuation
by its tag, and the tagger is scored apart. Every figure comes with a bootstrap interval over
sentences, and the differences between the modes with paired ones. Several models (seeds) are
averaged, per resample.

    python experiments/evaluate.py MODEL... --sets gum_test craft=FILE --mean mctb=a,b,c \
        --json out.json --markdown out.md

A set is NAME=FILE, or the name of a file of `$TREEWRIGHT_SHARED/data`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from bootstrap import Floats, Interval, counts, interval, replicates

from treewright import Tree, evaluate, read_trees
from treewright.charts import cell_count, is_tensor
from treewright.decode import decode
from treewright.evaluation import Parameters
from treewright.files import atomic_write
from treewright.parser import load
from treewright.scorer import Description, RulesMode, Scorer
from treewright.trees import normalize

SHARED = Path(os.environ.get("TREEWRIGHT_SHARED", Path(__file__).parents[2] / "shared"))
MODES: tuple[RulesMode, ...] = ("hard", "soft", "off")
PAIRS: tuple[tuple[RulesMode, RulesMode], ...] = (
    ("hard", "off"),
    ("soft", "off"),
    ("soft", "hard"),
)
_MOST_NUMBERS = 1 << 26  # of a chart that is held at once: 256 MB


@dataclass(frozen=True)
class Result:
    """One model on one set: replicates of F1 by mode, and what else is worth knowing."""

    replicates: dict[RulesMode, Floats]
    figures: dict[RulesMode, dict[str, float]]
    tagging: float
    seconds: float


def main() -> None:
    """Score all models on all sets; print the table and write it where told."""
    options = arguments().parse_args()
    sets = dict(named_file(given) for given in options.sets)
    if odd := [one for one in options.mean if "=" not in one]:
        sys.exit(f"--mean {odd[0]}: a mean is NAME=SET,SET")
    means = {name: parts.split(",") for name, parts in (one.split("=", 1) for one in options.mean)}
    for name, parts in means.items():
        if missing := [part for part in parts if part not in sets]:
            sys.exit(f"--mean {name}: no set is called {missing[0]!r}")
    gold = {name: list(read_trees(path)) for name, path in sets.items()}
    results: dict[str, dict[str, Result]] = {}
    for model in options.models:
        parser = load(model, device=options.device)
        results[str(model)] = {}
        for name, trees in gold.items():
            results[str(model)][name] = result = score(parser.scorer, trees, name)
            shown = "  ".join(f"{mode} {result.replicates[mode][0]:.2f}" for mode in MODES)
            print(f"{model} {name}: {shown}  ({result.seconds:.0f} s)", file=sys.stderr, flush=True)
    report = summary(results, means)
    table = markdown(report)
    print(table, end="")
    if options.json:
        with atomic_write(options.json) as handle:
            handle.write(json.dumps(report, indent=1) + "\n")
    if options.markdown:
        with atomic_write(options.markdown) as handle:
            handle.write(table)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL", help="directories; several are seeds")
    parser.add_argument("--sets", nargs="+", required=True, metavar="NAME[=FILE]")
    parser.add_argument("--mean", nargs="*", default=[], metavar="NAME=SET,SET")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    return parser


def named_file(given: str) -> tuple[str, Path]:
    """The name and the file of a set."""
    name, _, path = given.partition("=")
    file = Path(path) if path else SHARED / "data" / f"{name}.mrg"
    if not file.is_file():
        sys.exit(f"no {file}; a set is NAME=FILE, or in the data of $TREEWRIGHT_SHARED")
    return name, file


def score(scorer: Scorer, gold: Sequence[Tree], name: str) -> Result:
    """Parse the words of the gold trees of a set in all modes, and let EVALB judge."""
    pairs = [(tree, normal) for tree in gold if (normal := normalize(tree)) is not None]
    gold = [tree for tree, _ in pairs]
    words, gold_tags = ([of(tree) for _, tree in pairs] for of in (Tree.words, Tree.tags))
    begun = time.perf_counter()
    description = scorer.description
    predicted: dict[RulesMode, list[Tree]] = {mode: list(gold) for mode in MODES}
    violating = dict.fromkeys(MODES, 0)
    right_tags = 0
    for part in parts(list(map(len, words)), len(description.labels)):
        scores = scorer.score([words[at] for at in part])
        rows: Any = scores.rows
        rows = rows.cpu().numpy() if is_tensor(rows) else rows
        tags = np.split(np.asarray(scores.tags), np.cumsum(scores.lengths)[:-1])
        for mode in MODES:
            parses = decode(
                rows, description.labels, lengths=scores.lengths, **mode_options(description, mode)
            )
            violating[mode] += int((np.asarray(parses.n_violations) > 0).sum())
            for at, parse in zip(part, parses, strict=True):
                tree = parse.tree(words[at], gold_tags[at])
                predicted[mode][at] = Tree("TOP", [tree])
        for at, found in zip(part, tags, strict=True):
            own = [description.tags[tag] for tag in found.tolist()]
            right_tags += sum(map(str.__eq__, own, gold_tags[at]))
    parameters = replace(Parameters.collins(), max_error=len(gold))
    found_replicates, figures = {}, {}
    for mode in MODES:
        report = evaluate(gold, predicted[mode], parameters)
        found_replicates[mode] = replicates(counts(report.scores), name)
        figures[mode] = {
            "f1": report.f1,
            "recall": report.recall,
            "precision": report.precision,
            "complete_match": report.complete_match,
            "errors": report.summary.errors,
            "sentences_with_violations": violating[mode],
        }
    n_words = sum(map(len, words))
    seconds = time.perf_counter() - begun
    return Result(found_replicates, figures, 100.0 * right_tags / n_words, seconds)


def mode_options(description: Description, mode: RulesMode) -> dict[str, Any]:
    """What `decode` is told; violations are counted even where the rules are off."""
    if mode == "off":
        return {"grammar": description.grammar, "penalty": 0.0}
    penalty = float("inf") if mode == "hard" else description.penalty
    scores = None if description.rule_scores is None else np.array(description.rule_scores)
    return {"grammar": description.grammar, "penalty": penalty, "rule_scores": scores}


def parts(lengths: Sequence[int], columns: int) -> Iterator[list[int]]:
    """Sentences by number, the shortest first, in parts whose charts fit in memory together."""
    part: list[int] = []
    numbers = 0
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        size = int(cell_count(lengths[at])) * columns
        if part and numbers + size > _MOST_NUMBERS:
            yield part
            part, numbers = [], 0
        part.append(at)
        numbers += size
    if part:
        yield part


def summary(results: dict[str, dict[str, Result]], means: dict[str, list[str]]) -> dict[str, Any]:
    """F1 with intervals and differences, averaged over models, a set or mean of sets each."""
    names = list(next(iter(results.values())))
    sets: dict[str, Any] = {}
    for name, members in {**{name: [name] for name in names}, **means}.items():
        of_mode = {
            mode: np.mean(
                [of[member].replicates[mode] for of in results.values() for member in members], 0
            )
            for mode in MODES
        }
        sets[name] = {
            "sets": members,
            **{mode: interval(of_mode[mode])._asdict() for mode in MODES},
            **{
                f"{one}-{other}": interval(of_mode[one] - of_mode[other])._asdict()
                for one, other in PAIRS
            },
        }
    models = {
        model: {
            name: {"tagging": one.tagging, "seconds": one.seconds, **one.figures}
            for name, one in of.items()
        }
        for model, of in results.items()
    }
    return {"sets": sets, "models": models}


def markdown(report: dict[str, Any]) -> str:
    """The table for a model card: F1 by mode, and how the modes differ."""
    header = ["set", *MODES, *(f"{one} - {other}" for one, other in PAIRS)]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for name, of in report["sets"].items():
        keys = [*MODES, *(f"{one}-{other}" for one, other in PAIRS)]
        lines.append("| " + " | ".join([name, *(str(Interval(**of[k])) for k in keys)]) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
