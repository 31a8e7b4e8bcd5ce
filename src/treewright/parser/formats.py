"""Parsed sentences as text: brackets, JSON, columns. What each form is stands in docs/parsing.md.

Owns the forms of one sentence, and what they do with words that they cannot hold as written. How
sentences follow each other in a file is the command line's business, how trees are drawn that of
`treewright.trees.drawing`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from treewright.trees import Tree
from treewright.trees.tree import make_node

if TYPE_CHECKING:
    from treewright.grammar import Violation
    from treewright.parser.sentence import Sentence

# What a word cannot hold in a bracketed tree or a column, besides round brackets: what separates
# tokens, and NUL, by which files are told from text.
_UNWRITABLE = re.compile(r"[ \t\n\r\f\v\0]")
_INSTEAD = "_"


def written(token: str) -> str:
    """A word or tag as a column can hold it: white space in it, which few have, becomes `_`."""
    return _UNWRITABLE.sub(_INSTEAD, token)


def brackets(tree: Tree, *, escape: bool = True) -> str:
    """A tree in brackets on one line, which every reader of treebanks can read.

    Round brackets in words and tags are written `-LRB-` and `-RRB-`, white space `_`. Without
    `escape` round brackets stay: people can read that, programs cannot.

    >>> brackets(Tree("NP", [Tree("NN", word="a b"), Tree("-RRB-", word=":)")]))
    '(NP (NN a_b) (-RRB- :-RRB-))'
    """
    return str(tree) if escape else _with_round_brackets(tree)


def _with_round_brackets(tree: Tree) -> str:
    parts: list[str] = []
    stack: list[Tree | str] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item.word is not None:
            parts.append(f" ({written(item.label)} {written(item.word)})")
        else:
            parts.append(f" ({item.label}")
            stack.append(")")
            stack.extend(reversed(item.children))
    return "".join(parts).lstrip()


def to_dict(sentence: Sentence) -> dict[str, Any]:
    """A sentence as JSON can hold it: all that was found, words as they were written."""
    found: dict[str, Any] = {
        "text": sentence.text,
        "start": sentence.start,
        "words": list(sentence.words),
        "tags": list(sentence.tags),
        "offsets": [list(pair) for pair in sentence.offsets],
        "tree": brackets(sentence.tree),
        "score": _rounded(sentence.score),
        "violations": [_violation(one) for one in sentence.violations],
        "constituents": [
            {"start": start, "end": end, "label": label}
            for start, end, label in sentence.constituents
        ],
    }
    if sentence.has_confidences:
        for constituent, one in zip(found["constituents"], sentence.confidences(), strict=True):
            constituent["confidence"] = round(one.probability, 4)
    if len(sentence.trees) > 1:
        others = zip(sentence.trees[1:], sentence.scores[1:], strict=True)
        found["alternatives"] = [
            {"tree": brackets(tree), "score": _rounded(score)} for tree, score in others
        ]
    return found


def _rounded(score: float) -> float:
    """Scores are sums of 32-bit numbers: further digits depend on who is parsed beside whom."""
    return round(score, 4)


def _violation(one: Violation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": one.kind,
        "start": one.start,
        "end": one.end,
        "symbol": one.symbol,
    }
    if one.children is not None:
        found["children"] = list(one.children)
    return found


def conll(sentence: Sentence) -> str:
    """A line a word, in columns parted by tabs: number, word, tag, and the brackets of each tree.

    The brackets are written as in CoNLL-2012: what opens before the word, `*` for it, what closes
    after it.

        1  The    DT   (TOP(S(NP*
        2  dog    NN   *)
        3  barks  VBZ  (VP*)))
    """
    columns = [_bracket_column(tree, len(sentence)) for tree in sentence.trees]
    rows = zip(sentence.words, sentence.tags, *columns, strict=True)
    lines = [
        "\t".join((str(number), written(word), written(tag), *brackets_here))
        for number, (word, tag, *brackets_here) in enumerate(rows, 1)
    ]
    return "\n".join(lines)


def _bracket_column(tree: Tree, n: int) -> list[str]:
    opens, closes = [""] * n, [""] * n
    for start, end, label in tree.spans():
        opens[start] += f"({label}"
        closes[end - 1] += ")"
    return [f"{opening}*{closing}" for opening, closing in zip(opens, closes, strict=True)]


def with_confidences(sentence: Sentence) -> Tree:
    """The best tree with the confidence of every constituent behind its label: `NP 93 %`."""
    constituents = [node for node in sentence.tree.subtrees() if node.word is None]
    if sentence.has_root:
        del constituents[0]
    sure = {
        id(node): f"{node.label} {100 * one.probability:.0f} %"
        for node, one in zip(constituents, sentence.confidences(), strict=True)
    }
    return sentence.tree.map(
        lambda node, children: (
            node if node.word is not None else make_node(sure.get(id(node), node.label), children)
        )
    )
