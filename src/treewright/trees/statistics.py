"""Counts over trees: how many, how long, how deep, which labels, chains and widths.

Owns the counting, one tree at a time; how the counts are shown is the command line's business.
"""

from __future__ import annotations

from collections import Counter

from treewright.trees.binarize import unwrap
from treewright.trees.symbols import join_chain
from treewright.trees.tree import Tree


class Statistics:
    """What is known of the trees seen so far; a root like TOP over one child is not counted.

    >>> statistics = Statistics()
    >>> statistics.add(Tree.from_brackets("(TOP (S (VP (VB Stop) (. !))))"))
    >>> statistics.words["Stop"], dict(statistics.labels), dict(statistics.chains)
    (1, {'S': 1, 'VP': 1}, {'S::VP': 1})
    """

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()  # of constituents
        self.chains: Counter[str] = Counter()  # of two labels or more, as symbols write them
        self.widths: Counter[int] = Counter()  # numbers of children
        self.lengths: Counter[int] = Counter()  # of sentences, in words
        self.depths: Counter[int] = Counter()  # the tag counts, the word does not

    def add(self, tree: Tree) -> None:
        """Count one more tree."""
        _, inner = unwrap(tree)
        length = deepest = 0
        # Each node waits with its depth and the chain of only children that leads to it.
        stack: list[tuple[Tree, int, list[str]]] = [(inner, 1, [])]
        while stack:
            node, depth, chain = stack.pop()
            if node.word is not None:
                self.words[node.word] += 1
                self.tags[node.label] += 1
                length += 1
                deepest = max(deepest, depth)
            else:
                self.labels[node.label] += 1
                self.widths[len(node.children)] += 1
                chain.append(node.label)
                if len(node.children) == 1 and node.children[0].word is None:
                    stack.append((node.children[0], depth + 1, chain))
                    continue
                if len(chain) > 1:
                    self.chains[join_chain(chain)] += 1
                stack.extend([(child, depth + 1, []) for child in node.children])
        self.lengths[length] += 1
        self.depths[deepest] += 1

    def to_dict(self) -> dict[str, object]:
        """All counts as JSON takes them, the most frequent first, numbers in order."""
        return {
            "trees": self.lengths.total(),
            "words": self.words.total(),
            "distinct_words": len(self.words),
            "constituents": self.labels.total(),
            "length": {**summary(self.lengths), "trees": dict(sorted(self.lengths.items()))},
            "depth": {**summary(self.depths), "trees": dict(sorted(self.depths.items()))},
            "labels": dict(ranked(self.labels)),
            "tags": dict(ranked(self.tags)),
            "unary_chains": dict(ranked(self.chains)),
            "children": dict(sorted(self.widths.items())),
        }


def summary(counts: Counter[int]) -> dict[str, float]:
    """Mean, median and greatest of the numbers counted.

    >>> summary(Counter({1: 2, 3: 1, 7: 1}))
    {'mean': 3.0, 'median': 1, 'most': 7}
    """
    total = counts.total()
    mean = sum(number * count for number, count in counts.items()) / total
    below = 0
    median = 0
    for number, count in sorted(counts.items()):
        if 2 * below < total:
            median = number
        below += count
    return {"mean": round(mean, 2), "median": median, "most": max(counts)}


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first; equals in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
