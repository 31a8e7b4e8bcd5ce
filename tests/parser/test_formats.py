"""One sentence as text: brackets, JSON, columns."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parser.scorers import HashScorer
from strategies import ROOTED_TREES
from treewright.decode import Constraints
from treewright.parser import Parser, Sentence
from treewright.parser.formats import brackets, with_confidences
from treewright.trees import Tree

WORDS = ["The", "old", "dog", "sees", "me", "."]
TAGS = ["DT", "JJ", "NN", "VBZ", "PRP", "."]


@pytest.fixture
def sentence(nlp: Parser) -> Sentence:
    """`(TOP (S (NP The old dog) (VP sees (NP me)) .))`, as it is told to be."""
    spans = [(0, 6, "S"), (0, 3, "NP"), (3, 5, "VP"), (4, 5, "NP")]
    others = [(i, j) for i in range(6) for j in range(i + 1, 7) if (i, j) != (0, 6)]
    wish = Constraints(
        must=spans, must_not=[span for span in others if (*span,) not in [s[:2] for s in spans]]
    )
    return nlp.parse(WORDS, TAGS, constraints=wish, rules="off")


TREE = "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (VBZ sees) (NP (PRP me))) (. .)))"


class TestBrackets:
    def test_as_treebanks_have_them(self, sentence: Sentence) -> None:
        assert sentence.brackets() == TREE
        assert str(sentence) == TREE

    @given(ROOTED_TREES)
    def test_what_can_be_written_as_it_is_is(self, tree: Tree) -> None:
        assert brackets(tree) == tree.brackets()
        assert brackets(tree, escape=False) == tree.brackets()

    @given(st.lists(st.text(min_size=1), min_size=1), st.text(min_size=1))
    def test_any_word_can_be_read_again(self, words: list[str], tag: str) -> None:
        tree = Tree("NP", [Tree(tag, word=word) for word in words])
        again = Tree.from_brackets(brackets(tree))
        assert len(again.words()) == len(words)
        assert "\0" not in brackets(tree)
        for word, written in zip(words, again.words(), strict=True):
            if not set(word) & set("() \t\n\r\f\v\0"):
                assert written == word

    def test_without_escapes_brackets_stay(self) -> None:
        tree = Tree("", [Tree("NP", [Tree("-LRB-", word="("), Tree("NN", word="a b\0")])])
        assert brackets(tree) == "( (NP (-LRB- -LRB-) (NN a_b_)))"
        assert brackets(tree, escape=False) == "( (NP (-LRB- () (NN a_b_)))"


class TestJson:
    def test_all_of_it(self, sentence: Sentence) -> None:
        found = sentence.to_dict()
        assert found == {
            "text": "The old dog sees me .",
            "start": 0,
            "words": WORDS,
            "tags": TAGS,
            "offsets": [[0, 3], [4, 7], [8, 11], [12, 16], [17, 19], [20, 21]],
            "tree": TREE,
            "score": round(sentence.score, 4),
            "violations": [],
            "constituents": [
                {"start": 0, "end": 6, "label": "S"},
                {"start": 0, "end": 3, "label": "NP"},
                {"start": 3, "end": 5, "label": "VP"},
                {"start": 4, "end": 5, "label": "NP"},
            ],
        }
        assert json.loads(json.dumps(found)) == found

    def test_confidences_where_they_are_there(self, sentence: Sentence) -> None:
        sentence.confidences()
        found = sentence.to_dict()["constituents"]
        expected = [round(one.probability, 4) for one in sentence.confidences()]
        assert [one["confidence"] for one in found] == expected

    def test_violations(self, nlp: Parser) -> None:
        wish = Constraints(must=[(0, 2, "ADVP")])
        sentence = nlp.parse(["a", "dog"], constraints=wish, rules="off")
        assert sentence.brackets() == "(TOP (ADVP (NP (DT a)) (S (PRP dog))))"
        rule = {"kind": "rule", "start": 0, "end": 2, "symbol": "ADVP", "children": ["NP", "S"]}
        assert sentence.to_dict()["violations"] == [
            {"kind": "root", "start": 0, "end": 2, "symbol": "ADVP"},
            rule,
            {"kind": "word", "start": 1, "end": 2, "symbol": "S"},
        ]

    def test_further_trees(self, nlp: Parser) -> None:
        sentence = nlp.parse(WORDS, k=3)
        found = sentence.to_dict()
        assert [one["tree"] for one in found["alternatives"]] == [
            brackets(tree) for tree in sentence.trees[1:]
        ]
        assert [one["score"] for one in found["alternatives"]] == pytest.approx(
            sentence.scores[1:], abs=1e-4
        )


class TestColumns:
    def test_as_in_conll_2012(self, sentence: Sentence) -> None:
        assert sentence.conll() == (
            "1\tThe\tDT\t(TOP(S(NP*\n"
            "2\told\tJJ\t*\n"
            "3\tdog\tNN\t*)\n"
            "4\tsees\tVBZ\t(VP*\n"
            "5\tme\tPRP\t(NP*))\n"
            "6\t.\t.\t*))"
        )

    def test_a_column_a_tree(self, nlp: Parser) -> None:
        sentence = nlp.parse(WORDS, k=3)
        rows = [line.split("\t") for line in sentence.conll().split("\n")]
        for number, tree in enumerate(sentence.trees):
            leaves = [f"({tag} {word})" for tag, word in zip(sentence.tags, WORDS, strict=True)]
            text = "".join(
                row[3 + number].replace("*", leaf) for row, leaf in zip(rows, leaves, strict=True)
            )
            assert Tree.from_brackets(text.replace("(", " (")) == tree


def test_a_drawing_says_how_sure_it_is(sentence: Sentence) -> None:
    drawn = with_confidences(sentence)
    assert drawn.words() == sentence.tree.words()
    assert drawn.label == "TOP"
    percent = [f"{100 * one.probability:.0f} %" for one in sentence.confidences()]
    labels = [node.label for node in drawn.subtrees() if node.word is None]
    expected = ["S", "NP", "VP", "NP"]
    assert labels[1:] == [f"{a} {b}" for a, b in zip(expected, percent, strict=True)]


def test_a_one_word_sentence_has_all_forms(nlp: Parser) -> None:
    scorer = HashScorer()
    sentence = Parser(scorer).parse(["dogs"], k=2, confidence=True)
    assert sentence.conll().startswith("1\tdogs\t")
    assert sentence.to_dict()["words"] == ["dogs"]
    assert with_confidences(sentence).words() == ("dogs",)
    assert sentence.pretty(40).endswith("dogs\n") or "dogs" in sentence.pretty(40)
    assert sentence.svg().startswith("<svg")
    assert nlp.parse(["dogs"])._repr_svg_() == sentence.svg()
