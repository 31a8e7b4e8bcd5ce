"""Reading trees against nltk, extracting a grammar, scoring: seconds, ratios, peak memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nltk
from common import alternate, arguments, peak_megabytes, print_table, treebank, write_json

from treewright import Grammar, evaluate, read_trees


def main() -> None:
    parser = arguments(__doc__ or "")
    options = parser.parse_args()
    craft, wsj = treebank("craft_train"), treebank("wsj_train")

    reading = {}
    for path, rounds in ((wsj, 15), (craft, 5)):
        for kept in (True, False):
            name = f"{path.stem}, {'kept in a list' if kept else 'one after the other'}"
            reading[name] = read_against_nltk(path, kept=kept, rounds=rounds)
    print_table(
        "Reading trees",
        ["treebank", "treewright s", "nltk s", "times faster"],
        [
            [name, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}"]
            for name, (ours, theirs) in reading.items()
        ],
    )

    with tempfile.TemporaryDirectory() as folder:
        seconds, memory = seconds_and_megabytes(craft, *ten_thousand_pairs(Path(folder)))
    print_table("Work", ["what", "s"], [[name, f"{s:.2f}"] for name, s in seconds.items()])
    print_table("Peak memory", ["what", "MB"], [[name, f"{mb:.0f}"] for name, mb in memory.items()])
    write_json(
        options.json,
        {
            "reading": {
                name: {"treewright_s": ours, "nltk_s": theirs, "ratio": theirs / ours}
                for name, (ours, theirs) in reading.items()
            },
            "work_s": seconds,
            "peak_mb": memory,
        },
    )


def seconds_and_megabytes(
    craft: Path, gold: Path, predicted: Path
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds and peak memory of work on a large treebank and on a large pair of files."""
    seconds = alternate(
        {
            "grammar of craft_train (25,090 trees), reading included": lambda: Grammar.from_trees(
                read_trees(craft)
            ),
            "EVALB over 10,000 sentences, reading included": lambda: evaluate(gold, predicted),
        },
        rounds=3,
    )
    read = f"from treewright import read_trees\ntrees = read_trees({str(craft)!r})\n"
    memory = {
        "reading craft_train as a stream": peak_megabytes(read + "for t in trees: pass"),
        "reading craft_train into a list": peak_megabytes(read + "kept = list(trees)"),
        "the same with nltk": peak_megabytes(
            f"import nltk\nkept = [nltk.Tree.fromstring(s) for s in open({str(craft)!r})]"
        ),
        "grammar of craft_train": peak_megabytes(
            read + "from treewright import Grammar\nGrammar.from_trees(trees)"
        ),
        "EVALB over 10,000 sentences": peak_megabytes(
            "from treewright import evaluate\n"
            f"report = evaluate({str(gold)!r}, {str(predicted)!r})\nreport.text()"
        ),
    }
    return seconds, memory


def read_against_nltk(path: Path, *, kept: bool, rounds: int) -> tuple[float, float]:
    """Seconds of treewright and of nltk over a file with one tree a line."""

    def ours() -> None:
        trees = read_trees(path)
        _ = list(trees) if kept else sum(1 for _ in trees)

    def theirs() -> None:
        with path.open(encoding="utf-8") as lines:
            trees = (nltk.Tree.fromstring(line) for line in lines)
            _ = list(trees) if kept else sum(1 for _ in trees)

    seconds = alternate({"ours": ours, "theirs": theirs}, rounds=rounds)
    return seconds["ours"], seconds["theirs"]


def ten_thousand_pairs(folder: Path) -> tuple[Path, Path]:
    """Gold and predicted files: real parser output for MCTB, repeated up to 10,000 sentences."""
    gold: list[str] = []
    predicted: list[str] = []
    for genre in ("dialogue", "forum", "review"):
        path = treebank(f"mctb_{genre}")
        output = path.parents[1] / "evalb" / f"mctb_{genre}.inorder_bert.mrg"
        gold += path.read_text(encoding="utf-8").splitlines()
        predicted += output.read_text(encoding="utf-8").splitlines()
    files = folder / "gold.mrg", folder / "predicted.mrg"
    for file, lines in zip(files, (gold, predicted), strict=True):
        file.write_text("\n".join((lines * 4)[:10_000]) + "\n", encoding="utf-8")
    return files


if __name__ == "__main__":
    main()
