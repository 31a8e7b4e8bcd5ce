"""`treewright trees`: look at trees, write them in other forms, count them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import click

from treewright.cli.common import FILES, coloured, colours_wanted, located_trees
from treewright.cli.folders import make_folder, output_folder
from treewright.cli.progress import track
from treewright.errors import EmptyInput, Place, TreeError
from treewright.files import atomic_write, name_of
from treewright.trees import Tree, binarize, normalize, unbinarize
from treewright.trees.drawing import pretty, svg
from treewright.trees.layout import cell_width, visible
from treewright.trees.statistics import Statistics, ranked, summary
from treewright.trees.symbols import SCHEMES, Scheme


@click.group()
def command() -> None:
    """Show, convert and count trees.

    \b
    Examples:
        treewright trees show dev.mrg --number 1
        treewright trees convert wsj/*.mrg --normalized -o train.mrg
        treewright trees stats train.mrg
    """


# show


def _range(text: str) -> range:
    """`7`, or `7-12` with both ends included."""
    first, _, last = text.partition("-")
    try:
        found = range(int(first), int(last or first) + 1)
    except ValueError:
        found = range(0)
    if not found or found.start < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 on nor a range like 7-12")
    return found


@command.command()
@FILES
@click.option(
    "--line",
    "lines",
    type=_range,
    metavar="N|N-M",
    multiple=True,
    help="Only trees that begin on this line of their file.",
)
@click.option(
    "--number",
    "numbers",
    type=_range,
    metavar="N|N-M",
    multiple=True,
    help="Only the first, second, ... tree of their file.",
)
@click.option("--indent", type=click.IntRange(0), metavar="N", help="Show brackets, indented by N.")
@click.option("--svg", "as_svg", is_flag=True, help="Write one tree as an SVG picture.")
@click.option("--out", metavar="DIR", help="Write SVG, one file a tree, into this folder.")
@click.option(
    "--width",
    type=click.IntRange(1),
    metavar="N",
    help="Columns to draw in; by default the terminal's.",
)
@click.option("--color/--no-color", default=None, help="By default as the terminal allows.")
def show(
    files: tuple[str, ...],
    lines: tuple[range, ...],
    numbers: tuple[range, ...],
    indent: int | None,
    as_svg: bool,
    out: str | None,
    width: int | None,
    color: bool | None,
) -> None:
    """Draw trees: upright where the width allows, else one node a line.

    \b
    Examples:
        treewright trees show dev.mrg --number 1-3
        treewright trees show dev.mrg --line 12 --svg > tree.svg
        treewright trees show dev.mrg --out pictures
        echo '(S (NP (PRP I)) (VP (VBP run)))' | treewright trees show -
    """
    if indent is not None and (as_svg or out is not None):
        raise click.UsageError("--indent shows brackets; it does not go with --svg or --out")
    picked = _pick(files, lines, numbers)
    if out is not None:
        _draw_files(picked, files, output_folder(out))
    elif as_svg:
        click.echo(svg(_the_one(picked)), nl=False)
    elif indent is not None:
        for _, _, tree in picked:
            click.echo(tree.brackets(indent))
    else:
        _draw(picked, width, color)


def _pick(
    files: Iterable[str], lines: Iterable[range], numbers: Iterable[range]
) -> Iterator[tuple[Place, int, Tree]]:
    """The trees that are asked for, each with its number in its file; all of them if none is."""
    wanted = [("line", span) for span in lines] + [("number", span) for span in numbers]
    for file in files:
        missed = list(wanted)
        for number, (place, tree) in enumerate(located_trees([file]), 1):
            here = {"line": place.line or 1, "number": number}
            hits = [(what, span) for what, span in wanted if here[what] in span]
            missed = [want for want in missed if want not in hits]
            if hits or not wanted:
                yield place, number, tree
            if wanted and all(here[what] >= span.stop for what, span in wanted):
                break
        for what, span in missed:
            message = "no tree begins on line" if what == "line" else "there is no tree number"
            end = f"-{span.stop - 1}" if len(span) > 1 else ""
            raise EmptyInput(f"{message} {span.start}{end}", Place(name_of(file)))


def _draw(picked: Iterator[tuple[Place, int, Tree]], width: int | None, color: bool | None) -> None:
    """Draw one tree after the other, each under its place if there are several."""
    if color is None:
        color = colours_wanted()
    paint = coloured if color else None
    first = next(picked)
    second = next(picked, None)
    if second is None:
        click.echo(pretty(first[2], width, paint), color=color)
        return
    for at, (place, _, tree) in enumerate(chain([first, second], picked)):
        heading = f"── {place}"
        gap = "\n" if at else ""
        click.echo(gap + (paint("line", heading) if paint else heading), color=color)
        click.echo(pretty(tree, width, paint), color=color)


def _the_one(picked: Iterator[tuple[Place, int, Tree]]) -> Tree:
    """The only tree; more than one do not go into one picture."""
    _, _, tree = next(picked)
    if next(picked, None) is not None:
        raise click.UsageError(
            "--svg draws one tree: choose it with --number or --line, or give a folder with --out"
        )
    return tree


def _draw_files(
    picked: Iterator[tuple[Place, int, Tree]], files: Iterable[str], folder: Path
) -> None:
    """Write `folder/NAME-NUMBER.svg` for each tree."""
    stems = [_stem(name_of(file)) for file in files]
    if twice := [stem for stem, count in Counter(stems).items() if count > 1]:
        raise click.UsageError(f"two files are named {twice[0]!r}: their pictures would be too")
    make_folder(folder)
    for place, number, tree in track(picked, "pictures"):
        with atomic_write(folder / f"{_stem(place.file or '')}-{number:04}.svg") as handle:
            handle.write(svg(tree))


def _stem(name: str) -> str:
    return Path(name).stem.replace(" ", "-")


# convert


@command.command()
@FILES
@click.option("--one-line", is_flag=True, help="Brackets, a tree a line (the default).")
@click.option("--words", is_flag=True, help="The words alone, a sentence a line.")
@click.option("--tags", is_flag=True, help="word/TAG, a sentence a line.")
@click.option(
    "--indent",
    type=click.IntRange(0),
    metavar="N",
    help="Brackets, a constituent a line, indented by N.",
)
@click.option("--unbinarized", is_flag=True, help="Undo binarisation, in either scheme.")
@click.option("--normalized", is_flag=True, help="Drop traces, function tags and indices.")
@click.option("--binarized", type=click.Choice(SCHEMES), help="Binarise in this scheme.")
@click.option("-o", "--out", default="-", metavar="FILE", help="Write to this file.")
def convert(
    files: tuple[str, ...],
    one_line: bool,
    words: bool,
    tags: bool,
    indent: int | None,
    unbinarized: bool,
    normalized: bool,
    binarized: Scheme | None,
    out: str,
) -> None:
    """Write trees in another form.

    What is asked for is done in this order: undo binarisation, normalise, binarise.

    \b
    Examples:
        treewright trees convert wsj/*.mrg --normalized -o train.mrg
        treewright trees convert train.mrg --binarized '$+left' | less
        treewright trees convert dev.mrg --words > dev.txt
    """
    forms: dict[str, tuple[bool, Callable[[Tree], str]]] = {
        "--one-line": (one_line, Tree.brackets),
        "--words": (words, _words),
        "--tags": (tags, _tagged),
        "--indent": (indent is not None, partial(Tree.brackets, indent=indent)),
    }
    asked = [name for name, (given, _) in forms.items() if given] or ["--one-line"]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} are different forms: choose one")
    _, write = forms[asked[0]]
    left_out = 0
    with atomic_write(out) as handle:
        stream = located_trees(files)
        if out != "-" or not sys.stdout.isatty():
            stream = track(stream, "trees")
        for place, tree in stream:
            plain = _undone(tree, place) if unbinarized else tree
            new = normalize(plain) if normalized else plain
            if new is None:
                left_out += 1
                continue
            handle.write(write(binarize(new, binarized) if binarized else new) + "\n")
    if left_out:
        click.echo(f"trees left out, as they hold traces alone: {left_out:,}", err=True)


def _words(tree: Tree) -> str:
    return " ".join(tree.words())


def _tagged(tree: Tree) -> str:
    return " ".join([f"{leaf.word}/{leaf.label}" for leaf in tree.leaves()])


def _undone(tree: Tree, place: Place) -> Tree:
    try:
        return unbinarize(tree)
    except TreeError as error:
        raise TreeError(error.message, place) from None


# stats

_BAR = 24  # cells of the longest bar
_NAME_CELLS = 16
_TENS = 8  # rows of ten in the table of lengths


@command.command()
@FILES
@click.option("--json", "as_json", is_flag=True, help="Write all counts as JSON.")
@click.option(
    "--top",
    type=click.IntRange(0),
    metavar="N",
    default=15,
    show_default=True,
    help="Rows a table; 0 for all.",
)
def stats(files: tuple[str, ...], as_json: bool, top: int) -> None:
    """Count trees, words, constituents and what they are like.

    Trees are counted as they stand, all files together; the root TOP is left out.

    \b
    Examples:
        treewright trees stats train.mrg dev.mrg
        treewright trees convert wsj/*.mrg --normalized | treewright trees stats - --json
    """
    statistics = Statistics()
    for _, tree in track(located_trees(files), "trees"):
        statistics.add(tree)
    if as_json:
        click.echo(json.dumps(statistics.to_dict(), ensure_ascii=False, indent=2))
    else:
        click.echo("\n\n".join(_report(statistics, top)))


def _report(statistics: Statistics, top: int) -> Iterator[str]:
    """The parts of the report: the totals, then a table each."""
    totals = [
        ("trees", statistics.lengths.total()),
        ("words", statistics.words.total()),
        ("distinct words", len(statistics.words)),
        ("constituents", statistics.labels.total()),
    ]
    lines = [f"{name:<{_NAME_CELLS}}{count:>12,}" for name, count in totals]
    for name, counts in (("length", statistics.lengths), ("depth", statistics.depths)):
        found = summary(counts)
        lines.append(
            f"{name:<{_NAME_CELLS}}{found['mean']:>12,.1f} on average, "
            f"{found['median']:,} in the middle, {found['most']:,} at most"
        )
    yield "\n".join(lines)
    yield _table("words a tree", _by_tens(statistics.lengths), 0)
    for title, names in (
        ("constituent", statistics.labels),
        ("tag", statistics.tags),
        ("unary chain", statistics.chains),
    ):
        if names:
            yield _table(title, ranked(names), top)
    if statistics.widths:
        widths = [(str(width), count) for width, count in sorted(statistics.widths.items())]
        yield _table("children", widths, top)


def _by_tens(lengths: Counter[int]) -> list[tuple[str, int]]:
    """How many sentences have 1 to 10 words, 11 to 20, ...; the longest together."""
    tens: Counter[int] = Counter()
    for length, count in lengths.items():
        tens[min((length - 1) // 10, _TENS)] += count
    names = [f"{10 * ten + 1}-{10 * ten + 10}" for ten in range(_TENS)] + [f"over {10 * _TENS}"]
    return [(names[ten], tens[ten]) for ten in range(max(tens) + 1)]


def _table(title: str, rows: list[tuple[str, int]], top: int) -> str:
    """A row a name: its count, its share, and a bar; all rows if `top` is 0."""
    total = sum(count for _, count in rows)
    shown = rows[:top] if top else rows
    names = [visible(name) for name, _ in shown]
    width = max([_NAME_CELLS, *map(cell_width, names)])
    most = max([count for _, count in shown])
    lines = [title]
    for name, (_, count) in zip(names, shown, strict=True):
        bar = "█" * round(_BAR * count / most)
        gap = " " * (width - cell_width(name))
        lines.append(f"{name}{gap}{count:>12,}{100 * count / total:>8.2f} %  {bar}".rstrip())
    if len(rows) > len(shown):
        lines.append(f"and {len(rows) - len(shown):,} more")
    return "\n".join(lines)
