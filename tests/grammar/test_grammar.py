"""Grammars: counting, licences, violations, set operations."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.errors import GrammarError
from treewright.grammar import Grammar, Rule, Violation, coverage, steps
from treewright.trees import Span, Tree, binarize, normalize, read_trees
from treewright.trees.binarize import derivation, unwrap
from treewright.trees.symbols import SCHEMES, Scheme

TREES = [
    Tree.from_brackets("(TOP (S (NP-SBJ (DT The) (JJ old) (NN dog)) (VP (VBZ barks)) (. .)))"),
    Tree.from_brackets("(TOP (S (NP (PRP It)) (VP (VBZ barks) (ADVP (RB on))) (. .)))"),
]
GRAMMAR = Grammar.from_trees(TREES)


def test_counts_of_rules_words_and_roots() -> None:
    assert GRAMMAR.rules == {
        Rule("S", "$", "@"): 2,
        Rule("$", "NP", "VP"): 2,
        Rule("NP", "$", "@"): 1,
        Rule("$", "@", "@"): 1,
        Rule("VP", "@", "ADVP"): 1,
    }
    assert GRAMMAR.words == {"@": 6, "NP": 1, "VP": 1, "ADVP": 1}
    assert GRAMMAR.roots == {"S": 2}
    assert GRAMMAR.labels == ("@", "$", "ADVP", "NP", "S", "VP")
    assert GRAMMAR.pairs == (("$", "@"), ("@", "@"), ("@", "ADVP"), ("NP", "VP"))


def test_marks_name_their_leftmost_child_in_the_other_scheme() -> None:
    grammar = Grammar.from_trees(TREES, scheme="$+left")
    assert Rule("S", "$NP", "@") in grammar.rules
    assert Rule("NP", "$@", "@") in grammar.rules


@given(st.lists(ROOTED_TREES, max_size=4), st.sampled_from(SCHEMES))
def test_a_grammar_licenses_its_own_trees(trees: list[Tree], scheme: Scheme) -> None:
    grammar = Grammar.from_trees(trees, scheme=scheme)
    assert all(grammar.licenses(tree) for tree in trees)
    assert coverage(grammar, trees).by_use == 100


@given(ROOTED_TREES, st.sampled_from(SCHEMES))
def test_steps_are_those_of_the_binarised_tree(tree: Tree, scheme: Scheme) -> None:
    _, inner = unwrap(binarize(tree, scheme))
    expected = [
        Rule(node.label, node.children[0].label, node.children[1].label)
        for node in inner.subtrees()
        if len(node.children) == 2
    ]
    assert [rule for _, rule in steps(derivation(tree, scheme)) if rule] == expected


@given(ROOTED_TREES, st.sampled_from(SCHEMES))
def test_an_empty_grammar_licenses_nothing(tree: Tree, scheme: Scheme) -> None:
    normalized = normalize(tree)
    violations = Grammar(scheme, {}, {}, {}).violations(tree)
    count = len(normalized.words()) if normalized else 0
    # n - 1 rules, n symbols over one word, one at the root
    assert len(violations) == (2 * count if count else 0)


def test_violations_have_a_kind_and_a_place() -> None:
    tree = Tree.from_brackets("(TOP (SQ (NP (PRP It)) (VP (VBZ barks) (NP (NN cats)))))")
    assert GRAMMAR.violations(tree) == [
        Violation("root", 0, 3, "SQ"),
        Violation("rule", 0, 3, "SQ", ("NP", "VP")),
        Violation("rule", 1, 3, "VP", ("@", "NP")),
    ]
    assert list(map(str, GRAMMAR.violations(tree))) == [
        "(0, 3) SQ at the root",
        "(0, 3) no rule SQ -> NP VP",
        "(1, 3) no rule VP -> @ NP",
    ]
    assert GRAMMAR.violations_in([Span(0, 1, "X")]) == [
        Violation("root", 0, 1, "X"),
        Violation("word", 0, 1, "X"),
    ]


def test_pruning_keeps_labels_known() -> None:
    pruned = Grammar.from_trees(TREES, min_count=2)
    assert set(pruned.rules) == {Rule("S", "$", "@"), Rule("$", "NP", "VP")}
    assert (pruned.words, pruned.roots) == ({"@": 6}, {"S": 2})
    assert pruned.labels == GRAMMAR.labels
    assert GRAMMAR.pruned(1) is GRAMMAR


def test_set_operations() -> None:
    first, second = (Grammar.from_trees([tree]) for tree in TREES)
    assert first | second == GRAMMAR
    assert set((first & second).rules) == {Rule("S", "$", "@"), Rule("$", "NP", "VP")}
    assert set((second - first).rules) == {Rule("VP", "@", "ADVP")}
    assert (second - first).words == {"NP": 1, "ADVP": 1}
    assert (GRAMMAR - GRAMMAR).labels == ()
    with pytest.raises(TypeError):
        GRAMMAR | 3  # type: ignore[operator]
    with pytest.raises(TypeError):
        GRAMMAR.rules[Rule("S", "NP", "VP")] = 1  # type: ignore[index]
    with pytest.raises(GrammarError, match="schemes differ"):
        first | Grammar.from_trees(TREES, scheme="$+left")


@pytest.mark.parametrize(
    ("rules", "words", "roots", "message"),
    [
        ({("@", "A", "B"): 1}, {}, {}, "one word only"),
        ({("A", "B", "$"): 1}, {}, {}, "right child"),
        ({}, {"$": 1}, {}, "over one word"),
        ({}, {}, {"$": 1}, "root"),
        ({("A", "$NP", "B"): 1}, {}, {}, "scheme"),
    ],
)
def test_what_no_derivation_can_hold_is_refused(
    rules: dict[tuple[str, str, str], int],
    words: dict[str, int],
    roots: dict[str, int],
    message: str,
) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar("$", {Rule(*rule): count for rule, count in rules.items()}, words, roots)
    with pytest.raises(GrammarError, match="no scheme"):
        Grammar("€", {}, {}, {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "scheme", "labels", "in_rules", "rules", "pairs"),
    [
        ("craft_train", "$", 103, 102, 1009, 322),
        ("gum_train", "$", 75, 75, 960, 299),
        ("wsj_train", "$", 61, 61, 583, 216),
        ("craft_train", "$+left", 138, 137, 1604, 563),
        ("gum_train", "$+left", 115, 115, 1556, 580),
        ("wsj_train", "$+left", 89, 89, 862, 374),
    ],
)
def test_treebanks_give_the_known_numbers(
    shared: Path, name: str, scheme: Scheme, labels: int, in_rules: int, rules: int, pairs: int
) -> None:
    grammar = Grammar.from_trees(read_trees(shared / "data" / f"{name}.mrg"), scheme=scheme)
    assert len(grammar.labels) == labels
    assert len({symbol for rule in grammar.rules for symbol in rule}) == in_rules
    assert len(grammar.rules) == rules
    assert len(grammar.pairs) == pairs


@pytest.mark.parametrize(
    ("train", "test", "by_type", "by_use"),
    [("gum_train", "mctb_dialogue", 63.6, 96.4), ("craft_train", "craft_dev", 92.9, 99.95)],
)
def test_coverage_of_unseen_text(
    shared: Path, train: str, test: str, by_type: float, by_use: float
) -> None:
    data = shared / "data"
    grammar = Grammar.from_trees(read_trees(data / f"{train}.mrg"))
    covered = coverage(grammar, read_trees(data / f"{test}.mrg"))
    assert round(covered.by_type, 1) == by_type
    assert covered.by_use == pytest.approx(by_use, abs=0.05)
