"""Builds the files that the bundled English model is trained and chosen on.

Owns what goes in, in which form and how often; what a tree is turned into is the business of
`normalize.py` and `hyphens.py`. Everything is drawn with one seed: the same options give the same
files, byte for byte.

    open.train   CRAFT and the genres of GUM that may be used commercially: what is shipped
    gum.train    the same with all genres of GUM: what the rest of GUM would add
    all.train    that and the WSJ sample: what the open data cost (never shipped)
    dev          as many trees of GUM's dev part as of CRAFT's, normalised, either form of hyphens
    gum_dev, gum_dev.open, craft_dev    .given as they are, .split and .joined normalised
    gum_test, gum_test2, craft_test     .split and .joined, for scoring against our own style

Run it with `python experiments/en/build.py`; README.md says more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hyphens import join_hyphens
from normalize import normalize

from treewright import Tree, read_trees
from treewright.files import atomic_write, text_lines

SHARED = Path(os.environ.get("TREEWRIGHT_SHARED", Path(__file__).parents[3] / "shared"))
OPEN_GENRES = frozenset({"academic", "bio", "court", "interview", "news", "textbook", "voyage"})
ORDER = ("open", "gum", "all")


def main() -> None:
    """Write all files and print how many trees and words each holds."""
    options = arguments().parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    data = options.shared / "data"
    files = {f"{name}.train": trees for name, trees in training(data, options).items()}
    files |= development(data, options.seed)
    for name in ("gum_test", "gum_test2", "craft_test"):
        files |= forms(name, list(read_trees(data / f"{name}.mrg")))
    counts = {}
    for name, trees in files.items():
        path = options.out / f"{name}.mrg"
        with atomic_write(path) as handle:
            handle.writelines(f"{tree}\n" for tree in trees)
        counts[name] = {"trees": len(trees), "words": sum(len(tree.words()) for tree in trees)}
        print(f"{path.name:24} {counts[name]['trees']:7,} trees {counts[name]['words']:9,} words")
    settings = {key: str(value) for key, value in vars(options).items() if key not in ("shared",)}
    with atomic_write(options.out / "counts.json") as handle:
        handle.write(json.dumps({"options": settings, "files": counts}, indent=1) + "\n")


def arguments() -> argparse.ArgumentParser:
    """The options, each a question of how the treebanks are mixed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED, help="the folder of data/*.mrg")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--craft", type=int, help="so many distinct trees of CRAFT (default: all)")
    parser.add_argument("--gum-copies", type=int, default=2, help="how often GUM and WSJ go in")
    parser.add_argument(
        "--joined", type=float, default=0.5, help="the share of trees joined at hyphens"
    )
    parser.add_argument(
        "--unfinished", type=float, default=0.1, help="the share that loses its final full stop"
    )
    parser.add_argument("--seed", type=int, default=777)
    return parser


def training(data: Path, options: argparse.Namespace) -> dict[str, list[Tree]]:
    """The trees of each training file, shuffled."""
    genres = [line.split("\t")[0].strip() for line in text_lines(data / "gum_train.genres.txt")]
    whole_gum = [normalize(tree) for tree in read_trees(data / "gum_train.mrg")]
    open_gum = [tree for tree, genre in zip(whole_gum, genres, strict=True) if genre in OPEN_GENRES]
    closed_gum = [
        tree for tree, genre in zip(whole_gum, genres, strict=True) if genre not in OPEN_GENRES
    ]
    # Many of CRAFT's headings are the same in every article.
    craft = list(dict.fromkeys(normalize(tree) for tree in read_trees(data / "craft_train.mrg")))
    if options.craft is not None:
        craft = random.Random(options.seed).sample(craft, min(options.craft, len(craft)))
    wsj = list(read_trees(data / "wsj_train.mrg"))

    # Each part is drawn by itself, so that a larger file holds the smaller one.
    copies = options.gum_copies
    parts = {
        "open": list(mixed(craft, options, 1)) + list(mixed(open_gum, options, copies)),
        "gum": list(mixed(closed_gum, options, copies)),
        "all": list(mixed(wsj, options, copies)),
    }
    files: dict[str, list[Tree]] = {}
    so_far: list[Tree] = []
    for name in ORDER:
        so_far = so_far + parts[name]
        files[name] = random.Random(options.seed).sample(so_far, len(so_far))
    return files


def mixed(trees: Sequence[Tree], options: argparse.Namespace, copies: int) -> Iterator[Tree]:
    """Each tree `copies` times, split or joined at hyphens, some without their full stop.

    A tree's copies differ where they can: half of two are joined, none or both never.
    """
    draw = random.Random(options.seed)
    for tree in trees:
        first = draw.random()
        for copy in range(copies):
            joined = (first + copy / copies) % 1.0 < options.joined
            made = join_hyphens(tree) if joined else tree
            yield unfinished(made) if draw.random() < options.unfinished else made


def unfinished(tree: Tree) -> Tree:
    """The tree without its final full stop: headlines, chat and lists have none.

    Case needs no such care: the encoder reads lower case alone.

    >>> print(unfinished(Tree.from_brackets("(TOP (S (NP (PRP I)) (VP (VBP go)) (. .)))")))
    (TOP (S (NP (PRP I)) (VP (VBP go))))
    """
    path = [tree]
    while path[-1].children:
        path.append(path[-1].children[-1])
    stop = path.pop()
    if stop.label != "." or stop.word != "." or len(path[-1].children) == 1:
        return tree
    built = path[-1].replace(children=path[-1].children[:-1])
    for parent in reversed(path[:-1]):
        built = parent.replace(children=(*parent.children[:-1], built))
    return built


def development(data: Path, seed: int) -> dict[str, list[Tree]]:
    """The dev parts as they are and normalised, and a balanced mixture to choose models on."""
    genres = [line.split("\t")[0].strip() for line in text_lines(data / "gum_dev.genres.txt")]
    gum = list(read_trees(data / "gum_dev.mrg"))
    craft = list(read_trees(data / "craft_dev.mrg"))
    commercial = [t for t, genre in zip(gum, genres, strict=True) if genre in OPEN_GENRES]
    files: dict[str, list[Tree]] = {}
    for name, given in (("gum_dev", gum), ("gum_dev.open", commercial), ("craft_dev", craft)):
        files |= {f"{name}.given": given, **forms(name, given)}
    draw = random.Random(seed)
    chosen = files["gum_dev.split"] + draw.sample(files["craft_dev.split"], len(gum))
    files["dev"] = list(_either_form(chosen, draw))
    return files


def forms(name: str, given: Iterable[Tree]) -> dict[str, list[Tree]]:
    """Both forms of some trees, normalised."""
    split = [normalize(tree) for tree in given]
    return {f"{name}.split": split, f"{name}.joined": [join_hyphens(tree) for tree in split]}


def _either_form(trees: Iterable[Tree], draw: random.Random) -> Iterator[Tree]:
    for tree in trees:
        yield join_hyphens(tree) if draw.random() < 0.5 else tree


if __name__ == "__main__":
    main()
