"""The Chinese Treebank: articles, encodings, markup, and what stands outside the sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.made import CTB_FILE, CTB_TIDY, ctb, write
from treewright.corpora import read
from treewright.errors import (
    CorpusError,
    EmptyInput,
    EncodingError,
    MissingPart,
    Place,
    UnclosedBracket,
    UnopenedBracket,
)

ARTICLES = [*range(1, 326), 400, 439, 440, 931, 1001, 1151, 1152]


@pytest.fixture
def bracketed(tmp_path: Path) -> Path:
    return ctb(tmp_path / "ctb5.1_507K" / "data" / "bracketed", ARTICLES)


def names(trees: object) -> list[str]:
    return [tree.words()[2] for tree in trees]  # type: ignore[attr-defined]


def test_articles(bracketed: Path) -> None:
    write(bracketed.parent / "raw" / "chtb_001.fid", "no tree at all")
    corpus = read("ctb", bracketed.parents[1])
    ranks = [*range(1, 271), 440, 931, 1001, 1151]
    assert names(corpus.train) == [f"a{number}" for number in ranks]
    assert names(corpus.dev) == [f"a{number}" for number in range(301, 326)]
    assert names(corpus.test) == [f"a{number}" for number in range(271, 301)]
    expected = [corpus.train.expected, corpus.dev.expected, corpus.test.expected]
    assert expected == [17_544, 352, 348]


@pytest.mark.parametrize("article", [301, 302])
def test_both_encodings_and_tidy_trees(bracketed: Path, article: int) -> None:
    located = {
        place.file: (place.line, tree) for place, tree in read("ctb", bracketed).dev.located()
    }
    line, tree = located[str(bracketed / f"chtb_{article}.fid")]
    assert line == 11
    assert tree.brackets() == CTB_TIDY.format(name=f"a{article}")


def test_verbatim_keeps_traces_and_what_holds_nothing_else(bracketed: Path) -> None:
    first, second, *_ = read("ctb", bracketed, verbatim=True).dev
    assert first.brackets().startswith("( (IP-HLN (NP-SBJ (NP-PN (NR 上海)")
    assert second.brackets() == "( (CP (WHNP-1 (-NONE- *OP*))))"


def test_later_names(tmp_path: Path) -> None:
    ctb(tmp_path, range(1, 900), suffix="nw", digits=4)
    ctb(tmp_path, [1001], suffix="mz", digits=4)
    corpus = read("ctb", tmp_path)
    assert names(corpus.train)[-2:] == ["a899", "a1001"]


def test_stray_bytes_outside_sentences_do_no_harm(bracketed: Path) -> None:
    path = bracketed / "chtb_301.fid"
    path.write_bytes(path.read_bytes() + b"\xff\x1a\0\n(\xff")
    assert names(read("ctb", bracketed).dev)[0] == "a301"


def test_bytes_within_a_sentence_that_are_no_text(bracketed: Path) -> None:
    path = bracketed / "chtb_301.fid"
    path.write_bytes(path.read_bytes().replace("浦东".encode("gb18030"), b"\xff\xff"))
    with pytest.raises(EncodingError, match="neither UTF-8 nor GB18030") as raised:
        list(read("ctb", bracketed).dev)
    assert raised.value.place is not None
    assert (raised.value.place.file, raised.value.place.line) == (str(path), 12)


def test_an_article_in_another_encoding(bracketed: Path) -> None:
    write(bracketed / "chtb_325.fid", CTB_FILE.format(name="x"), "utf-16")
    with pytest.raises(EmptyInput, match=r"chtb_325\.fid: holds no tree"):
        list(read("ctb", bracketed).dev)


def test_a_file_without_sentence_marks_and_with_a_mark_of_order(bracketed: Path) -> None:
    path = bracketed / "chtb_301.fid"
    path.write_bytes("\ufeff( (NP (NN x) (NN y)\n (NN 书)) )\n<P>\n\n".encode())
    assert next(iter(read("ctb", bracketed).dev)).words() == ("x", "y", "书")


@pytest.mark.parametrize(
    ("damage", "error", "line"),
    [
        (("(VV 发展))) )", "(VV 发展))"), UnclosedBracket, 11),
        (("(VV 发展)", "(VV 发展)))"), UnopenedBracket, 14),
    ],
)
def test_brackets_that_do_not_match(
    bracketed: Path, damage: tuple[str, str], error: type[Exception], line: int
) -> None:
    path = bracketed / "chtb_301.fid"
    write(path, CTB_FILE.format(name="x").replace(*damage), "gb18030")
    with pytest.raises(error) as raised:
        list(read("ctb", bracketed).dev)
    place: Place = raised.value.place  # type: ignore[attr-defined]
    assert (place.file, place.line) == (str(path), line)


def test_missing_articles_are_named(bracketed: Path) -> None:
    for number in (280, 291):
        (bracketed / f"chtb_{number}.fid").unlink()
    with pytest.raises(MissingPart, match=r"lacks article 280, 291$"):
        read("ctb", bracketed)


def test_the_first_release_alone_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match="lacks article 440 to 1151"):
        read("ctb", ctb(tmp_path, range(1, 326)))


def test_two_encodings_of_one_release(tmp_path: Path) -> None:
    for folder in ("gbk", "utf8"):
        ctb(tmp_path / folder / "bracketed", [1])
    with pytest.raises(CorpusError, match="point at one of the two folders"):
        read("ctb", tmp_path)
    with pytest.raises(MissingPart, match=r"holds no chtb_NNN\.fid"):
        read("ctb", write(tmp_path / "x" / "y", "").parent)
