"""What a parser answers: sentences with their trees, and documents of sentences.

Owns `Sentence` and `Document`. A sentence keeps the decoder's arrays, shared by the sentences that
were decoded together (some 40 bytes a word of them), and makes trees, violations and text of them
when asked. It does not keep its scores, which are a thousand times that: confidences are worked out
while these are at hand, if asked for beforehand, or by scoring the sentence again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast, overload

from treewright.errors import OptionError, Place
from treewright.trees import Span, Tree
from treewright.trees.tree import make_node

if TYPE_CHECKING:
    from treewright.decode import Confidence, Constraints, Parse
    from treewright.grammar import Violation


class Input(NamedTuple):
    """A sentence to be parsed: its words, and what else is known of it."""

    words: Sequence[str]

    tags: Sequence[str | None] | None = None
    """The user's own part-of-speech tags; where one is None, the model's is taken."""

    text: str | None = None
    """The sentence as written, if it was raw text."""

    start: int = 0
    """Where `text` begins in its document, in characters."""

    offsets: Sequence[tuple[int, int]] | None = None
    """Where each word begins and ends in the document."""

    constraints: Constraints | None = None
    """What the tree must and must not have."""

    place: Place | None = None
    """Where it stands, for messages; by default its number among those it is parsed with."""

    note: Any = None
    """Anything of the caller's: it comes back with the sentence."""


class Asked(Protocol):
    """What a sentence asks for its confidences."""

    def confidences(self, sentence: Sentence) -> tuple[Confidence, ...]:
        """Score a sentence again, and say how sure its constituents are."""
        ...


