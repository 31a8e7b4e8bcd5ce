"""F1 of trees from raw text, where words and sentences are our own and need not be gold's.

A constituent is a label and the characters that it covers, white space not counted, so that trees
over different words can be compared: each sentence's brackets, as COLLINS.prm has them, by where
their first and last words stand that are no punctuation. Three roads, from what is given to what is
not: gold words; gold sentences, a line each; the lines of each genre joined by spaces to one text.
Tags are the model's own throughout, so the first figure is near EVALB's, which takes gold's.

    python experiments/raw_text.py MODEL --set gum_test

A set is `data/SET.mrg`, `.raw.txt` and `.genres.txt` of `$TREEWRIGHT_SHARED`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from pathlib import Path

from treewright import Tree, load, read_trees
from treewright.evaluation import Parameters
from treewright.parser import Parser, Sentence

SHARED = Path(os.environ.get("TREEWRIGHT_SHARED", Path(__file__).parents[2] / "shared"))
PARAMETERS = Parameters.collins()
SAME = dict(PARAMETERS.equal_labels)

Bracket = tuple[int, int, str]

_ESCAPED = re.compile("-[LR]RB-")


def main() -> None:
    """Parse a set by all three roads and print their figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--set", default="gum_test")
    options = parser.parse_args()
    gold, lines, genres = read_set(options.set)
    nlp = load(options.model)
    where = list(gold_places(gold, lines))
    wanted = Counter(
        bracket
        for tree, places in zip(gold, where, strict=True)
        for bracket in brackets(tree, places)
    )
    roads = {
        "gold words": given_words(nlp, gold, where),
        "own words, gold sentences": texts(nlp, lines),
        "own words and sentences": texts(nlp, joined(lines, genres)),
    }
    print(f"{options.set}: {len(gold):,} sentences, {wanted.total():,} brackets")
    for road, found in roads.items():
        precision, recall, f1 = score(Counter(found), wanted)
        print(f"{road:28} precision {precision:.2f}  recall {recall:.2f}  F1 {f1:.2f}")


def read_set(name: str) -> tuple[list[Tree], list[str], list[str]]:
    """Trees, raw lines and genres, a sentence each."""
    stem = SHARED / "data" / name
    if not stem.with_suffix(".raw.txt").is_file():
        sys.exit(f"no {stem}.raw.txt: set TREEWRIGHT_SHARED to the folder that has the treebanks")
    gold = list(read_trees(stem.with_suffix(".mrg")))
    lines = stem.with_suffix(".raw.txt").read_text("utf-8").removesuffix("\n").split("\n")
    genres = stem.with_suffix(".genres.txt").read_text("utf-8").split()
    for number, (tree, line) in enumerate(zip(gold, lines, strict=True), 1):
        if written(line) != sum(map(length, tree.words())):
            sys.exit(f"{name}, sentence {number}: the words of the tree are not those of the line")
    return gold, lines, genres


def written(text: str) -> int:
    """How many characters are not white space."""
    return sum(not character.isspace() for character in text)


def joined(lines: Sequence[str], genres: Sequence[str]) -> Iterator[str]:
    """The lines of each run of one genre as one text."""
    for _, run in groupby(zip(genres, lines, strict=True), key=lambda pair: pair[0]):
        yield " ".join(line.strip() for _, line in run)


def gold_places(gold: Iterable[Tree], lines: Iterable[str]) -> Iterator[list[tuple[int, int]]]:
    """Where the words of every gold tree begin and end, in characters that are not white space."""
    done = 0
    for tree, line in zip(gold, lines, strict=True):
        ends = list(accumulate(map(length, tree.words()), initial=done))
        yield list(pairwise(ends))
        done += written(line)


def length(word: str) -> int:
    """The characters of a word as it was before its brackets were escaped."""
    return len(word) - sum(len(escape) - 1 for escape in _ESCAPED.findall(word))


def given_words(
    nlp: Parser, gold: Sequence[Tree], where: Iterable[list[tuple[int, int]]]
) -> Iterator[Bracket]:
    """The brackets of our trees over gold's words."""
    sentences = nlp.parse_many([tree.words() for tree in gold])
    for sentence, places in zip(sentences, where, strict=True):
        yield from brackets(sentence.tree, places)


def texts(nlp: Parser, given: Iterable[str]) -> Iterator[Bracket]:
    """The brackets of our trees over texts that follow each other."""
    done = 0
    for document in nlp.stream(given):
        text = document.text
        before = [0, *accumulate(int(not character.isspace()) for character in text)]
        for sentence in document:
            yield from brackets(sentence.tree, places(sentence, before, done))
        done += before[-1]


def places(sentence: Sentence, before: Sequence[int], done: int) -> list[tuple[int, int]]:
    """Where the words of a sentence begin and end, in characters that are not white space."""
    return [(done + before[begin], done + before[end]) for begin, end in sentence.offsets]


def brackets(tree: Tree, places: Sequence[tuple[int, int]]) -> Iterator[Bracket]:
    """The constituents that count, without the root's wrapper and without punctuation."""
    counted = [tag not in PARAMETERS.delete_labels for tag in tree.tags()]
    for begin, end, label in tree.spans():
        kept = [at for at in range(begin, end) if counted[at]]
        if kept and label not in PARAMETERS.delete_labels:
            yield places[kept[0]][0], places[kept[-1]][1], SAME.get(label, label)


def score(found: Counter[Bracket], wanted: Counter[Bracket]) -> tuple[float, float, float]:
    """Precision, recall and F1 in per cent.

    >>> score(Counter([(0, 2, "NP")]), Counter([(0, 2, "NP"), (0, 3, "S")]))
    (100.0, 50.0, 66.66666666666667)
    """
    matched = (found & wanted).total()
    precision = 100 * matched / max(1, found.total())
    recall = 100 * matched / max(1, wanted.total())
    return precision, recall, 200 * matched / max(1, found.total() + wanted.total())


if __name__ == "__main__":
    main()
