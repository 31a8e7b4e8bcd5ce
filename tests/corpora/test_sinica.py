"""Sinica's own notation: read, taken apart, and every way to get it wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.made import write
from treewright.corpora import read
from treewright.corpora.sinica import read_clauses
from treewright.errors import (
    BracketError,
    EmptyLabel,
    EmptyTree,
    MissingPart,
    Place,
    StrayWord,
    UnclosedBracket,
    UnopenedBracket,
)
from treewright.trees import Tree, read_trees

CLAUSES = """\
#1:1.[0] NP(Head:Neu:一)#
#2:1.[0] NP(property:N‧的(head:Nhaa:我|Head:DE:的)|Head:Nab:書)#。(PERIODCATEGORY)
#3:1.[0] %()#
#4:1.[0] S(agent:NP(Head:Nba:嘉珍)|manner:V‧地(head:VA11:不停|Head:DE:的)|Head:VA4:哭泣)#0

#5:1.[0] Cbca:所以#
S(NP(Head:Nhaa:他)|Head:VA4:笑)
"""


def test_notation(tmp_path: Path) -> None:
    path = write(tmp_path / "parsed", CLAUSES)
    assert [line for line, _ in read_clauses(path)] == [1, 2, 4, 6, 7]
    assert [tree.brackets() for tree in read("sinica", path, verbatim=True).train] == [
        "(NP (Neu 一))",
        "(NP (N‧的-property (Nhaa 我) (DE 的)) (Nab 書))",
        "(S (NP-agent (Nba 嘉珍)) (V‧地-manner (VA11 不停) (DE 的)) (VA4 哭泣))",
        "(Cbca 所以)",
    ]
    corpus = read("sinica", tmp_path)
    assert [tree.brackets() for tree in corpus.train] == [
        "(TOP (NP (Neu 一)))",
        "(TOP (NP (N (Nhaa 我) (DE 的)) (Nab 書)))",
        "(TOP (S (NP (Nba 嘉珍)) (V (VA11 不停) (DE 的)) (VA4 哭泣)))",
        "(TOP (Cbca 所以))",
    ]
    assert list(corpus.dev.located()) == [
        (
            Place(str(path), line=7),
            Tree.from_brackets("(TOP (S (NP (Nhaa 他)) (VA4 笑)))"),
        )
    ]


def test_split(tmp_path: Path) -> None:
    lines = [f"#{n}:1.[0] NP(Head:Neu:w{n})#\n" for n in range(1, 31)]
    corpus = read("sinica", write(tmp_path / "sinica_treebank" / "parsed", "".join(lines)).parent)
    found = {part: [int(tree.words()[0][1:]) for tree in corpus[part]] for part in corpus.parts}
    assert (found["dev"], found["test"]) == ([5, 15, 25], [10, 20, 30])
    assert sorted(n for part in found.values() for n in part) == list(range(1, 31))


@pytest.mark.parametrize(
    ("text", "error", "column"),
    [
        ("NP(Head:Nab:書", UnclosedBracket, 10),
        ("NP(Head:Nab:書))", UnopenedBracket, 24),
        ("NP()", EmptyTree, 13),
        ("(Head:Nab:書)", EmptyLabel, 10),
        ("goal:(Head:Nab:書)", EmptyLabel, 15),
        ("NP(書)", StrayWord, 13),
        ("NP(Head:Nab:)", StrayWord, 13),
        ("NP(Head:Nab:書|詞)", StrayWord, 24),
        ("NP(Head:Nab:書)NP(Head:Nab:書)", StrayWord, 10),
        ("NP(Head:Nab:書 本)", BracketError, 13),
    ],
)
def test_errors_have_a_place(
    tmp_path: Path, text: str, error: type[BracketError], column: int
) -> None:
    path = write(tmp_path / "parsed", f"\n#1:1.[0] {text}#\n")
    with pytest.raises(error) as raised:
        list(read_clauses(path))
    place = raised.value.place
    assert place is not None
    assert (place.file, place.line, place.column) == (str(path), 2, column)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match="holds no file named parsed"):
        read("sinica", tmp_path)


def _in_sinica(tree: Tree) -> str:
    """The inverse of reading, for trees whose labels hold no colon."""

    def pieces() -> Iterator[str]:
        stack: list[Tree | str] = [tree.children[0]]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
            elif item.is_leaf:
                yield f"Head:{item.label}:{item.word}"
            else:
                yield f"role:{item.label}‧的("
                stack.append(")")
                for child in reversed(item.children):
                    stack += [child, "|"]
                stack.pop()

    return "".join(pieces()).removeprefix("role:")


NAMES = st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1, max_size=4)
WORDS = st.text(
    alphabet=st.characters(exclude_categories=["C", "Z"], exclude_characters="()|:#"),
    min_size=1,
    max_size=4,
)
LEAVES = st.builds(lambda tag, word: Tree(tag, word=word), NAMES, WORDS)
PHRASES = st.recursive(
    st.builds(Tree, NAMES, st.lists(LEAVES, min_size=1, max_size=3)),
    lambda inner: st.builds(Tree, NAMES, st.lists(inner | LEAVES, min_size=1, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=50)
@given(PHRASES)
def test_any_tree_survives_the_notation(
    tmp_path_factory: pytest.TempPathFactory, tree: Tree
) -> None:
    whole = Tree("TOP", [Tree("S", [tree])])
    path = tmp_path_factory.getbasetemp() / "parsed"
    write(path, f"#1:1.[0] {_in_sinica(whole)}#0\n")
    assert list(read("sinica", path).train) == [whole]


def test_depth(tmp_path: Path) -> None:
    depth = 50_000
    text = "r:NP(" * depth + "Head:Nab:書" + ")" * depth
    (tree,) = read("sinica", write(tmp_path / "parsed", text)).train
    assert sum(1 for _ in tree.subtrees()) == depth + 2
    assert tree.words() == ("書",)


def test_the_sample_survives_its_own_notation(shared: Path, tmp_path: Path) -> None:
    trees = list(read_trees(shared / "data" / "sinica_dev.mrg"))
    lines = [f"#{n}:1.[0] {_in_sinica(tree)}#。(PERIODCATEGORY)\n" for n, tree in enumerate(trees)]
    corpus = read("sinica", write(tmp_path / "parsed", "".join(lines)))
    read_back = [list(corpus[part]) for part in ("train", "dev", "test")]
    ranks = [
        [n for n in range(1000) if n % 10 not in (4, 9)],
        range(4, 1000, 10),
        range(9, 1000, 10),
    ]
    assert read_back == [[trees[n] for n in part] for part in ranks]
