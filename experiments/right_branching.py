r"""How far trees get that look at no word: right-branching ones, EVALB's F1 against gold trees.

Every word but the last begins a constituent that reaches the end; final punctuation, known by its
gold tag, hangs from the root. The root has the label that most gold roots have, the others the most
common one below roots: gold says which, so this is as good as such trees can be.

    python experiments/right_branching.py FILE...
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from treewright import Tree, evaluate, read_trees
from treewright.evaluation import Parameters
from treewright.trees import normalize


def main() -> None:
    """F1 of every file, labelled and not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    print(f"{'file':<40} {'labelled':>9} {'unlabelled':>11}")
    for file in parser.parse_args().files:
        gold = [tree for tree in map(normalize, read_trees(file)) if tree is not None]
        labelled, unlabelled = f1(gold)
        print(f"{file[-40:]:<40} {labelled:>9.2f} {unlabelled:>11.2f}")


def f1(gold: Sequence[Tree]) -> tuple[float, float]:
    """EVALB's F1 of right-branching trees over the words of gold trees, labelled and not."""
    inner, root = common_labels(gold)
    guessed = [right_branching(tree.words(), tree.tags(), inner, root) for tree in gold]
    parameters = replace(Parameters.collins(), max_error=len(gold))
    labelled = evaluate(gold, guessed, parameters)
    unlabelled = evaluate(gold, guessed, replace(parameters, labelled=False))
    return labelled.f1, unlabelled.f1


def common_labels(gold: Sequence[Tree]) -> tuple[str, str]:
    """The label that is most common below the root, and the one most common there."""
    below: Counter[str] = Counter()
    at_root: Counter[str] = Counter()
    for tree in gold:
        labels = [label for _, _, label in tree.spans()]
        first = int(len(labels) > 1 and labels[0] == "TOP")
        at_root.update(labels[first : first + 1])
        below.update(labels[first + 1 :])
    root = at_root.most_common(1)[0][0]
    return (below or at_root).most_common(1)[0][0], root


def right_branching(words: Sequence[str], tags: Sequence[str], inner: str, root: str) -> Tree:
    """A right-branching tree under TOP.

    >>> print(right_branching("a b c .".split(), "X X X .".split(), "NP", "S"))
    (TOP (S (X a) (NP (X b) (X c)) (. .)))
    """
    leaves = [Tree(tag, word=word) for word, tag in zip(words, tags, strict=True)]
    end = len(leaves)
    while end > 2 and tags[end - 1] in _FINAL:
        end -= 1
    branch = [leaves[end - 1]]
    for leaf in reversed(leaves[: end - 1]):
        branch = [leaf, Tree(inner, branch) if len(branch) > 1 else branch[0]]
    return Tree("TOP", [Tree(root, [*branch, *leaves[end:]])])


_FINAL = frozenset({".", "''", "``", "-RRB-"})


if __name__ == "__main__":
    main()