class Sentence:
    """One sentence: its words, tags and trees.

    Words are as they were written; `offsets` say where they stand in the document, so that
    `document.text[i:j]` is the word. A sentence given as words is its own document, the words
    joined by spaces. Trees hold words as written too; `brackets()` escapes what brackets cannot
    hold.
    """

    __slots__ = (
        "_asked",
        "_confidences",
        "_offsets",
        "_parses",
        "_root",
        "_text",
        "_trees",
        "constraints",
        "start",
        "tags",
        "words",
    )

    def __init__(
        self,
        given: Input,
        tags: tuple[str, ...],
        parses: list[Parse],
        asked: Asked,
        root: str | None,
    ) -> None:
        self.words: tuple[str, ...] = tuple(given.words)
        self.tags = tags
        self.start = given.start
        self.constraints = given.constraints
        self._text = given.text
        self._offsets = given.offsets
        self._parses: list[Parse] | list[_Kept] = parses
        self._asked: Asked | None = asked
        self._root = root
        self._trees: tuple[Tree, ...] | None = None
        self._confidences: tuple[Confidence, ...] | None = None

    # What was parsed

    @property
    def text(self) -> str:
        """The sentence as written; words that were given as such, joined by spaces."""
        return " ".join(self.words) if self._text is None else self._text

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Where each word begins and ends in the document's text, half-open."""
        if self._offsets is not None:
            return tuple(self._offsets)
        found = []
        at = 0
        for word in self.words:
            found.append((at, at + len(word)))
            at += len(word) + 1
        return tuple(found)

    def __len__(self) -> int:
        return len(self.words)

    # What came out

    @property
    def tree(self) -> Tree:
        """The best tree."""
        return self.trees[0]

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The best trees, as many as were asked for and there are, the best first."""
        if self._trees is None:
            self._trees = tuple([self._wrapped(parse) for parse in self._parses])
        return self._trees

    def _wrapped(self, parse: Parse | _Kept) -> Tree:
        tree = parse.tree(self.words, self.tags)
        return tree if self._root is None else make_node(self._root, (tree,))

    @property
    def best(self) -> Parse:
        """The decoder's answer; a sentence that was pickled has none."""
        if self._asked is None:
            raise OptionError("a sentence that was pickled has its trees, but no parse")
        return cast("Parse", self._parses[0])

    @property
    def score(self) -> float:
        """What the decoder maximised: the score of the best tree."""
        return self._parses[0].score

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores of all trees."""
        return tuple([parse.score for parse in self._parses])

    @property
    def violations(self) -> list[Violation]:
        """The steps of the best tree that the grammar lacks, whatever the mode of the rules."""
        return self._parses[0].violations

    @property
    def constituents(self) -> list[Span]:
        """The constituents of the best tree, parents first and chains from the top, without root.

        >>> sentence.constituents[0]  # doctest: +SKIP
        Span(start=0, end=4, label='S')
        """
        spans = list(self.tree.spans())
        return spans[1:] if self.has_root else spans

    @property
    def has_root(self) -> bool:
        """Whether the trees stand in a wrapper such as `TOP`, which is no constituent."""
        return self._root is not None

    def confidences(self) -> tuple[Confidence, ...]:
        """How probable it is that each constituent is right, in the order of `constituents`.

        The probability is that of a constituent of this label over these words, in the model that
        the decoder used: under hard rules, trees that obey the grammar. The sentence is scored
        again for it, unless it was parsed with `confidence=True`.
        """
        if self._confidences is None:
            if self._asked is None:
                message = "a sentence that was pickled has no scores: parse with confidence=True"
                raise OptionError(message)
            return self._asked.confidences(self)
        return self._confidences

    def keep_confidences(self, confidences: tuple[Confidence, ...]) -> None:
        """Have these ready; for those who parsed the sentence."""
        self._confidences = confidences

    @property
    def has_confidences(self) -> bool:
        """Whether confidences are there without scoring again."""
        return self._confidences is not None

    # Showing

    def brackets(self, *, escape: bool = True) -> str:
        """The best tree in brackets on one line; see `treewright.parser.formats`."""
        from treewright.parser.formats import brackets

        return brackets(self.tree, escape=escape)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it; confidences too if they are there."""
        from treewright.parser.formats import to_dict

        return to_dict(self)

    def conll(self) -> str:
        """A line a word, with number, tag and brackets in columns."""
        from treewright.parser.formats import conll

        return conll(self)

    def pretty(self, width: int | None = None) -> str:
        """The best tree drawn for a terminal."""
        return self.tree.pretty(width)

    def svg(self) -> str:
        """The best tree as an SVG picture."""
        return self.tree.svg()

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg()

    def __str__(self) -> str:
        return self.brackets()

    def __repr__(self) -> str:
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return f"<Sentence {shown!r}>"

    # Being sent elsewhere

    def __getstate__(self) -> dict[str, Any]:
        # Not the decoder's arrays, which all sentences of a batch share, nor the model.
        return {
            "words": self.words,
            "tags": self.tags,
            "start": self.start,
            "constraints": self.constraints,
            "_text": self._text,
            "_offsets": self._offsets,
            "_parses": [_Kept(parse.score, parse.violations) for parse in self._parses],
            "_trees": self.trees,
            "_root": self._root,
            "_confidences": self._confidences,
            "_asked": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


class _Kept(NamedTuple):
    """What is left of a parse in a sentence that was pickled with its trees."""

    score: float
    violations: list[Violation]

    def tree(self, words: Sequence[str], tags: Sequence[str]) -> Tree:
        raise AssertionError("a pickled sentence has its trees")


class Document(Sequence[Sentence]):
    """A text and its sentences, which it is a sequence of.

    >>> document = nlp("The dog barks. It is big.")  # doctest: +SKIP
    >>> [len(sentence) for sentence in document]  # doctest: +SKIP
    [4, 4]
    """

    __slots__ = ("sentences", "text")

    def __init__(self, text: str, sentences: Sequence[Sentence]) -> None:
        self.text = text
        self.sentences: tuple[Sentence, ...] = tuple(sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    @overload
    def __getitem__(self, at: int) -> Sentence: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Sentence, ...]: ...
    def __getitem__(self, at: int | slice) -> Sentence | tuple[Sentence, ...]:
        return self.sentences[at]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The best tree of every sentence."""
        return tuple([sentence.tree for sentence in self.sentences])

    def __str__(self) -> str:
        return "\n".join([sentence.brackets() for sentence in self.sentences])

    def __repr__(self) -> str:
        return f"<Document of {len(self)} sentences, {len(self.text):,} characters>"
