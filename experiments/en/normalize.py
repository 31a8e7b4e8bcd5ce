"""GUM's and CRAFT's trees in the style of the Penn Treebank's Wall Street Journal.

Owns what is different between the three treebanks and how it is settled: one small step for each
difference, composed by `normalize`. Words and their order are never changed here; hyphens, which
move word boundaries, are the business of `hyphens.py`. What the steps cost and gain is measured in
README.md.

    CRAFT  headings, captions, citations with labels of their own; `NML` within noun phrases;
           brackets that close a level too high, or stand without `PRN`; ranges as `PP`
    GUM    relative pronouns under `NP` instead of `WHNP`; citations without `NP`
    both   `IN` over "to"; tags of newer treebanks
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treewright import Tree

WRAPPERS = frozenset({"HEADING", "TITLE", "CAPTION"})
NOMINAL = frozenset({"NP", "NX", "NML", "NAC", "WHNP"})
NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS", "CD", "PRP", "FW", "SYM", "LS"})
_OPEN, _CLOSE = "-LRB-", "-RRB-"
_DASHES_AND_COLONS = frozenset({":", ";", "-", "--", "\u2013", "\u2014", "...", "\u2026"})
_WH_TAGS = frozenset({"WDT", "WP", "WP$", "WRB"})
_WH_LABELS = {"NP": "WHNP", "PP": "WHPP", "ADVP": "WHADVP", "ADJP": "WHADJP"}
_CLAUSES = frozenset({"S", "SQ", "SINV", "VP", "SBAR"})


def normalize(tree: Tree) -> Tree:
    """All steps, one after the other.

    >>> show("(TOP (HEADING (NP (DT the) (NML (NN cell) (NN cycle)) (NN control))))", normalize)
    (TOP (NP (DT the) (NN cell) (NN cycle) (NN control)))
    """
    for step in STEPS:
        tree = step(tree)
    return tree


def penn_tags(tree: Tree) -> Tree:
    """Tags of newer treebanks become those of the Penn Treebank; hyphens keep `HYPH`.

    `to` is `TO` wherever it stands; an affix that stands alone (`AFX`) is `JJ`; a piece of a broken
    word (`GW`) is `NN`; dashes, colons and semicolons are `:`.

    >>> show("(PP (IN to) (NP (AFX pre) (: ;)))", penn_tags)
    (PP (TO to) (NP (JJ pre) (: ;)))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        if node.word is None:
            return node.replace(children=children)
        tag = node.label
        if tag == "IN" and node.word.lower() == "to":
            tag = "TO"
        elif tag in (",", ".") and node.word in _DASHES_AND_COLONS:
            tag = ":"
        return node.replace(label={"AFX": "JJ", "GW": "NN"}.get(tag, tag))

    return tree.map(build)


def drop_wrappers(tree: Tree) -> Tree:
    """A heading, title or caption is what it is made of.

    Of several children it makes a noun phrase if they are words, else a fragment.

    >>> show("(TOP (CAPTION (S (VP (VB See) (NP (NN text))))))", drop_wrappers)
    (TOP (S (VP (VB See) (NP (NN text)))))
    >>> show("(TOP (HEADING (NN Gene) (NNS Names)))", drop_wrappers)
    (TOP (NP (NN Gene) (NNS Names)))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        if node.label not in WRAPPERS or node.is_leaf:
            return node.replace(children=children)
        if len(children) == 1 and not children[0].is_leaf:
            return children[0]
        words = all(child.is_leaf for child in children)
        return Tree("NP" if words else "FRAG", children)

    return tree.map(build)


def citations(tree: Tree) -> Tree:
    """A citation (`CIT`) is a noun phrase, in a `PRN` where it stands in brackets.

    >>> show("(CIT (-LRB- -LRB-) (NNP Lindahl) (CD 1998) (-RRB- -RRB-))", citations)
    (PRN (-LRB- -LRB-) (NP (NNP Lindahl) (CD 1998)) (-RRB- -RRB-))
    >>> show("(CIT (NNP Leone) (NNP TC))", citations)
    (NP (NNP Leone) (NNP TC))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        if node.label != "CIT":
            return node.replace(children=children)
        if _in_brackets(children):
            inner = Tree("NP", children[1:-1])
            return Tree("PRN", (children[0], inner, children[-1]))
        return Tree("NP", children)

    return tree.map(build)


