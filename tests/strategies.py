"""Hypothesis strategies for trees: labels that invite misreading, chains, wide and deep nodes."""

from __future__ import annotations

from hypothesis import strategies as st

from treewright.trees import Tree

LABELS = st.one_of(
    st.sampled_from(["S", "NP", "VP", "TOP", "ROOT", "S1", "NP-SBJ", "::", "$", "@", "$NP", "|"]),
    st.text(alphabet="SNP:$@\\|<>-=e ", min_size=1, max_size=5).filter(lambda s: " " not in s),
)
WORDS = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="() \t\n\r\f\v\0"),
    min_size=1,
    max_size=6,
)
LEAVES = st.builds(lambda tag, word: Tree(tag, word=word), LABELS, WORDS)


def _grow(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.builds(Tree, LABELS, st.lists(children, min_size=1, max_size=4))


#: Trees of any shape, with or without a root that is a wrapper.
TREES = st.recursive(LEAVES, _grow, max_leaves=12)
ROOTED_TREES = st.one_of(
    TREES,
    st.builds(lambda label, tree: Tree(label, [tree]), st.sampled_from(["TOP", ""]), TREES),
)
