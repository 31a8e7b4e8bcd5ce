"""The Penn Treebank and NLTK's sample of it: sections, texts, and the trees in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpora.made import PTB_TIDY, PTB_TREE, write, wsj
from treewright.corpora import read
from treewright.errors import (
    BracketError,
    CorpusError,
    EmptyInput,
    EncodingError,
    MissingPart,
    NotFound,
    Place,
    UnclosedBracket,
)

SECTIONS = [100 * section + text for section in range(25) for text in (0, 99)]


@pytest.fixture
def ptb(tmp_path: Path) -> Path:
    wsj(tmp_path / "treebank_3" / "parsed" / "mrg" / "wsj", SECTIONS)
    # The same texts in other forms, and another corpus, lie beside them.
    write(tmp_path / "treebank_3" / "parsed" / "prd" / "wsj" / "02" / "wsj_0200.prd", "((")
    write(tmp_path / "treebank_3" / "parsed" / "mrg" / "brown" / "cf" / "cf01.mrg", "((")
    return tmp_path / "treebank_3"


@pytest.mark.parametrize("inner", ["", "parsed", "parsed/mrg", "parsed/mrg/wsj"])
def test_sections(ptb: Path, inner: str) -> None:
    corpus = read("ptb", ptb / inner)
    names = {part: [tree.words()[0] for tree in corpus[part]] for part in corpus.parts}
    assert names["train"][:3] == ["0200", "0299", "0300"]
    assert names["train"][-1] == "2199"
    assert len(names["train"]) == 40
    assert (names["dev"], names["test"]) == (["2200", "2299"], ["2300", "2399"])
    expected = [corpus.train.expected, corpus.dev.expected, corpus.test.expected]
    assert expected == [39_832, 1_700, 2_416]


def test_trees_are_normalised_unless_verbatim(ptb: Path) -> None:
    (tree, _) = read("ptb", ptb).dev
    assert tree.brackets() == PTB_TIDY.format(name="2200")
    (tree, _) = read("ptb", ptb, verbatim=True).dev
    assert tree.brackets() == " ".join(PTB_TREE.format(name="2200").replace(" )", ")").split())


def test_a_part_streams_and_can_be_read_again(ptb: Path) -> None:
    broken = ptb / "parsed/mrg/wsj/02/wsj_0299.mrg"
    write(broken, "( (S (NP (NN a)) )\n\n( (S (NP (NN a")
    train = read("ptb", ptb).train
    for _ in range(2):
        located = train.located()
        place, tree = next(located)
        assert place == Place(str(ptb / "parsed/mrg/wsj/02/wsj_0200.mrg"), line=2)
        assert tree.words()[0] == "0200"
        with pytest.raises(BracketError) as raised:
            next(located)
        assert raised.value.place is not None
        assert raised.value.place.file == str(broken)


def test_whole_sections_and_capitals(tmp_path: Path) -> None:
    for section in range(2, 24):
        text = PTB_TREE.format(name=f"a{section}") + PTB_TREE.format(name=f"b{section}")
        write(tmp_path / f"WSJ_{section:02}.MRG", text)
    assert [tree.words()[0] for tree in read("ptb", tmp_path).test] == ["a23", "b23"]


def test_missing_sections_are_named(ptb: Path) -> None:
    for path in (ptb / "parsed/mrg/wsj/07").iterdir():
        path.unlink()
    with pytest.raises(MissingPart, match=r"lacks section 07; found 00, 01, 02"):
        read("ptb", ptb)


def test_a_text_twice_is_an_error(ptb: Path) -> None:
    wsj(ptb / "combined" / "wsj", [1200])
    with pytest.raises(CorpusError, match=r"wsj_1200\.mrg: is here, and .*combined.* too"):
        read("ptb", ptb)


def test_places_that_hold_no_treebank(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such folder"):
        read("ptb", tmp_path / "nowhere")
    with pytest.raises(MissingPart, match=r"holds no wsj_NNNN\.mrg"):
        read("ptb", tmp_path)
    with pytest.raises(CorpusError, match="is a file"):
        read("ptb", write(tmp_path / "wsj_0200.mrg", PTB_TREE))
    with pytest.raises(CorpusError, match="no treebank 'pbt'; there are ptb, ctb"):
        read("pbt", tmp_path)


def test_bad_files_are_named_with_their_line(ptb: Path) -> None:
    path = ptb / "parsed/mrg/wsj/22/wsj_2200.mrg"
    write(path, PTB_TREE.format(name="x") + "( (S (NN a)")
    with pytest.raises(UnclosedBracket) as unclosed:
        list(read("ptb", ptb).dev)
    assert unclosed.value.place is not None
    assert (unclosed.value.place.file, unclosed.value.place.line) == (str(path), 9)
    path.write_bytes(b"( (S\n (NN caf\xe9)))")
    with pytest.raises(EncodingError) as encoding:
        list(read("ptb", ptb).dev)
    assert encoding.value.place == Place(str(path), line=2, column=9)


def test_files_without_a_tree_and_parts_without_a_word(ptb: Path) -> None:
    for text in (0, 99):
        write(ptb / f"parsed/mrg/wsj/23/wsj_23{text:02}.mrg", "( (S (-NONE- *)) )")
    with pytest.raises(EmptyInput, match="test holds traces alone"):
        list(read("ptb", ptb).test)
    assert len(list(read("ptb", ptb, verbatim=True).test)) == 2
    path = write(ptb / "parsed/mrg/wsj/23/wsj_2399.mrg", "\n")
    with pytest.raises(EmptyInput, match="holds no tree for test") as raised:
        list(read("ptb", ptb, verbatim=True).test)
    assert raised.value.place == Place(str(path))


@pytest.mark.skipif(os.name != "posix", reason="elsewhere links want rights")
def test_links_between_folders_end(ptb: Path) -> None:
    (ptb / "parsed" / "up").symlink_to(ptb, target_is_directory=True)
    assert len(list(read("ptb", ptb).dev)) == 2


def test_nltk_sample(tmp_path: Path) -> None:
    folder = tmp_path / "corpora" / "treebank" / "combined"
    for number in range(1, 200):
        write(folder / f"wsj_{number:04}.mrg", PTB_TREE.format(name=number))
    corpus = read("nltk", tmp_path)
    numbers = {part: [int(tree.words()[0]) for tree in corpus[part]] for part in corpus.parts}
    assert numbers["train"] == list(range(1, 160))
    assert numbers["dev"] == list(range(160, 180))
    assert numbers["test"] == list(range(180, 200))
    with pytest.raises(MissingPart, match="lacks section 02, 03"):
        read("ptb", tmp_path)
    (folder / "wsj_0160.mrg").unlink()
    with pytest.raises(MissingPart, match=r"lacks wsj_0160\.mrg"):
        read("nltk", tmp_path)
