"""Reading trees against nltk, extracting a grammar, scoring: seconds, ratios, peak memory."""

from __future__ import annotations

from pathlib import Path

import nltk
from common import alternate, arguments, peak_megabytes, print_table, treebank, write_json

from treewright import Grammar, evaluate, read_trees


def main() -> None:
    parser = arguments(__doc__ or "")
    options = parser.parse_args()
    craft, wsj = treebank("craft_train"), treebank("wsj_train")

    reading = {}
    for path in (wsj, craft):
        for kept in (True, False):
            name = f"{path.stem}, {'kept in a list' if kept else 'one after the other'}"
            reading[name] = read_against_nltk(path, kept=kept)
    print_table(
        "Reading trees",
        ["treebank", "treewright s", "nltk s", "times faster"],
        [
            [name, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}"]
            for name, (ours, theirs) in reading.items()
        ],
    )

    ten_thousand = ten_thousand_pairs()
    work = {
        "grammar of craft_train (25,090 trees), reading included": lambda: Grammar.from_trees(
            read_trees(craft)
        ),
        "EVALB over 10,000 sentences, reading included": lambda: evaluate(*ten_thousand),
    }
    seconds = alternate(work, rounds=3)
    evalb = f"from treewright import evaluate\nevaluate({ten_thousand[0]!r}, {ten_thousand[1]!r})"
    memory = {
        "reading craft_train as a stream": peak_megabytes(
            f"from treewright import read_trees\nfor t in read_trees({str(craft)!r}): pass"
        ),
        "reading craft_train into a list": peak_megabytes(
            f"from treewright import read_trees\nkept = list(read_trees({str(craft)!r}))"
        ),
        "the same with nltk": peak_megabytes(
            f"import nltk\nkept = [nltk.Tree.fromstring(s) for s in open({str(craft)!r})]"
        ),
        "grammar of craft_train": peak_megabytes(
            "from treewright import Grammar, read_trees\n"
            f"Grammar.from_trees(read_trees({str(craft)!r}))"
        ),
        "EVALB over 10,000 sentences": peak_megabytes(evalb),
    }
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


def read_against_nltk(path: Path, *, kept: bool) -> tuple[float, float]:
    """Seconds of treewright and of nltk over a file with one tree a line."""

    def ours() -> None:
        trees = read_trees(path)
        _ = list(trees) if kept else sum(1 for _ in trees)

    def theirs() -> None:
        with path.open(encoding="utf-8") as lines:
            trees = (nltk.Tree.fromstring(line) for line in lines)
            _ = list(trees) if kept else sum(1 for _ in trees)

    seconds = alternate({"ours": ours, "theirs": theirs})
    return seconds["ours"], seconds["theirs"]


def ten_thousand_pairs() -> tuple[list[str], list[str]]:
    """Gold and predicted lines: real parser output for MCTB, repeated up to 10,000 sentences."""
    gold: list[str] = []
    predicted: list[str] = []
    for genre in ("dialogue", "forum", "review"):
        path = treebank(f"mctb_{genre}")
        output = path.parents[1] / "evalb" / f"mctb_{genre}.inorder_bert.mrg"
        gold += path.read_text(encoding="utf-8").splitlines()
        predicted += output.read_text(encoding="utf-8").splitlines()
    return (gold * 4)[:10_000], (predicted * 4)[:10_000]


if __name__ == "__main__":
    main()
