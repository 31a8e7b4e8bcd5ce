"""Gold and predicted trees, pair by pair, to a report.

Owns what is done before and around the scoring of sentences: where trees come from, whether there
are as many of one as of the other, and when there are too many errors to go on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from treewright.errors import EmptyInput, InputError, Place, TooManyErrors, UnequalCounts
from treewright.evaluation.parameters import Parameters
from treewright.evaluation.report import Report
from treewright.evaluation.score import SentenceScore, Status, score_sentence
from treewright.evaluation.sentence import read_sentence
from treewright.files import name_of, text_lines
from treewright.trees import Tree

#: A file's name (`-`: standard input), or trees, or lines of brackets; None is a missing tree.
Trees = str | os.PathLike[str] | Iterable[str | Tree | None]

Pair = tuple[str | Tree, str | Tree]


def evaluate(gold: Trees, predicted: Trees, parameters: Parameters | None = None) -> Report:
    """Score predicted trees against gold trees as EVALB does (by default with COLLINS.prm).

    Trees are taken verbatim. In files, and among lines, every line is a tree, and an empty line a
    tree that is missing, as is None. A string is the name of a file, not a tree.

    >>> report = evaluate(["(S (NP (PRP I)) (VP (VBP run)))"], ["(S (PRP I) (VP (VBP run)))"])
    >>> report.precision, round(report.recall, 2), report.f1
    (100.0, 66.67, 80.0)
    """
    parameters = parameters or Parameters.collins()
    scored = list(score_pairs(gold, predicted, parameters))
    return make_report(scored, parameters)


def make_report(scored: Iterable[tuple[SentenceScore, Pair]], parameters: Parameters) -> Report:
    """The report of pairs that have been scored."""
    scored = list(scored)
    scores = tuple(score for score, _ in scored)
    return Report(parameters, scores, tuple(pair for _, pair in scored))


def score_pairs(
    gold: Trees, predicted: Trees, parameters: Parameters
) -> Iterator[tuple[SentenceScore, Pair]]:
    """The scores of pairs in their order, each with its pair."""
    errors = 0
    number = 0
    ours, theirs = _located(gold, "gold"), _located(predicted, "predicted")
    for number, (one, other) in enumerate(zip_longest(ours, theirs), 1):
        if one is None or other is None:
            more = number + sum(1 for _ in (theirs if one is None else ours))
            counts = (number - 1, more) if one is None else (more, number - 1)
            raise _unequal(counts, (gold, predicted))
        score = score_sentence(
            read_sentence(one[0], parameters, one[1]),
            read_sentence(other[0], parameters, other[1]),
            parameters,
            number,
        )
        if score.status is Status.ERROR:
            errors += 1
            if errors > parameters.max_error + 1:
                # A lost tree makes errors of all that follow: then that is the thing to say.
                counts = number + sum(1 for _ in ours), number + sum(1 for _ in theirs)
                if counts[0] != counts[1]:
                    raise _unequal(counts, (gold, predicted))
                message = f"{score.message}; this is error {errors} and MAX_ERROR is"
                raise TooManyErrors(f"{message} {parameters.max_error}", Place(sentence=number))
        yield score, (one[0], other[0])
    if not number:
        raise EmptyInput("neither gold nor predicted trees")


def _kind(thing: object) -> str:
    name = type(thing).__qualname__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _unequal(counts: tuple[int, int], sides: tuple[Trees, Trees]) -> UnequalCounts:
    """The error, at the first tree of the longer side that the other has no match for."""
    longer = sides[0] if counts[0] > counts[1] else sides[1]
    name = name_of(longer) if isinstance(longer, str | os.PathLike) else None
    message = f"gold trees: {counts[0]}, predicted trees: {counts[1]}; they must be as many"
    return UnequalCounts(message, Place(name, line=min(counts) + 1))


def _located(trees: Trees, side: str) -> Iterator[tuple[str | Tree, Place]]:
    """Trees or lines, each with the place that it has in a file or among its kind."""
    if isinstance(trees, Tree) or not isinstance(trees, str | os.PathLike | Iterable):
        found = f"{side} trees: wanted are a file's name, or several trees or lines"
        raise InputError(f"{found}, not {_kind(trees)}")
    if not isinstance(trees, str | os.PathLike):
        for number, tree in enumerate(trees, 1):
            if not isinstance(tree, str | Tree | None):
                message = f"{side}: {_kind(tree)} is neither a tree nor a line of brackets"
                raise InputError(message, Place(sentence=number))
            yield "" if tree is None else tree, Place(line=number)
        return
    name = name_of(trees)
    number = 0
    for number, line in enumerate(text_lines(trees), 1):
        yield line, Place(name, line=number)
    if not number:
        raise EmptyInput("holds no trees", Place(name))
