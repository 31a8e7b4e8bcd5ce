"""The model that an installation comes with, on good English and on whatever else people paste."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest

import treewright
from treewright.parser import Parser
from treewright.parser.loading import find
from treewright.scorer import kind_of

TEXT = (
    "The old man the boat. “I can't,” she said (twice), “re-open the well-known shop in "
    "St. Ives.” See https://example.org/a?b=c for more, e.g. prices of 3,000 dollars!"
)

ODD = {
    "nothing": "",
    "spaces": " \t\u00a0\n",
    "one character": "a",
    "one word": "Stop",
    "no words at all": "... --- !!! ((( )))",
    "emoji and combining marks": "👩\u200d💻 loves 👍🏽 cafe\u0301s.",
    "right to left": "שלום עולם. مرحبا بالعالم!",
    "control characters and NUL": "He\x00llo\x07 you.",
    "brackets": "-LRB- ( ) )( [x] {y} -RRB-",
    "code": "if (a[i] == b) { return f(x); } // done",
    "Windows line ends": "One two.\r\n\r\nThree four.\r\n",
    "a byte-order mark": "\ufeffHello you.",
    "Chinese": "他昨天来了。她明天走。",
    "a lone surrogate": "a \ud800 b",
    "a word of 5,000 letters": "x" * 5_000,
}


@pytest.fixture(scope="module")
def nlp() -> Parser:
    return treewright.load("en")


def check(nlp: Parser, text: str) -> int:
    """Offsets say where words stand, nothing is lost, each sentence has its tree; how many."""
    document = nlp(text)
    covered = set()
    for sentence in document:
        assert [text[begin:end] for begin, end in sentence.offsets] == list(sentence.words)
        assert sentence.tree.words() == sentence.words
        assert len(sentence.tags) == len(sentence.words)
        covered.update(at for begin, end in sentence.offsets for at in range(begin, end))
    lost = {text[at] for at in range(len(text)) if at not in covered}
    assert all(not c.isprintable() or c.isspace() for c in lost)
    return len(document)


def test_it_is_a_runtime_model_with_a_card_and_small() -> None:
    directory = find("en")
    assert kind_of(directory) == "runtime"
    assert sum(path.stat().st_size for path in directory.iterdir()) <= 40_000_000
    card = (directory / "README.md").read_text("utf-8")
    for wanted in ("CRAFT", "GUM", "CC BY", "Apache", "treewright train", "seed", "revision"):
        assert wanted in card


def test_good_english(nlp: Parser) -> None:
    (sentence,) = nlp("The dog that I saw chased a cat.")
    assert sentence.tree.brackets() == (
        "(TOP (S (NP (NP (DT The) (NN dog)) (SBAR (WHNP (WDT that)) (S (NP (PRP I)) "
        "(VP (VBD saw))))) (VP (VBD chased) (NP (DT a) (NN cat))) (. .)))"
    )
    assert not sentence.violations
    assert all(0.5 < one.probability <= 1 for one in sentence.confidences())
    assert check(nlp, TEXT) == 3


@pytest.mark.parametrize("name", ODD)
def test_odd_input(nlp: Parser, name: str) -> None:
    found = check(nlp, ODD[name])
    assert (found == 0) == (name in ("nothing", "spaces"))


def test_two_thousand_words_without_a_stop(nlp: Parser) -> None:
    """As one sentence with rules off: rules cost the cube of the length, minutes here."""
    words = [f"word{number % 7}" for number in range(2_000)]
    assert nlp.parse(words, rules="off").tree.words() == tuple(words)
    assert nlp.parse(words[:400]).tree.words() == tuple(words[:400])
    assert check(nlp, " ".join(words)) >= 1


def test_a_sentence_is_the_same_in_any_company(nlp: Parser) -> None:
    """To the bit: its scores know nothing of their neighbours."""
    text = [["Time", "flies", "like", "an", "arrow", "."], ["Stop", "!"], ["Who"] * 60]
    alone = [nlp.parse(words) for words in text]
    together = nlp.parse_many(text * 3)
    for one, other in zip(alone * 3, together, strict=True):
        assert one.score == other.score
        assert one.tree == other.tree


def test_scores_are_the_same_in_any_company(nlp: Parser) -> None:
    """All of them, for lengths that are met once and often."""
    known = ["the", "dog", ",", "and", "barks", "(", "3.5", ")", "who", "Paris", "n't", "to"]
    draw = Random(1)
    lengths = [1, 2, 2, 3, 5, 5, 5, 8, 8, 17, 30, 33, 33, 33, 61, 61, 120]
    sentences = [[draw.choice(known) for _ in range(n)] for n in lengths * 2 + [9, 45, 64]]
    together = nlp.scorer.score(sentences)
    alone = [nlp.scorer.score([words]) for words in sentences]
    np.testing.assert_array_equal(together.rows, np.concatenate([one.rows for one in alone]))
    np.testing.assert_array_equal(together.tags, np.concatenate([one.tags for one in alone]))


def test_without_torch_and_without_a_network() -> None:
    """A process that cannot import torch, transformers or socket's connections parses."""
    code = """
import sys, socket
for name in ("torch", "transformers", "onnx", "safetensors"):
    sys.modules[name] = None
def refuse(*args): raise AssertionError("no network")
socket.socket.connect = refuse
import treewright
print(treewright.load("en")("It works.")[0].brackets())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))\n"


def test_the_command_line() -> None:
    command = [sys.executable, "-m", "treewright", "parse", "--format", "json"]
    run = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(lines) == 3
    latin = subprocess.run(
        command, input="fine\ncaf\xe9 bad\n".encode("latin-1"), capture_output=True
    )
    assert latin.returncode == 2
    assert b"line 2" in latin.stderr or b":2:" in latin.stderr
    assert b"Traceback" not in latin.stderr
