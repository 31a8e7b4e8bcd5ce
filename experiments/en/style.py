"""How near the training trees are to the Wall Street Journal's, step by step.

Prints, for GUM's open genres and CRAFT, as they are and normalised, split and joined, and with each
step left out: how much of the WSJ sample their grammar covers (by use of rules, by sentence), and
how much of what they use the sample's grammar has. The second is what the normalisation is after;
the first must not suffer from it. The sample is read only for this comparison.

Run it with `python experiments/en/style.py`; a minute or two.
"""

from __future__ import annotations

import normalize as steps
from build import OPEN_GENRES, SHARED
from hyphens import join_hyphens

from treewright import Grammar, Tree, read_trees
from treewright.files import text_lines
from treewright.grammar import coverage


def main() -> None:
    """Print the table."""
    data = SHARED / "data"
    journal = list(read_trees(data / "wsj_train.mrg")) + list(read_trees(data / "wsj_dev.mrg"))
    theirs = Grammar.from_trees(journal)
    genres = text_lines(data / "gum_train.genres.txt")
    gum = [
        tree
        for tree, genre in zip(read_trees(data / "gum_train.mrg"), genres, strict=True)
        if genre.strip() in OPEN_GENRES
    ]
    craft = list(read_trees(data / "craft_train.mrg"))

    print(f"{'trees':36} {'rules':>6} {'WSJ uses':>9} {'WSJ sentences':>14} {'own uses':>9}")

    def row(name: str, trees: list[Tree]) -> None:
        grammar = Grammar.from_trees(trees)
        forth = coverage(grammar, journal)
        uses = sum(grammar.rules.values())
        known = sum(count for rule, count in grammar.rules.items() if rule in theirs.rules)
        print(
            f"{name:36} {len(grammar.rules):6} {forth.by_use:8.2f}% {forth.by_sentence:13.1f}%"
            f" {100 * known / uses:8.2f}%",
            flush=True,
        )

    for name, given in (("GUM, open genres", gum), ("CRAFT", craft)):
        split = [steps.normalize(tree) for tree in given]
        row(f"{name}: as it is", given)
        row(f"{name}: split", split)
        row(f"{name}: joined", [join_hyphens(tree) for tree in split])
    row("both: split", [steps.normalize(tree) for tree in gum + craft])
    row("both: joined", [join_hyphens(steps.normalize(tree)) for tree in gum + craft])
    for left_out in steps.STEPS:
        trees = gum + craft
        for step in steps.STEPS:
            if step is not left_out:
                trees = [step(tree) for tree in trees]
        row(f"both: joined, without {left_out.__name__}", [join_hyphens(tree) for tree in trees])


if __name__ == "__main__":
    main()
