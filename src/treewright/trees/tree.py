"""The tree: an immutable node with a label and either children or a word.

Owns the shape of trees and the ways to walk them. Reading and writing brackets, drawing and
binarising live beside it and are reached from here, so that one object is pleasant to use.
Nothing here recurses: a tree may be deeper than Python's stack.

    S                       Tree("S", [
    ├── NP                      Tree("NP", [Tree("DT", word="The"), Tree("NN", word="dog")]),
    │   ├── DT  The             Tree("VP", [Tree("VBZ", word="barks")]),
    │   └── NN  dog         ])
    └── VP
        └── VBZ barks
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from treewright.errors import TreeError

if TYPE_CHECKING:
    from nltk import Tree as NltkTree

_Made = TypeVar("_Made")

#: Labels of a root that is no constituent but a wrapper around the sentence.
ROOT_LABELS = frozenset({"TOP", "ROOT", "S1", "VROOT", ""})


class Span(NamedTuple):
    """A labelled stretch of words, half-open: it covers the words `start <= k < end`."""

    start: int
    end: int
    label: str


class Tree:
    """A phrase-structure tree, or a node of one.

    A *leaf* is a part-of-speech tag over a word: it has a `word` and no children. Every other
    node has at least one child and no word. Trees compare and hash by their content.

    >>> tree = Tree.from_brackets("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))")
    >>> tree.label, tree.words(), tree.children[0].tags()
    ('S', ('The', 'dog', 'barks'), ('DT', 'NN'))
    >>> list(tree.spans())[1]
    Span(start=0, end=2, label='NP')
    """

    __slots__ = ("children", "label", "word")

    label: str
    children: tuple[Tree, ...]
    word: str | None

    def __init__(self, label: str, children: Iterable[Tree] = (), word: str | None = None) -> None:
        if not isinstance(label, str) or not isinstance(word, str | None):
            raise TreeError(f"a label and a word are strings, not {label!r} and {word!r}")
        if isinstance(children, Tree):
            raise TreeError(f"the children of {label!r} are a sequence of trees, not one tree")
        children = tuple(children)
        for child in children:
            if not isinstance(child, Tree):
                raise TreeError(f"a child of {label!r} is a {type(child).__name__}, not a Tree")
        if word is None and not children:
            raise TreeError(f"{label!r} has neither children nor a word")
        if word is not None and children:
            raise TreeError(f"{label!r} has both children and a word")
        _set_label(self, label)
        _set_children(self, children)
        _set_word(self, word)

    @classmethod
    def from_brackets(cls, text: str) -> Tree:
        """Read exactly one tree.

        >>> Tree.from_brackets("( (NP (NN Abstract)) )").label
        ''
        """
        from treewright.trees.brackets import parse_tree

        return parse_tree(text)

    @classmethod
    def from_nltk(cls, tree: NltkTree) -> Tree:
        """The same tree as an `nltk.Tree` over tagged words."""
        from treewright.trees.convert import from_nltk

        return from_nltk(tree)

    def to_nltk(self) -> NltkTree:
        """The same tree as an `nltk.Tree` (needs nltk)."""
        from treewright.trees.convert import to_nltk

        return to_nltk(self)

    def replace(self, **changes: Any) -> Tree:
        """A copy with another `label`, `children` or `word`."""
        fields = {"label": self.label, "children": self.children, "word": self.word}
        if unknown := changes.keys() - fields.keys():
            raise TypeError(f"a tree has no {', '.join(sorted(unknown))}")
        return Tree(**{**fields, **changes})

    # Walking

    @property
    def is_leaf(self) -> bool:
        """Whether this is a tag over a word."""
        return self.word is not None

    def subtrees(self) -> Iterator[Tree]:
        """Every node, parents before children, left to right; leaves and `self` included."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def postorder(self) -> Iterator[Tree]:
        """Every node, children before parents, left to right."""
        ordered: list[Tree] = []
        stack = [self]
        while stack:
            node = stack.pop()
            ordered.append(node)
            stack.extend(node.children)
        return reversed(ordered)

    def leaves(self) -> Iterator[Tree]:
        """The tags over the words, in the order of the words."""
        return (node for node in self.subtrees() if node.word is not None)

    def words(self) -> tuple[str, ...]:
        """The words, in order."""
        return tuple([node.word for node in self.subtrees() if node.word is not None])

    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags, in order."""
        return tuple([node.label for node in self.subtrees() if node.word is not None])

    def spans(self) -> Iterator[Span]:
        """The spans of all nodes but leaves, parents before children.

        >>> list(Tree.from_brackets("(S (NP (PRP I)) (VP (VBP run)))").spans())
        ... # doctest: +NORMALIZE_WHITESPACE
        [Span(start=0, end=2, label='S'), Span(start=0, end=1, label='NP'),
         Span(start=1, end=2, label='VP')]
        """
        found: list[Span] = []
        position = 0
        # A number on the stack closes the span of that number: all its words have been passed.
        stack: list[Tree | int] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, int):
                found[item] = found[item]._replace(end=position)
            elif item.word is not None:
                position += 1
            else:
                stack.append(len(found))
                found.append(Span(position, position, item.label))
                stack.extend(reversed(item.children))
        return iter(found)

    def depth(self) -> int:
        """The number of nodes on the longest way down; a leaf has depth 1."""
        deepest = 0
        stack = [(self, 1)]
        while stack:
            node, depth = stack.pop()
            deepest = max(deepest, depth)
            stack.extend((child, depth + 1) for child in node.children)
        return deepest

    def map(self, build: Callable[[Tree, tuple[_Made, ...]], _Made]) -> _Made:
        """Make another tree, or anything else, bottom-up.

        `build(node, made)` is asked for each node, `made` being what it gave for the children.

        >>> lower = lambda node, made: Tree(node.label.lower(), made, node.word)
        >>> Tree.from_brackets("(NP (NN Abstract))").map(lower).brackets()
        '(np (nn Abstract))'
        >>> Tree.from_brackets("(NP (DT a) (NN b))").map(lambda node, made: 1 + sum(made))
        3
        """
        done: list[_Made] = []
        for node in self.postorder():
            count = len(node.children)
            made = tuple(done[-count:]) if count else ()
            if count:
                del done[-count:]
            done.append(build(node, made))
        return done[0]

    # Showing

    def brackets(self, indent: int | None = None) -> str:
        """The tree in brackets, on one line, or one constituent a line indented by `indent`."""
        from treewright.trees.brackets import format_tree

        return format_tree(self, indent)

    def pretty(self, width: int | None = None) -> str:
        """The tree drawn for a terminal of `width` columns; by default the one at hand."""
        from treewright.trees.drawing import pretty

        return pretty(self, width)

    def svg(self) -> str:
        """The tree drawn as an SVG picture."""
        from treewright.trees.drawing import svg

        return svg(self)

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg()

    def __str__(self) -> str:
        """As `brackets()`, but any tree can be printed: `(` in a word is written `-LRB-`."""
        from treewright.trees.brackets import format_tree

        return format_tree(self, escape=True)

    def __repr__(self) -> str:
        try:
            return f"Tree.from_brackets({self.brackets()!r})"
        except TreeError:  # a word with a space in it, say: a debugger wants to see it all the same
            return f"<Tree {self.label!r} over {self.words()!r}>"

    # Being a value

    def _signature(self) -> tuple[str | int | None, ...]:
        """Label, word and number of children of every node, parents first: all there is."""
        flat: list[str | int | None] = []
        for node in self.subtrees():
            flat += (node.label, node.word, len(node.children))
        return tuple(flat)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            mine, theirs = stack.pop()
            if mine is theirs:
                continue
            if (
                mine.label != theirs.label
                or mine.word != theirs.word
                or len(mine.children) != len(theirs.children)
            ):
                return False
            stack.extend(zip(mine.children, theirs.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(self._signature())

    def __reduce__(self) -> tuple[Callable[..., Tree], tuple[tuple[str | int | None, ...]]]:
        # Flat, because pickling children within children would exhaust the stack.
        return _from_signature, (self._signature(),)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: object) -> Tree:
        return self

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Tree is immutable; use replace({name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Tree is immutable")


# The slots' own setters, which the class itself no longer offers.
_set_label = Tree.__dict__["label"].__set__
_set_children = Tree.__dict__["children"].__set__
_set_word = Tree.__dict__["word"].__set__
_new = object.__new__


def make_leaf(tag: str, word: str) -> Tree:
    """`Tree(tag, word=word)` without its checks, for readers that have made them."""
    leaf = _new(Tree)
    _set_label(leaf, tag)
    _set_children(leaf, ())
    _set_word(leaf, word)
    return leaf


def make_node(label: str, children: tuple[Tree, ...]) -> Tree:
    """`Tree(label, children)` without its checks, for readers that have made them."""
    node = _new(Tree)
    _set_label(node, label)
    _set_children(node, children)
    _set_word(node, None)
    return node


def _from_signature(flat: tuple[Any, ...]) -> Tree:
    """The tree of which `flat` is the signature: read backwards, children come before parents."""
    done: list[Tree] = []
    for at in range(len(flat) - 3, -1, -3):
        label, word, count = flat[at : at + 3]
        if word is not None:
            done.append(make_leaf(label, word))
        else:
            children = tuple(done[: -count - 1 : -1])
            del done[-count:]
            done.append(make_node(label, children))
    return done[0]
