"""The English training data: what normalisation, joining and mixing do to small trees."""

from __future__ import annotations

import argparse
import doctest
from pathlib import Path

import build
import hyphens
import normalize as steps
import pytest
from build import mixed, training, unfinished
from hyphens import join_hyphens, joined_tag
from normalize import normalize

from treewright import Tree, read_trees


def normal(brackets: str) -> str:
    return str(normalize(Tree.from_brackets(brackets)))


def joined(brackets: str) -> str:
    return str(join_hyphens(normalize(Tree.from_brackets(brackets))))


@pytest.mark.parametrize("module", [steps, hyphens, build], ids=["normalize", "hyphens", "build"])
def test_docstrings(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_a_tree_in_the_style_already_stays_as_it_is() -> None:
    kept = (
        "(TOP (S (NP (NP (NNP Rep.) (NNP Coe)) (PRN (-LRB- -LRB-) (NP (NNP R.)) (-RRB- -RRB-)))"
        " (VP (VBD said) (SBAR (WHNP (WP what)) (S (NP (PRP he)) (VP (VBZ wants))))) (. .)))"
    )
    assert joined(kept) == kept


def test_a_bracket_closed_several_levels_up_comes_down_to_its_partner() -> None:
    given = (
        "(S (PP (IN by) (NP (DT an) (NP (NP (NN test)) (-LRB- -LRB-) (NP (NN ITT)))))"
        " (-RRB- -RRB-) (VP (VBD ran)))"
    )
    assert normal(given) == (
        "(S (PP (IN by) (NP (DT an) (NP (NP (NN test)) (PRN (-LRB- -LRB-) (NP (NN ITT))"
        " (-RRB- -RRB-))))) (VP (VBD ran)))"
    )


def test_a_bracket_without_partner_stays() -> None:
    kept = "(S (NP (NN panel) (LST (LS A))) (-RRB- -RRB-) (VP (VBD ran)))"
    assert normal(kept) == kept


def test_two_parentheses_in_one_phrase() -> None:
    assert normal(
        "(NP (NP (NN a)) (-LRB- -LRB-) (CD 1) (-RRB- -RRB-) (CC and) (NP (NN b))"
        " (-LRB- -LRB-) (CD 2) (-RRB- -RRB-))"
    ) == (
        "(NP (NP (NN a)) (PRN (-LRB- -LRB-) (NP (CD 1)) (-RRB- -RRB-)) (CC and) (NP (NN b))"
        " (PRN (-LRB- -LRB-) (NP (CD 2)) (-RRB- -RRB-)))"
    )


def test_a_phrase_that_is_all_in_brackets_is_no_parenthesis() -> None:
    kept = "(FRAG (-LRB- -LRB-) (NP (NN Fig.) (CD 1)) (-RRB- -RRB-))"
    assert normal(kept) == kept


def test_a_list_mark_in_brackets() -> None:
    assert normal("(NP (NP (NN bar)) (-LRB- -LRB-) (LS A) (-RRB- -RRB-))") == (
        "(NP (NP (NN bar)) (LST (-LRB- -LRB-) (LS A) (-RRB- -RRB-)))"
    )


def test_a_nominal_with_a_phrase_behind_its_noun_keeps_a_node() -> None:
    assert normal("(NP (DT a) (NML (NN loss) (PP (IN of) (NP (NN tone)))) (NN gene))") == (
        "(NP (DT a) (NX (NN loss) (PP (IN of) (NP (NN tone)))) (NN gene))"
    )


def test_only_the_phrase_before_the_clause_becomes_wh() -> None:
    kept = "(SBAR (IN that) (S (NP (DT this)) (VP (VBZ is) (NP (WP what)))))"
    assert normal(kept) == kept
    assert normal("(SBARQ (NP (WP What)) (SQ (VBZ is) (NP (PRP it))) (. ?))") == (
        "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (PRP it))) (. ?))"
    )
    assert (
        normal("(SBAR (NP (NP (NN most)) (PP (IN of) (NP (WDT which)))) (S (VP (VBZ is))))")
        == "(SBAR (WHNP (NP (NN most)) (WHPP (IN of) (WHNP (WDT which)))) (S (VP (VBZ is))))"
    )


def test_one_word_modifiers_and_numbers_lose_their_phrase() -> None:
    assert joined("(NP (DT a) (ADJP (NN age) (HYPH -) (VBN matched)) (NN group))") == (
        "(NP (DT a) (JJ age-matched) (NN group))"
    )
    assert joined("(NP (QP (CD 20) (SYM -) (CD 30)) (NNS mice))") == "(NP (CD 20-30) (NNS mice))"
    assert joined("(VP (VBZ is) (ADJP (RB well) (HYPH -) (VBN known)))") == (
        "(VP (VBZ is) (ADJP (JJ well-known)))"
    )


def test_a_word_dissolves_small_phrases_across_its_edge_but_no_clauses() -> None:
    assert joined("(NP (NP (NNP C.) (NNP Bailey)) (HYPH -) (NP (NNP Ross) (NNP c@d.uk)))") == (
        "(NP (NNP C.) (NNP Bailey-Ross) (NNP c@d.uk))"
    )
    dash = "(S (S (NP (PRP I)) (VP (VBP go))) (HYPH -) (S (NP (PRP you)) (VP (VBP stay))))"
    assert joined(dash) == dash.replace("HYPH", ":")


def test_what_a_hyphen_joins() -> None:
    assert joined("(NP (CC and) (HYPH /) (CC or))") == "(NP (CC and/or))"
    assert joined("(NP (RB up) (HYPH -) (CC and) (HYPH -) (VBG coming) (NN star))") == (
        "(NP (JJ up-and-coming) (NN star))"
    )
    assert joined("(NP (JJ mid) (HYPH -) (, ,) (JJ late) (HYPH -) (NN day))") == (
        "(NP (JJ mid-) (, ,) (NN late-day))"
    )
    assert joined("(NP (NN Crx) (SYM -) (HYPH /) (SYM -) (NNS mice))") == (
        "(NP (NN Crx) (SYM -/-) (NNS mice))"
    )


def test_tags_of_joined_words() -> None:
    assert joined_tag(["NNP", "HYPH", "NNP"], modifies=False, parent="NP", word="A-B") == "NNP"
    assert joined_tag(["VB", "HYPH", "RP"], modifies=True, parent="NP", word="add-on") == "JJ"
    assert joined_tag(["VB", "HYPH", "RP"], modifies=False, parent="NP", word="add-on") == "NN"
    assert joined_tag(["NN", "HYPH", "VBD"], modifies=False, parent="VP", word="x-rayed") == "VBD"


def options(**changes: object) -> argparse.Namespace:
    given = build.arguments().parse_args([])
    vars(given).update(changes)
    return given


def test_copies_take_turns_between_the_two_forms() -> None:
    tree = Tree.from_brackets("(TOP (NP (NN x) (HYPH -) (NN ray) (. .)))")
    both = list(mixed([tree] * 20, options(unfinished=0.0), 2))
    assert len(both) == 40
    for split_or_joined in zip(both[::2], both[1::2], strict=True):
        assert set(map(str, split_or_joined)) == {
            "(TOP (NP (NN x) (HYPH -) (NN ray) (. .)))",
            "(TOP (NP (NN x-ray) (. .)))",
        }
    assert set(mixed([tree], options(joined=0.0, unfinished=0.0), 3)) == {tree}
    assert all("." not in made.tags() for made in mixed([tree], options(unfinished=1.0), 2))


def test_a_sentence_that_is_a_full_stop_keeps_it() -> None:
    tree = Tree.from_brackets("(TOP (X (. .)))")
    assert unfinished(tree) == tree


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder of treebanks of a few trees each."""
    folder = tmp_path / "data"
    folder.mkdir()
    trees = {
        "gum_train": ["(TOP (NP (NN news)))", "(TOP (NP (NN vlog)))", "(TOP (NP (NN court)))"],
        "craft_train": ["(TOP (HEADING (NP (NN Abstract))))"] * 3 + ["(TOP (NP (NN gene)))"],
        "wsj_train": ["(TOP (NP (NN stock)))"],
    }
    for name, lines in trees.items():
        (folder / f"{name}.mrg").write_text("\n".join(lines) + "\n")
    (folder / "gum_train.genres.txt").write_text("news\nvlog\ncourt\n")
    return folder


def test_only_open_genres_and_nothing_twice_from_craft(made: Path) -> None:
    files = training(made, options(gum_copies=1))
    words = {name: sorted(tree.words()[0] for tree in trees) for name, trees in files.items()}
    assert words["open"] == ["Abstract", "court", "gene", "news"]
    assert words["gum"] == ["Abstract", "court", "gene", "news", "vlog"]
    assert words["all"] == ["Abstract", "court", "gene", "news", "stock", "vlog"]
    assert len(training(made, options(craft=1, gum_copies=3))["open"]) == 1 + 2 * 3


def test_the_same_options_give_the_same_trees(made: Path) -> None:
    assert training(made, options()) == training(made, options())


@pytest.mark.parametrize("name", ["gum_dev", "craft_dev"])
def test_words_and_what_they_are_written_with_survive(shared: Path, name: str) -> None:
    for tree in list(read_trees(shared / "data" / f"{name}.mrg"))[:400]:
        split = normalize(tree)
        assert split.words() == tree.words()
        assert normalize(split) == split
        assert "".join(join_hyphens(split).words()) == "".join(tree.words())
        labels = {node.label for node in split.subtrees() if not node.is_leaf}
        assert not labels & {"NML", "CIT", "HEADING", "TITLE", "CAPTION"}
