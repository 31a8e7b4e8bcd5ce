"""Trees over different words, compared by the characters they cover."""

from __future__ import annotations

from collections import Counter

import raw_text

from treewright import Tree

GOLD = Tree.from_brackets(
    "(TOP (S (NP (DT The) (NN -LRB-dog)) (VP (VBZ re) (HYPH -) (VB runs)) (. .)))"
)
LINE = "The (dog re-runs."


def test_words_stand_where_the_line_has_them() -> None:
    (places,) = raw_text.gold_places([GOLD], [LINE])
    assert places == [(0, 3), (3, 7), (7, 9), (9, 10), (10, 14), (14, 15)]
    assert raw_text.written(LINE) == 15


def test_a_second_sentence_follows_the_first() -> None:
    _, second = raw_text.gold_places([GOLD, GOLD], [LINE, LINE])
    assert second[0] == (15, 18)


def test_other_words_with_the_same_brackets() -> None:
    """A word that gold splits is whole here, and the full stop does not count."""
    ours = Tree.from_brackets("(TOP (S (NP (DT The) (NN x)) (VP (VBZ re-runs)) (. .)))")
    (gold,) = raw_text.gold_places([GOLD], [LINE])
    wanted = Counter(raw_text.brackets(GOLD, gold))
    found = Counter(raw_text.brackets(ours, [(0, 3), (3, 7), (7, 14), (14, 15)]))
    assert wanted == found == Counter([(0, 14, "S"), (0, 7, "NP"), (7, 14, "VP")])


def test_particles_are_adverbs_as_for_evalb() -> None:
    tree = Tree.from_brackets("(S (VP (VB go) (PRT (RP up))))")
    (only,) = [one for one in raw_text.brackets(tree, [(0, 2), (2, 4)]) if one[:2] == (2, 4)]
    other = Tree.from_brackets("(S (VP (VB go) (ADVP (RP up))))")
    assert only in set(raw_text.brackets(other, [(0, 2), (2, 4)]))
