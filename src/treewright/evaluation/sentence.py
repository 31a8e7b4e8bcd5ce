"""A sentence as EVALB sees it: words, tags and brackets, read by a stack and nothing more.

Owns the reading of lines and trees into `Sentence`, which leaves out the words that do not count,
and the putting back of quotation marks. Trees are taken verbatim: a line may hold fragments,
brackets around nothing and words that are empty; only brackets that do not pair, and words
outside a tag, are refused (EVALB would never return from them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from treewright.errors import Place, StrayWord, UnclosedBracket, UnopenedBracket
from treewright.evaluation.parameters import Parameters
from treewright.trees import Tree

# White space and brackets separate tokens, as C's isspace() has it: ASCII only.
_GAP = r"[ \t\n\r\f\v]"
_TEXT = r"[^() \t\n\r\f\v]"
# A tag with its word, which may be empty after a space: `(NN )`; an opening; an end; a word astray.
_TOKEN = re.compile(rf"\({_TEXT}*{_GAP}+(?:{_TEXT}+{_GAP}*)?\)|\({_TEXT}*|\)|{_TEXT}+")
_SPACES = " \t\n\r\f\v"

#: What a token does, with a label or tag, and a word.
Event = tuple[str, str, str]
OPEN, CLOSE, LEAF = "open", "close", "leaf"
_STRAY = "stray"
_END: Event = (CLOSE, "", "")

# Words that EVALB takes for quotation marks when they bear one of the tags for quotes.
_QUOTES = frozenset({"'", '"', "/"})


@dataclass(slots=True)
class Quote:
    """A quotation mark, left out or not, and where to put it back."""

    word: str
    tag: str
    index: int  # the number of words before it
    bracket: int  # the first bracket that opens after it
    parent: int  # the innermost bracket around it, or -1


@dataclass(slots=True)
class Sentence:
    """The words that count, their tags, and all brackets in the order they open.

    Bracket number b covers the words `starts[b] <= k < ends[b]` and stands in bracket
    `parents[b]` (-1: in none). Its label is None if it is not to be counted.
    """

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    length: int = 0  # counts by other tags than `words`

    def put_back(self, quote: Quote) -> None:
        """Make a quotation mark that was left out a word again."""
        self.words.insert(quote.index, quote.word)
        self.tags.insert(quote.index, quote.tag)
        for bracket in range(quote.bracket, len(self.starts)):
            self.starts[bracket] += 1
            self.ends[bracket] += 1
        around = quote.parent
        while around >= 0:
            self.ends[around] += 1
            around = self.parents[around]


def read_sentence(
    source: str | Tree, parameters: Parameters, place: Place | None = None
) -> Sentence:
    """The sentence of a line or a tree; `place` names the line in errors.

    >>> sentence = read_sentence("(TOP (S (NP-SBJ (PRP I)) (VP (VBP see)) (. .)))", Parameters())
    >>> sentence.words, sentence.labels
    (['I', 'see', '.'], ['TOP', 'S', 'NP', 'VP'])
    """
    deleted = frozenset(parameters.delete_labels)
    lengthless = frozenset(parameters.delete_labels_for_length)
    quoting = frozenset(parameters.quote_labels)
    bracket_labels = parameters.bracket_labels
    sentence = Sentence()
    words, tags, starts = sentence.words, sentence.tags, sentence.starts
    ends, labels, parents = sentence.ends, sentence.labels, sentence.parents
    innermost = -1
    for kind, label, word in events(source, place):
        if kind is LEAF:
            if label not in lengthless:
                sentence.length += 1
            if label in quoting and word in _QUOTES:
                quote = Quote(word, label, len(words), len(starts), innermost)
                sentence.quotes.append(quote)
            if label not in deleted:
                words.append(word)
                tags.append(label)
        elif kind is OPEN:
            parents.append(innermost)
            innermost = len(starts)
            starts.append(len(words))
            ends.append(-1)
            labels.append(bracket_labels[label])
        else:
            ends[innermost] = len(words)
            innermost = parents[innermost]
    return sentence


def events(source: str | Tree, place: Place | None = None) -> Iterator[Event]:
    """The openings, leaves and ends of a line or a tree, from left to right."""
    return _line_events(source, place) if isinstance(source, str) else _tree_events(source)


def _line_events(line: str, place: Place | None) -> Iterator[Event]:
    depth = 0
    for number, token in enumerate(_TOKEN.findall(line)):
        event = _event(token)
        kind = event[0]
        if kind is OPEN:
            depth += 1
        elif kind is CLOSE:
            depth -= 1
            if depth < 0:
                raise UnopenedBracket("')' closes nothing", _at(place, line, number))
        elif kind is _STRAY:
            message = f"the word {token!r} has no tag of its own"
            raise StrayWord(message, _at(place, line, number))
        yield event
    if depth:
        number, token = _unclosed(line)
        message = f"{token!r} is not closed on its line; every line holds a whole tree"
        raise UnclosedBracket(message, _at(place, line, number))


@lru_cache(maxsize=1 << 16)  # most tokens recur
def _event(token: str) -> Event:
    if token == ")":
        return _END
    if not token.startswith("("):
        return (_STRAY, "", token)
    if not token.endswith(")"):
        return (OPEN, token[1:], "")
    tag, word = re.split(_GAP, token[1:-1], maxsplit=1)
    return (LEAF, tag, word.strip(_SPACES))


def _unclosed(line: str) -> tuple[int, str]:
    """The number of the outermost opening that has no end, and the opening."""
    waiting: list[tuple[int, str]] = []
    for number, token in enumerate(_TOKEN.findall(line)):
        if _event(token)[0] is OPEN:
            waiting.append((number, token))
        elif token == ")":
            waiting.pop()
    return waiting[0]


def _at(place: Place | None, line: str, number: int) -> Place:
    """The place of a token of a line."""
    for at, match in enumerate(_TOKEN.finditer(line)):
        if at == number:
            return replace(place or Place(), column=match.start() + 1)
    raise IndexError(number)


def _tree_events(tree: Tree) -> Iterator[Event]:
    stack: list[Tree | None] = [tree]  # None ends the innermost constituent
    while stack:
        node = stack.pop()
        if node is None:
            yield _END
        elif node.word is not None:
            yield (LEAF, node.label, node.word)
        else:
            yield (OPEN, node.label, "")
            stack.append(None)
            stack.extend(reversed(node.children))


def fix_quotes(gold: Sentence, predicted: Sentence, deleted: Iterable[str]) -> None:
    """Put back quotation marks that one side left out as punctuation and the other has as words.

    The order of the steps is EVALB's, as the position of each mark moves with those put back
    before it.
    """
    deleted = frozenset(deleted)
    for mine, theirs in enumerate(predicted.quotes):
        index = theirs.index
        for other, ours in enumerate(gold.quotes):
            if ours.index != index:
                continue
            if ours.tag in deleted and theirs.tag not in deleted:
                gold.put_back(ours)
                _move(gold.quotes[other:])
            elif theirs.tag in deleted and ours.tag not in deleted:
                predicted.put_back(theirs)
                _move(predicted.quotes[mine:])


def _move(quotes: Iterable[Quote]) -> None:
    for quote in quotes:
        quote.index += 1