def close_brackets(tree: Tree) -> Tree:
    """A closing bracket goes where its opening one is.

    CRAFT leaves it a level or more higher, right behind the constituent that it closes.

    >>> show("(S (NP (NP (NN acid)) (-LRB- -LRB-) (NP (NN A))) (-RRB- -RRB-))", close_brackets)
    (S (NP (NP (NN acid)) (-LRB- -LRB-) (NP (NN A)) (-RRB- -RRB-)))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        kept: list[Tree] = []
        for child in children:
            if child.label == _CLOSE and kept and _open_depth(kept[-1]) is not None:
                kept[-1] = _append(kept[-1], child)
            else:
                kept.append(child)
        if len(kept) == 1 < len(children) and kept[0].label == node.label:
            return kept[0]
        return node.replace(children=kept)

    return tree.map(build)


def flatten_nominals(tree: Tree) -> Tree:
    """`NML` is dropped: noun phrases are flat to the left of their head.

    A compound adjective such as "high-throughput" is an `ADJP`, as in GUM; what holds clauses or
    prepositional phrases is `NX`; below other phrases than noun phrases two words or more are `NP`.

    >>> show("(NP (DT a) (NML (NN cell) (NN cycle)) (NN gene))", flatten_nominals)
    (NP (DT a) (NN cell) (NN cycle) (NN gene))
    >>> show("(NP (NML (JJ high) (HYPH -) (NN throughput)) (NN assay))", flatten_nominals)
    (NP (ADJP (JJ high) (HYPH -) (NN throughput)) (NN assay))
    >>> show("(UCP (ADJP (JJ new)) (CC and) (NML (NN wild) (NN type)))", flatten_nominals)
    (UCP (ADJP (JJ new)) (CC and) (NP (NN wild) (NN type)))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        flat: list[Tree] = []
        for child in children:
            if child.label != "NML":
                flat.append(child)
            elif _is_compound_adjective(child):
                flat.append(child.replace(label="ADJP"))
            elif any(inner.label in _CLAUSES | {"PP"} for inner in child.children):
                flat.append(child.replace(label="NX"))
            elif node.label in NOMINAL or len(child.children) == 1:
                flat.extend(child.children)
            else:
                flat.append(child.replace(label="NP"))
        return node.replace(children=flat)

    return tree.map(build)


def parentheses(tree: Tree) -> Tree:
    """What stands in brackets beside something else is a `PRN` (`LST` if it is a list mark).

    Bare words in it are a noun phrase, and so is the noun that it follows.

    >>> show("(NP (NP (NN acid)) (-LRB- -LRB-) (NN A) (-RRB- -RRB-))", parentheses)
    (NP (NP (NN acid)) (PRN (-LRB- -LRB-) (NP (NN A)) (-RRB- -RRB-)))
    >>> show("(NP (DT the) (NN acid) (PRN (-LRB- [) (CD 5) (-RRB- ])))", parentheses)
    (NP (NP (DT the) (NN acid)) (PRN (-LRB- [) (NP (CD 5)) (-RRB- ])))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        if node.label == "PRN" and _in_brackets(children):
            return Tree("PRN", _nominal_inside(children))
        if node.word is None and node.label not in ("PRN", "LST"):
            children = _bracketed(children)
        if node.label == "NP" and len(children) > 1 and children[-1].label == "PRN":
            head = children[:-1]
            if head[-1].label in NOUN_TAGS and _in_brackets(children[-1].children):
                children = (Tree("NP", head), children[-1])
        return node.replace(children=children)

    return tree.map(build)


def wh_phrases(tree: Tree) -> Tree:
    """The phrase with the question word that opens an `SBAR` or `SBARQ` is a `WH` phrase.

    >>> show("(SBAR (NP (WDT that)) (S (VP (VBZ runs))))", wh_phrases)
    (SBAR (WHNP (WDT that)) (S (VP (VBZ runs))))
    >>> show("(SBAR (PP (IN in) (NP (WDT which))) (S (VP (VBZ is))))", wh_phrases)
    (SBAR (WHPP (IN in) (WHNP (WDT which))) (S (VP (VBZ is))))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        if node.label in ("SBAR", "SBARQ"):
            for at, child in enumerate(children):
                if child.label in _CLAUSES:
                    break
                if child.label in _WH_LABELS and any(
                    later.label in _CLAUSES or later.label.startswith("VB")
                    for later in children[at + 1 :]
                ):
                    children = (*children[:at], _as_wh(child), *children[at + 1 :])
                    break
        return node.replace(children=children)

    return tree.map(build)


