"""GUM: its split file, withheld texts, and documents that do not match it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpora.made import second_words, sentence, write
from treewright.corpora import read
from treewright.errors import CorpusError, MissingPart, Place

SPLITS = """\
# Splits

The following standard train / dev / test / test2 splits are used for the corpus.

## dev

  * GUM_bio_byron
  * GUM_reddit_pandas

## test

  * GUM_bio_dvorak

## test2

  * GENTLE_poetry_raven

## train

  * GUM_academic_art
  * GUM_reddit_bobby
"""
TREE = """\
(ROOT
  (S
    (NP-SBJ (DT the) (NN {name}))
    (VP (VBZ stands)
      (PRN (-LSB- [) (CD 17) (-RSB- ])))))

"""
WITHHELD = "(ROOT (S (NP-SBJ (NNS ______)) (VP (VBP ___)) (. _)))\n\n"
NAMES = ("academic_art", "bio_byron", "bio_dvorak", "reddit_bobby")


@pytest.fixture
def gum(tmp_path: Path) -> Path:
    write(tmp_path / "splits.md", SPLITS)
    const = tmp_path / "const"
    for name in NAMES:
        write(const / f"GUM_{name}.ptb", TREE.format(name=name))
    write(const / "GENTLE_poetry_raven.ptb", TREE.format(name="raven"))
    write(const / "GUM_reddit_pandas.ptb", WITHHELD + TREE.format(name="x"))
    # A working copy holds the same documents once more.
    write(tmp_path / "_build" / "src" / "const" / "GUM_bio_byron.ptb", "(((")
    return tmp_path


@pytest.mark.parametrize("inner", ["", "const"])
def test_split(gum: Path, inner: str) -> None:
    corpus = read("gum", gum / inner)
    assert {part: second_words(corpus[part]) for part in corpus.parts} == {
        "train": ["academic_art", "reddit_bobby"],
        "dev": ["bio_byron"],
        "test": ["bio_dvorak"],
        "test2": ["raven"],
    }
    assert corpus.notes == ("1 documents left out, since their words are underscores",)
    assert corpus.test.expected is None
    assert next(iter(corpus.dev)).brackets() == (
        "(TOP (S (NP (DT the) (NN bio_byron)) (VP (VBZ stands) (PRN (-LSB- [) (CD 17) (-RSB- ])))))"
    )


def test_split_file_in_json_in_the_folder_itself(gum: Path) -> None:
    (gum / "splits.md").unlink()
    split = {"train": ["GUM_academic_art"], "dev": ["GUM_bio_byron"], "test": ["GUM_bio_dvorak"]}
    write(gum / "const" / "splits.json", json.dumps(split))
    corpus = read("gum", gum / "const")
    assert list(corpus.parts) == ["train", "dev", "test"]
    assert corpus.notes == (
        "splits.json does not name GENTLE_poetry_raven, GUM_reddit_bobby, GUM_reddit_pandas: "
        "left out",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting"),
        ("[]", "no object"),
        ('{"dev": {}}', "no object"),
        ('{"x": []}', "no object"),
    ],
)
def test_json_that_is_no_split(gum: Path, text: str, message: str) -> None:
    (gum / "splits.md").unlink()
    write(gum / "splits.json", text)
    with pytest.raises(CorpusError, match=message):
        read("gum", gum)


def test_documents_that_are_missing(gum: Path) -> None:
    (gum / "const" / "GUM_bio_byron.ptb").unlink()
    with pytest.raises(MissingPart, match=r"lacks GUM_bio_byron\.ptb"):
        read("gum", gum)


def test_a_document_in_two_parts(gum: Path) -> None:
    write(gum / "splits.md", SPLITS + "  * GUM_bio_byron\n")
    with pytest.raises(CorpusError, match="GUM_bio_byron is in dev and in train") as raised:
        read("gum", gum)
    assert raised.value.place == Place(str(gum / "splits.md"), line=22)


def test_no_split_file_and_an_empty_one(gum: Path) -> None:
    write(gum / "splits.md", "GUM_bio_byron\n")
    with pytest.raises(CorpusError, match="names no document"):
        read("gum", gum)
    (gum / "splits.md").unlink()
    with pytest.raises(MissingPart, match=r"no splits\.md here or one folder up"):
        read("gum", gum)
    with pytest.raises(MissingPart, match=r"holds no const/\*\.ptb"):
        read("gum", write(gum / "x" / "y", "").parent)


def test_a_part_all_of_whose_texts_are_withheld(gum: Path) -> None:
    write(gum / "splits.md", SPLITS.replace("  * GUM_bio_byron\n", ""))
    with pytest.raises(MissingPart, match="no document of dev has words"):
        read("gum", gum)


def test_verbatim(gum: Path) -> None:
    assert next(iter(read("gum", gum, verbatim=True).dev)).brackets().startswith("(ROOT (S (NP-SBJ")


def test_sentence_is_true_to_ptb() -> None:
    assert sentence("x") == "( (S (NP-SBJ (DT the) (NN x)) (VP (VBZ stands))) )\n"
