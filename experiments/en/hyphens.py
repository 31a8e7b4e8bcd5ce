"""Words that were split at hyphens, put together again, as the Penn Treebank writes them.

Owns the joining: which words make one, where the tree lets them, what the joined word's tag is and
which phrases it leaves empty. GUM and CRAFT give a hyphen within a word a tag of its own, `HYPH`
(a slash too); the Wall Street Journal has `government-certified` as one word.

    before   (NP (DT a) (ADJP (NN cell) (HYPH -) (JJ specific)) (NN gene))
    after    (NP (DT a) (JJ cell-specific) (NN gene))

Without the text it is not known where there was white space. A word joins the hyphen beside it,
but conjunctions and punctuation do not: `N - and C - terminal` is `N- and C-terminal`.
"""

from __future__ import annotations

from collections.abc import Iterator

from treewright import Tree

# Hyphen-minus, hyphen, no-break hyphen, en dash, minus sign, slash.
HYPHENS = frozenset("-\u2010\u2011\u2013\u2212/")
_RANGE_SIGNS = HYPHENS | {":"}
_NEVER = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_MODIFIED = _NOUNS | {"JJ", "JJR", "JJS", "CD"}
_NOMINAL = frozenset({"NP", "NX", "NML", "NAC", "WHNP"})
# A word may not lie across the edge of a constituent; these give way, others keep it apart.
_SOFT = frozenset({"NP", "NX", "NML", "ADJP", "ADVP", "QP", "UCP"})


class _Node:
    """A node that can be changed and knows its parent."""

    __slots__ = ("children", "label", "parent", "word")

    def __init__(self, label: str, children: list[_Node], word: str | None) -> None:
        self.label = label
        self.children = children
        self.word = word
        self.parent: _Node | None = None
        for child in children:
            child.parent = self

    def leaves(self) -> Iterator[_Node]:
        stack = [self]
        while stack:
            node = stack.pop()
            if node.word is not None:
                yield node
            stack.extend(reversed(node.children))

    def put(self, old: list[_Node], new: list[_Node]) -> None:
        """Put `new` in the place of `old`, which are neighbours among the children."""
        at = self.children.index(old[0])
        self.children[at : at + len(old)] = new
        for child in new:
            child.parent = self


def join_hyphens(tree: Tree) -> Tree:
    """The tree with its words joined at hyphens wherever its constituents allow it.

    >>> from normalize import show
    >>> show("(NP (DT the) (JJ left) (HYPH -) (JJ liberal) (NN group))", join_hyphens)
    (NP (DT the) (JJ left-liberal) (NN group))
    >>> show("(ADJP (NP (NN cell) (NN type)) (HYPH -) (JJ specific))", join_hyphens)
    (ADJP (NN cell) (JJ type-specific))
    >>> show("(NP (NN N) (HYPH -) (CC and) (NN C) (HYPH -) (NN terminus))", join_hyphens)
    (NP (NN N-) (CC and) (NN C-terminus))
    """
    root = _mutable(tree)
    leaves = list(root.leaves())
    for begin, end in list(_groups(leaves)):
        _join(leaves[begin:end])
    for leaf in leaves:
        if leaf.label == "HYPH" and leaf.word in HYPHENS and _stands_alone(leaf):
            leaf.label = ":"
    return _immutable(root)


def has_hyphens(tree: Tree) -> bool:
    """Whether `join_hyphens` might change the tree."""
    return any(leaf.label in ("HYPH", "SYM") for leaf in tree.leaves())


def _stands_alone(leaf: _Node) -> bool:
    """Whether nothing joins this hyphen: then it is a dash."""
    parent = leaf.parent
    return parent is not None and all(
        child.word is None or child is leaf or child.label in _NEVER for child in parent.children
    )


def _groups(leaves: list[_Node]) -> Iterator[tuple[int, int]]:
    """Stretches of leaves, half-open, that make one word each."""
    joined = [False] * (len(leaves) + 1)  # whether a leaf and the one before it are one word
    for at, leaf in enumerate(leaves):
        if leaf.label == "HYPH" and leaf.word in HYPHENS:
            joined[at] = joined[at] or (at > 0 and _joins(leaves, at - 1, at))
            joined[at + 1] = at + 1 < len(leaves) and _joins(leaves, at + 1, at)
        elif leaf.label == "SYM" and leaf.word in _RANGE_SIGNS and 0 < at < len(leaves) - 1:
            ends = {leaves[at - 1].label, leaves[at + 1].label}
            if ends in ({"CD"}, {"LS"}):
                joined[at] = joined[at + 1] = True
    begin = 0
    for at in range(1, len(leaves) + 1):
        if not joined[at]:
            if at - begin > 1:
                yield begin, at
            begin = at