def ranges(tree: Tree) -> Tree:
    """A range or ratio is flat, as in GUM; CRAFT has a `PP` under the sign.

    >>> show("(NP (NP (CD 12)) (PP (SYM -) (NP (CD 15))))", ranges)
    (NP (CD 12) (SYM -) (CD 15))
    """

    def build(node: Tree, children: tuple[Tree, ...]) -> Tree:
        if not any(_is_range(child) for child in children):
            return node.replace(children=children)
        flat: list[Tree] = []
        for child in children:
            flat.extend(child.children if _is_range(child) else (child,))
        if all(child.is_leaf or len(child.children) == 1 for child in flat):
            flat = [child if child.is_leaf else child.children[0] for child in flat]
        return node.replace(children=flat)

    return tree.map(build)


STEPS: tuple[Callable[[Tree], Tree], ...] = (
    penn_tags,
    drop_wrappers,
    citations,
    close_brackets,
    flatten_nominals,
    parentheses,
    wh_phrases,
    ranges,
)


def show(brackets: str, step: Callable[[Tree], Tree]) -> None:
    """Print what a step makes of a tree: for the examples above."""
    print(step(Tree.from_brackets(brackets)))


def _in_brackets(children: Sequence[Tree]) -> bool:
    return len(children) > 2 and children[0].label == _OPEN and children[-1].label == _CLOSE


def _open_depth(node: Tree) -> int | None:
    """How far down the right edge the lowest node with an unclosed bracket is, if there is one."""
    found = None
    depth = 0
    while node.word is None:
        labels = [child.label for child in node.children]
        if labels.count(_OPEN) > labels.count(_CLOSE):
            found = depth
        node = node.children[-1]
        depth += 1
    return found


def _append(node: Tree, leaf: Tree) -> Tree:
    """`node` with `leaf` as last child of that node of its right edge whose bracket is open."""
    path = [node]
    for _ in range(_open_depth(node) or 0):
        path.append(path[-1].children[-1])
    built = path[-1].replace(children=(*path[-1].children, leaf))
    for parent in reversed(path[:-1]):
        built = parent.replace(children=(*parent.children[:-1], built))
    return built


def _is_compound_adjective(node: Tree) -> bool:
    """Three words with a hyphen in the middle, the first an adjective, number or adverb."""
    tags = [child.label for child in node.children]
    return (
        len(tags) == 3
        and all(child.is_leaf for child in node.children)
        and tags[1] == "HYPH"
        and tags[0] in ("JJ", "CD", "RB")
        and tags[2] in ("NN", "JJ", "VBN", "VBG")
    )


def _nominal_inside(children: tuple[Tree, ...]) -> tuple[Tree, ...]:
    inner = children[1:-1]
    if all(child.is_leaf for child in inner) and any(c.label in NOUN_TAGS for c in inner):
        return (children[0], Tree("NP", inner), children[-1])
    return children


def _bracketed(children: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """The children, with each `( ... )` among them as one; a node that is nothing else stays."""
    labels = [child.label for child in children]
    if _OPEN not in labels or _CLOSE not in labels:
        return children
    begin = labels.index(_OPEN)
    if _CLOSE not in labels[begin + 2 :]:
        return children
    end = labels.index(_CLOSE, begin + 2) + 1
    inside, rest = children[begin:end], children[:begin] + children[end:]
    if not any(not c.is_leaf or c.label in NOUN_TAGS or c.label[0] in "JV" for c in rest):
        return children
    is_mark = all(leaf.label == "LS" for part in inside[1:-1] for leaf in part.leaves())
    wrapped = Tree("LST", inside) if is_mark else Tree("PRN", _nominal_inside(inside))
    return (*children[:begin], wrapped, *_bracketed(children[end:])) if rest else children


def _as_wh(node: Tree) -> Tree:
    """The phrase with its labels changed on the way down to its first question word."""
    path: list[tuple[Tree, int]] = []
    while node.word is None:
        down = next((at for at, c in enumerate(node.children) if _has_wh(c)), None)
        if down is None:
            return node
        path.append((node, down))
        node = node.children[down]
    for parent, down in reversed(path):
        children = (*parent.children[:down], node, *parent.children[down + 1 :])
        node = Tree(_WH_LABELS.get(parent.label, parent.label), children)
    return node


def _has_wh(node: Tree) -> bool:
    """Whether a question word is in it, but not within a clause of its own."""
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.label in _WH_TAGS and inner.is_leaf:
            return True
        if inner.label not in _CLAUSES and inner.label != "SBARQ":
            stack.extend(inner.children)
    return False


def _is_range(node: Tree) -> bool:
    return node.label == "PP" and len(node.children) == 2 and node.children[0].label == "SYM"
