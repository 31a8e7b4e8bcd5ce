"""The parser: what it answers is what the decoders find in the scorer's scores."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parser.scorers import HashScorer, description
from treewright.decode import Constraints, decode, marginals
from treewright.errors import ConstraintError, OptionError, Place, SentenceError
from treewright.parser import Document, Input, Options, Parser
from treewright.trees import Span, Tree
from treewright.trees.symbols import split_chain

TEXT = "The old dog sees me. I run to the dog (home)!\n\nDogs of war?"
WORDS = ["The", "old", "dog", "sees", "me", "."]


class TestText:
    def test_a_document_is_its_sentences(self, nlp: Parser) -> None:
        document = nlp(TEXT)
        assert len(document) == 3
        assert [sentence.text for sentence in document] == [
            "The old dog sees me.",
            "I run to the dog (home)!",
            "Dogs of war?",
        ]
        assert document.trees == tuple(sentence.tree for sentence in document)
        assert document[-1] is document.sentences[2]
        assert document[:2] == document.sentences[:2]
        assert document.text == TEXT
        assert repr(document) == "<Document of 3 sentences, 59 characters>"

    def test_offsets_point_into_the_text(self, nlp: Parser) -> None:
        for sentence in nlp(TEXT):
            assert [TEXT[i:j] for i, j in sentence.offsets] == list(sentence.words)
            assert TEXT[sentence.start :].startswith(sentence.text)

    def test_words_stay_as_written(self, nlp: Parser) -> None:
        sentence = nlp(TEXT)[1]
        assert sentence.tree.words() == ("I", "run", "to", "the", "dog", "(", "home", ")", "!")
        assert "-LRB-" in sentence.brackets()
        assert Tree.from_brackets(sentence.brackets()).words()[5] == "-LRB-"

    @pytest.mark.parametrize("text", ["", " ", "\n\t \n", "\ufeff", "\u2003"])
    def test_nothing_is_an_empty_document(self, nlp: Parser, text: str) -> None:
        document = nlp(text)
        assert len(document) == 0
        assert document.trees == ()
        assert str(document) == ""

    def test_a_model_that_knows_no_language_takes_words_only(self) -> None:
        nlp = Parser(HashScorer(description(language="")))
        with pytest.raises(OptionError, match="give words"):
            nlp("The dog")
        assert nlp.parse(["The", "dog"]).words == ("The", "dog")

    @settings(deadline=None)
    @given(st.text(max_size=60))
    def test_any_text_gives_trees_over_its_words(self, text: str) -> None:
        document = Parser(HashScorer())(text)
        found = [text[i:j] for sentence in document for i, j in sentence.offsets]
        assert found == [word for tree in document.trees for word in tree.words()]
        for sentence in document:
            tree = Tree.from_brackets(sentence.brackets())
            assert len(tree.words()) == len(sentence)
            assert "\n" not in sentence.brackets()


ODD = {
    "emoji": "👩‍👩‍👧 loves 🇫🇷 and e\u0301te\u0301.",
    "right to left": "שלום עולם. مرحبا بالعالم.",
    "control": "a\x01b \x07 c\x7f.",
    "nul": "a\0b \0 c.",
    "brackets": "( -LRB- ) (( [x] {y} -RRB-",
    "code": "see https://x.org/a_(b)?c=d&e#f; if (a[i] == '\\n') { return; }",
    "chinese": "我爱北京天安门。今天天气很好。",
    "one character": "x",
    "one word": "Hello",
    "windows": "One line.\r\n\r\nAnother line.\r\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_text_gives_trees(nlp: Parser, text: str) -> None:
    document = nlp(text, k=2, confidence=True)
    assert len(document) >= 1
    for sentence in document:
        assert [text[i:j] for i, j in sentence.offsets] == list(sentence.words)
        assert sentence.tree.words() == sentence.words
        assert Tree.from_brackets(sentence.brackets()).tags() == sentence.tags
        assert len(sentence.conll().split("\n")) == len(sentence)


def test_two_thousand_words_without_a_full_stop(nlp: Parser) -> None:
    text = " ".join(["dog"] * 2000)
    document = nlp(text)
    assert sum(map(len, document)) == 2000
    assert [text[i:j] for s in document for i, j in s.offsets] == ["dog"] * 2000


class TestRules:
    @pytest.mark.parametrize(
        ("options", "penalty"),
        [
            ({}, math.inf),
            ({"rules": "hard"}, math.inf),
            ({"rules": "soft"}, 0.5),
            ({"rules": "soft", "penalty": 1.25}, 1.25),
            ({"rules": "soft", "penalty": math.inf}, math.inf),
            ({"rules": "off"}, 0.0),
        ],
    )
    def test_the_answer_is_the_decoder_s(
        self, nlp: Parser, scorer: HashScorer, options: dict[str, object], penalty: float
    ) -> None:
        own = scorer.description
        for words in (WORDS, WORDS[1:4], ["a"], [*WORDS, *WORDS]):
            sentence = nlp.parse(words, **options)  # type: ignore[arg-type]
            scores = scorer.score([words])
            parse = decode(scores.rows, own.labels, own.grammar, penalty=penalty)
            inner = parse.tree(words, sentence.tags)
            assert sentence.tree == Tree("TOP", [inner])
            assert sentence.score == parse.score
            assert sentence.violations == parse.violations

    def test_rules_off_still_says_what_is_broken(self, nlp: Parser) -> None:
        documents = [nlp.parse([*WORDS, word], rules="off") for word in WORDS]
        assert any(sentence.violations for sentence in documents)
        for sentence in documents:
            expected = nlp.description.grammar.violations(sentence.tree)
            assert sentence.violations == expected

    def test_rule_scores_are_the_model_s(self) -> None:
        plain = description()
        scores = tuple(float(at % 3) for at in range(len(plain.grammar.rules)))
        scorer = HashScorer(description(rule_scores=scores))
        for rules in ("hard", "soft", "off"):
            sentence = Parser(scorer).parse(WORDS, rules=rules)  # type: ignore[arg-type]
            penalty = {"hard": math.inf, "soft": 0.5, "off": 0.0}[rules]
            parse = decode(
                scorer.score([WORDS]).rows,
                plain.labels,
                plain.grammar,
                penalty=penalty,
                rule_scores=None if rules == "off" else np.array(scores),
            )
            assert sentence.score == parse.score
            assert sentence.tree.children[0] == parse.tree(WORDS, sentence.tags)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"rules": "firm"}, "rules are one of hard, soft, off, not 'firm'"),
            ({"penalty": 1.0}, "a penalty is for rules='soft'"),
            ({"rules": "soft", "penalty": -1.0}, "from 0 to infinity"),
            ({"rules": "soft", "penalty": math.nan}, "from 0 to infinity"),
            ({"k": 0}, "k is a whole number from 1"),
            ({"k": True}, "k is a whole number from 1"),
        ],
    )
    def test_options_that_make_no_sense(
        self, nlp: Parser, options: dict[str, object], message: str
    ) -> None:
        with pytest.raises(OptionError, match=message):
            nlp.parse(WORDS, **options)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=message):
            nlp("", **options)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=message):
            nlp.stream([], **options)  # type: ignore[arg-type]


class TestWords:
    def test_the_user_s_tags_are_kept(self, nlp: Parser) -> None:
        own = nlp.parse(WORDS).tags
        assert nlp.parse(WORDS, ["A", "B", "C", "D", "E", "F"]).tree.tags() == tuple("ABCDEF")
        some = nlp.parse(WORDS, ["A", None, None, None, None, "F"])
        assert some.tags == ("A", *own[1:5], "F")

    def test_without_a_root_the_tree_is_bare(self) -> None:
        nlp = Parser(HashScorer(description(root=None)))
        sentence = nlp.parse(WORDS)
        assert sentence.tree.label != "TOP"
        assert sentence.constituents[0] == Span(0, len(WORDS), sentence.tree.label)
        assert len(sentence.confidences()) == len(sentence.constituents)

    def test_text_and_offsets_of_words(self, nlp: Parser) -> None:
        sentence = nlp.parse(WORDS)
        assert sentence.text == "The old dog sees me ."
        assert [sentence.text[i:j] for i, j in sentence.offsets] == WORDS

    @pytest.mark.parametrize(
        ("words", "tags", "message"),
        [
            ([], None, "sentence 2: has no words"),
            ("The dog", None, "the words of a sentence are a list, not the text 'The dog'"),
            (["a", ""], None, "sentence 2: word 2 is empty"),
            (["a", None], None, "sentence 2: word 2 is None"),
            (["a", "b"], ["A"], "sentence 2: has 2 words, but 1 tags"),
            (["a", "b"], "AB", "sentence 2: has 2 words, but 2 tags"),
            (["a", "b"], ["A", ""], "sentence 2: the tag of word 2 is empty"),
            (["a", "b"], ["A", 7], "sentence 2: the tag of word 2 is 7"),
            (["a"] * 20_000, None, "sentence 2: has 20,000 words, which is too long"),
        ],
    )
    def test_what_is_no_sentence_is_named(
        self, nlp: Parser, words: list[str], tags: list[str] | None, message: str
    ) -> None:
        with pytest.raises(SentenceError) as raised:
            nlp.parse_many([["fine"], words], [None, tags])
        assert message in str(raised.value)

    def test_odd_words_never_break_output(self, nlp: Parser) -> None:
        words = [" ", "(", ")", "a b", "\n", "\t", "\0", "\u00a0", "\u2028", "-LRB-", "x(y)", "\\"]
        sentence = nlp.parse(words, ["(", "a b", *["T"] * 10])
        assert sentence.words == tuple(words)
        assert sentence.to_dict()["words"] == words
        tree = Tree.from_brackets(sentence.brackets())
        assert tree.words()[:5] == ("_", "-LRB-", "-RRB-", "a_b", "_")
        assert tree.tags()[:2] == ("-LRB-", "a_b")
        assert tree.words()[10] == "x-LRB-y-RRB-"
        for line in sentence.conll().split("\n"):
            assert line.count("\t") == 3

    def test_many_are_as_one_by_one(self, nlp: Parser, scorer: HashScorer) -> None:
        sentences = [WORDS[:n] for n in (6, 1, 3, 2, 5, 4)]
        tags = [None, ["A"], None, ["B", None], None, None]
        many = nlp.parse_many(sentences, tags, batch_words=7)
        assert scorer.batches == [2, 2, 1, 1]
        for sentence, words, own in zip(many, sentences, tags, strict=True):
            assert sentence.tree == nlp.parse(words, own).tree
        with pytest.raises(OptionError, match="6 sentences, but tags for 1"):
            nlp.parse_many(sentences, [None])
        assert nlp.parse_many([]) == []


class TestMoreTrees:
    @pytest.mark.parametrize("scheme", ["$", "$+left"])
    def test_the_k_best_are_different_trees_the_best_first(self, scheme: str) -> None:
        nlp = Parser(HashScorer(description(scheme=scheme)))
        sentence = nlp.parse(WORDS, k=8, rules="off")
        assert len(set(sentence.trees)) == 8
        assert list(sentence.scores) == sorted(sentence.scores, reverse=True)
        assert sentence.tree == sentence.trees[0]
        assert sentence.score == sentence.scores[0]

    def test_there_may_be_fewer(self, nlp: Parser) -> None:
        assert 1 <= len(nlp.parse(["dog"], k=50).trees) < 50


class TestConfidences:
    @pytest.mark.parametrize(
        ("options", "penalty", "temperature"),
        [
            ({"rules": "hard"}, math.inf, 2.0),
            ({"rules": "soft"}, 0.5, 1.5),
            ({"rules": "soft", "penalty": 3.0}, 3.0, 1.5),
            ({"rules": "off"}, 0.0, 0.5),
        ],
    )
    @pytest.mark.parametrize("at_once", [True, False])
    def test_they_are_of_the_model_that_the_decoder_used(
        self,
        nlp: Parser,
        scorer: HashScorer,
        options: dict[str, object],
        penalty: float,
        temperature: float,
        at_once: bool,
    ) -> None:
        own = scorer.description
        sentences = [WORDS, ["a", "dog"], ["home"], [*WORDS, *WORDS]]
        found = nlp.parse_many(sentences, confidence=at_once, **options)  # type: ignore[arg-type]
        assert len(scorer.batches) == 1
        for words, sentence in zip(sentences, found, strict=True):
            assert sentence.has_confidences == at_once
            result = marginals(
                HashScorer().score([words]).rows,
                own.labels,
                own.grammar,
                penalty=penalty,
                temperature=temperature,
            )
            confidences = sentence.confidences()
            assert [Span(*one[:3]) for one in confidences] == sentence.constituents
            for start, end, label, probability in confidences:
                columns = [c for c, s in enumerate(own.labels) if label in split_chain(s)]
                expected = sum(result.symbol(start, end, own.labels[c]) for c in columns)
                assert probability == pytest.approx(expected, abs=1e-6)
                assert 0 < probability <= 1
        assert len(scorer.batches) == (1 if at_once else 1 + len(sentences))

    def test_they_are_worked_out_once(self, nlp: Parser, scorer: HashScorer) -> None:
        sentence = nlp.parse(WORDS)
        assert sentence.confidences() is sentence.confidences()
        assert len(scorer.batches) == 2

    def test_they_know_constraints(self, nlp: Parser) -> None:
        wish = Constraints(must=[(1, 3, "NP")])
        for confidence in (True, False):
            sentence = nlp.parse(WORDS, constraints=wish, confidence=confidence)
            sure = {one[:3]: one.probability for one in sentence.confidences()}
            assert sure[1, 3, "NP"] == pytest.approx(1.0)

    def test_many_cells_are_taken_a_few_at_a_time(
        self, nlp: Parser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sentences = [WORDS[:n] for n in (6, 1, 3, 2, 5, 4)]
        whole = [s.confidences() for s in nlp.parse_many(sentences, confidence=True)]
        monkeypatch.setattr("treewright.parser.work._MARGINAL_CELLS", 8)
        parts = [s.confidences() for s in nlp.parse_many(sentences, confidence=True)]
        assert parts == whole


class TestConstraints:
    def test_of_one_sentence(self, nlp: Parser) -> None:
        sentence = nlp.parse(WORDS, constraints=Constraints(must=[(1, 4, "PP")]))
        assert Span(1, 4, "PP") in sentence.constituents

    def test_of_a_document_by_sentence(self, nlp: Parser) -> None:
        wish = Constraints(must=[(0, 3, "FRAG")])
        document = nlp(TEXT, constraints=[None, wish, None])
        free = nlp(TEXT)
        assert Span(0, 3, "FRAG") in document[1].constituents
        assert [document[at].tree == free[at].tree for at in range(3)] == [True, False, True]

    def test_as_many_as_sentences(self, nlp: Parser) -> None:
        with pytest.raises(OptionError, match="one a sentence: 3, not 1"):
            nlp(TEXT, constraints=[None])
        with pytest.raises(OptionError, match="one a sentence: 3, not one set"):
            nlp(TEXT, constraints=Constraints())  # type: ignore[arg-type]

    def test_what_cannot_be_met_is_named_by_sentence(self, nlp: Parser) -> None:
        sentences = [WORDS] * 5
        wish = Constraints(must=[(0, 9)])
        with pytest.raises(ConstraintError) as raised:
            nlp.parse_many(sentences, constraints=[*[None] * 3, wish, None], batch_words=12)
        assert raised.value.place == Place(sentence=4, span=(0, 9))

    def test_a_place_of_one_s_own_is_kept(self, nlp: Parser) -> None:
        wish = Constraints(must=[(0, 9)])
        given = Input(WORDS, constraints=wish, place=Place("a.txt", line=7))
        with pytest.raises(ConstraintError, match=r"a\.txt:7, span \(0, 9\): a constraint on"):
            list(nlp.run([given]))


class TestStreams:
    TEXTS = ("", TEXT, " ", "One. Two. Three.", "Four", "\n", "")

    @pytest.mark.parametrize("workers", [1, 3])
    @pytest.mark.parametrize("batch_words", [1, 9, 4000])
    def test_documents_come_out_as_texts_went_in(
        self, nlp: Parser, workers: int, batch_words: int
    ) -> None:
        found = list(nlp.stream(self.TEXTS, workers=workers, batch_words=batch_words))
        expected = [nlp(text) for text in self.TEXTS]
        assert [document.text for document in found] == list(self.TEXTS)
        assert [document.trees for document in found] == [one.trees for one in expected]

    @pytest.mark.parametrize("workers", [1, 2])
    def test_no_more_is_read_than_is_worked_on(self, nlp: Parser, workers: int) -> None:
        read = 0

        def texts() -> Iterator[str]:
            nonlocal read
            for number in range(10_000):
                read += 1
                yield f"Sentence {number}."

        stream = nlp.stream(texts(), batch_words=10, workers=workers)
        assert read == 0
        for number in range(50):
            assert next(stream)[0].words[1] == str(number)
        assert read < 50 + 10 * (workers + 2)
        stream.close()  # type: ignore[attr-defined]

    def test_short_texts_share_batches(self, nlp: Parser, scorer: HashScorer) -> None:
        list(nlp.stream(["a b", "c d", "e f", "g"], batch_words=4))
        assert scorer.batches == [2, 2]

    def test_one_text_is_not_many(self, nlp: Parser) -> None:
        with pytest.raises(OptionError, match="call the parser itself"):
            nlp.stream("a text")

    def test_a_text_in_pieces(self, nlp: Parser) -> None:
        whole = nlp(TEXT)
        for size in (1, 7, 1000):
            pieces = (TEXT[at : at + size] for at in range(0, len(TEXT), size))
            found = list(nlp.sentences(pieces))
            assert [(s.text, s.offsets, s.tree) for s in found] == [
                (s.text, s.offsets, s.tree) for s in whole
            ]

    def test_inputs_and_notes_come_back(self, nlp: Parser) -> None:
        inputs = [Input(WORDS[:n], note=n) for n in (3, 1, 2)]
        found = list(nlp.run(inputs, Options(k=2)))
        assert [(given.note, len(sentence)) for given, sentence in found] == [
            (3, 3), (1, 1), (2, 2)
        ]  # fmt: skip


class TestPickling:
    def test_a_document_keeps_what_it_has(self, nlp: Parser) -> None:
        document = nlp(TEXT, k=2, rules="off", confidence=True)
        again: Document = pickle.loads(pickle.dumps(document))
        for one, other in zip(document, again, strict=True):
            assert one.to_dict() == other.to_dict()
            assert one.trees == other.trees
            assert one.confidences() == other.confidences()

    def test_what_it_has_not_it_says(self, nlp: Parser) -> None:
        again = pickle.loads(pickle.dumps(nlp.parse(WORDS)))
        assert not again.has_confidences
        with pytest.raises(OptionError, match="parse with confidence=True"):
            again.confidences()


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_are_a_number(scorer: HashScorer, threads: int) -> None:
    with pytest.raises(OptionError, match="threads"):
        Parser(scorer, threads=threads)


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_workers_are_a_number(nlp: Parser, workers: int) -> None:
    with pytest.raises(OptionError, match="workers"):
        nlp.parse_many([["a"]], workers=workers)


@pytest.mark.parametrize("text", [b"It rained.", None, 5])
def test_a_text_is_a_text(nlp: Parser, text: str) -> None:
    with pytest.raises(OptionError, match="a text is a str, not"):
        nlp(text)
    with pytest.raises(OptionError, match="a text is a str, not"):
        list(nlp.stream(["It rained.", text]))