def _joins(leaves: list[_Node], at: int, hyphen: int) -> bool:
    """Whether the word at `at` joins the hyphen beside it."""
    tag = leaves[at].label
    if tag != "CC":
        return tag not in _NEVER
    # A conjunction only between two hyphens (up-and-coming) or opposite another (and/or).
    for other in (2 * at - hyphen, 2 * hyphen - at):
        if 0 <= other < len(leaves):
            wanted = "HYPH" if other == 2 * at - hyphen else "CC"
            if leaves[other].label == wanted:
                return True
    return False


def _join(group: list[_Node]) -> None:
    """Make the leaves one, unless a constituent that does not give way stands between them."""
    inside = set(map(id, group))
    top = group[0].parent
    while top is not None and not inside <= set(map(id, top.leaves())):
        top = top.parent
    if top is None:
        return
    crossing: list[_Node] = []
    for leaf in group:
        node = leaf.parent
        while node is not None and node is not top:
            if node not in crossing and any(id(inner) not in inside for inner in node.leaves()):
                crossing.append(node)
            node = node.parent
    for node in crossing:
        words = all(child.word is not None or child in crossing for child in node.children)
        if node.label not in _SOFT or not words:
            return
    for node in crossing:  # the lower ones come first
        assert node.parent is not None
        node.parent.put([node], node.children)
    parts = [child for child in top.children if any(id(leaf) in inside for leaf in child.leaves())]
    leaf = _Node("", [], "".join(leaf.word or "" for leaf in group))
    top.put(parts, [leaf])
    over = _lift(leaf) if len(top.children) == 1 else top
    leaf.label = joined_tag(
        [part.label for part in group],
        modifies=_modifies(leaf),
        parent=over.label,
        word=leaf.word or "",
    )


def _lift(leaf: _Node) -> _Node:
    """Take away what stands over the joined word alone and would not in the Penn Treebank.

    Numbers and modifiers before a noun have no phrase of their own if they are one word.
    """
    node = leaf.parent
    assert node is not None
    while len(node.children) == 1 and node.parent is not None:
        parent = node.parent
        before_noun = parent.label in _NOMINAL and _modifies(node)
        only = len(parent.children) == 1 and parent.label == node.label
        if node.label == "PP" and not (before_noun or only):
            node.label = "ADVP"  # on-line, in-house: an adverb now
            return node
        if (
            node.label not in ("NML", "QP")
            and not only
            and not (before_noun and node.label in _SOFT | {"PP"})
        ):
            return node
        parent.put([node], [leaf])
        node = parent
    return node


def _modifies(node: _Node) -> bool:
    """Whether a noun or adjective follows among the siblings, maybe after other modifiers."""
    parent = node.parent
    if parent is None or parent.label not in _NOMINAL:
        return False
    after = parent.children[parent.children.index(node) + 1 :]
    return bool(after) and (
        after[0].label in _MODIFIED | {"VBG", "VBN", "HYPH", "NX"}
        or (after[0].label in ("ADJP", "CC") and any(c.label in _NOUNS for c in after))
    )


def joined_tag(tags: list[str], *, modifies: bool, parent: str, word: str) -> str:
    """The tag of a word made of words with these tags, as the Wall Street Journal tags such words.

    Its own 1,014 hyphenated words are JJ (67 %), mostly before a noun; NN, NNS and NNP as heads of
    noun phrases or in names; CD between numbers.

    >>> joined_tag(["NN", "HYPH", "VBN"], modifies=True, parent="NP", word="age-matched")
    'JJ'
    >>> joined_tag(["NN", "HYPH", "NNS"], modifies=False, parent="NP", word="x-rays")
    'NNS'
    >>> joined_tag(["CD", "SYM", "CD"], modifies=True, parent="NP", word="20-30")
    'CD'
    """
    parts = [tag for tag in tags if tag not in ("HYPH", "SYM")]
    if not parts:
        return "SYM"
    first, last = parts[0], parts[-1]
    if len(set(parts)) == 1 and first in ("CD", "LS", "CC", "FW", "SYM"):
        return first
    if word[-1:] in HYPHENS:  # mid- and late-
        return first if first in _NOUNS | {"CD", "RB"} else "JJ"
    if last in ("NNP", "NNPS"):
        return last
    if last == "CD":
        return "NNP" if first == "NNP" else "NN"
    if parent == "VP" and last.startswith("VB"):
        return last
    if parent == "ADVP":
        return "RB"
    if modifies or parent in ("ADJP", "UCP"):
        return "NN" if modifies and first in _NOUNS and last == "NN" else "JJ"
    if last in ("NN", "NNS"):
        return last
    return "NN" if last in ("VBG", "RP", "IN", "VB") else "JJ"


def _mutable(tree: Tree) -> _Node:
    done: list[_Node] = []
    for node in tree.postorder():
        count = len(node.children)
        children = done[len(done) - count :]
        del done[len(done) - count :]
        done.append(_Node(node.label, children, node.word))
    return done[0]


def _immutable(root: _Node) -> Tree:
    order: list[_Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    done: list[Tree] = []
    for node in reversed(order):
        count = len(node.children)
        children = done[len(done) - count :]
        del done[len(done) - count :]
        done.append(Tree(node.label, children, node.word))
    return done[0]
