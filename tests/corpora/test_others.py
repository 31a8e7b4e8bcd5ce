"""CRAFT, MCTB and plain brackets."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.made import second_words, sentence, write
from treewright.corpora import TREEBANKS, read
from treewright.errors import CorpusError, EmptyInput, MissingPart, NotFound
from treewright.trees import read_trees

NUMBERS = [11_319_941 + 1_000 * rank for rank in range(97)]


@pytest.fixture
def craft(tmp_path: Path) -> Path:
    penn = tmp_path / "CRAFT" / "structural-annotation" / "treebank" / "penn"
    for rank, number in enumerate(NUMBERS):
        text = sentence(f"a{rank}", "TITLE") + "( (S (-NONE- *)) )\n"
        write(penn / f"{number}.tree", text)
    return tmp_path / "CRAFT"


def test_craft_goes_by_article(craft: Path) -> None:
    corpus = read("craft", craft)
    ranks = {part: [int(w[1:]) for w in second_words(corpus[part])] for part in corpus.parts}
    assert ranks["test"] == [9, 19, 29, 39, 49, 59, 69, 79, 89]
    assert ranks["dev"] == [4, 14, 24, 34, 44, 54, 64, 74, 84, 94]
    assert sorted(n for part in ranks.values() for n in part) == list(range(97))
    assert ranks["train"] == sorted(ranks["train"])


def test_craft_with_articles_missing(craft: Path) -> None:
    next(craft.rglob("*.tree")).unlink()
    with pytest.raises(MissingPart, match="holds 96 articles, not 97"):
        read("craft", craft)
    with pytest.raises(MissingPart, match=r"holds no NNNNNNNN\.tree"):
        read("craft", write(craft / "x" / "y", "").parent)


def test_mctb_is_test_alone(tmp_path: Path) -> None:
    domains = ["dialogue", "forum", "law", "literature", "review"]
    for name in reversed(domains):
        write(tmp_path / "data" / "MCTB_en" / f"{name}.cleaned.txt", sentence(name))
    write(tmp_path / "data" / "parsed_outputs" / "x" / "law.txt", sentence("parsed"))
    corpus = read("mctb", tmp_path)
    assert second_words(corpus.test) == domains
    assert corpus.test.expected == 5_000
    with pytest.raises(MissingPart, match="mctb has no part 'train', only test"):
        corpus.train  # noqa: B018
    (tmp_path / "data" / "MCTB_en" / "law.cleaned.txt").unlink()
    with pytest.raises(MissingPart, match="lacks the domain law"):
        read("mctb", tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(MissingPart, match="holds no dialogue"):
        read("mctb", tmp_path / "none")


def test_one_domain_of_mctb(shared: Path) -> None:
    path = shared / "data" / "mctb_dialogue.mrg"
    corpus = read("mctb", path)
    assert list(corpus.test) == list(read_trees(path))
    assert corpus.test.expected == 1_000


def test_brackets_by_name(tmp_path: Path) -> None:
    for name in ("ptb_train.txt", "ptb.devel.mrg", "TEST.mrg", "readme.txt", "latest.mrg"):
        write(tmp_path / name, sentence(name))
    corpus = read("brackets", tmp_path)
    assert {part: second_words(corpus[part]) for part in corpus.parts} == {
        "train": ["ptb_train.txt"],
        "dev": ["ptb.devel.mrg"],
        "test": ["TEST.mrg"],
    }
    write(tmp_path / "gum_dev.mrg", sentence("x"))
    with pytest.raises(CorpusError, match=r"ptb\.devel\.mrg: could be dev, and gum_dev\.mrg too"):
        read("brackets", tmp_path)


def test_brackets_in_one_file(tmp_path: Path) -> None:
    assert list(read("brackets", write(tmp_path / "dev.mrg", sentence("x"))).parts) == ["dev"]
    one = write(tmp_path / "all.mrg", sentence("x") + "( (S (-NONE- *)) )")
    assert second_words(read("brackets", one).train) == ["x"]
    with pytest.raises(EmptyInput, match="holds no tree"):
        list(read("brackets", write(tmp_path / "none.mrg", " \n")).train)


def test_brackets_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"holds no train\.mrg, dev\.mrg or test\.mrg"):
        read("brackets", tmp_path)
    with pytest.raises(NotFound):
        read("brackets", tmp_path / "train.mrg")


def test_normalising_what_is_normal_changes_nothing(shared: Path) -> None:
    path = shared / "data" / "wsj_test.mrg"
    assert list(read("brackets", path).test) == list(read_trees(path))


def test_every_card_is_filled_in() -> None:
    for name, treebank in TREEBANKS.items():
        assert treebank.name == name
        assert all([treebank.title, treebank.source, treebank.split, treebank.licence])
