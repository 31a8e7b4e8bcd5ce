"""`treewright rules`: extract, show and check grammars, and measure what they cover."""

from __future__ import annotations

import json
from pathlib import Path

import click

from treewright.cli.common import located_trees
from treewright.cli.progress import track
from treewright.errors import GrammarError, Place
from treewright.files import atomic_write, name_of
from treewright.grammar import Coverage, Grammar, coverage
from treewright.grammar.files import dumps
from treewright.trees.symbols import SCHEMES, Scheme


@click.group("rules")
def command() -> None:
    """Extract, study and check the grammar of a treebank.

    \b
    Example:
        treewright rules extract train.mrg -o grammar.json
    """


@command.command()
@click.argument("trees", nargs=-1, required=True)
@click.option("-o", "--out", default="-", help="Where the grammar goes (standard output).")
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    default="$",
    show_default=True,
    help="How nodes made by binarisation are named.",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Leave out what occurs less often.",
)
def extract(trees: tuple[str, ...], out: str, scheme: Scheme, min_count: int) -> None:
    """Count the rules of the trees in TREES.

    Several files make one grammar; - is standard input.

    \b
    Example:
        treewright rules extract train.mrg -o grammar.json
    """
    read = (tree for _, tree in track(located_trees(trees), "trees"))
    with atomic_write(out) as handle:  # first, so that no work is lost on what cannot be written
        grammar = Grammar.from_trees(read, scheme=scheme, min_count=min_count)
        handle.write(dumps(grammar))
    click.echo(_summary(grammar), err=True)


@command.command()
@click.argument("grammar")
@click.option("--label", help="Only the rules of this symbol.")
@click.option("--limit", type=click.IntRange(min=1), help="No more than so many rules.")
def show(grammar: str, label: str | None, limit: int | None) -> None:
    """List the rules of GRAMMAR, the commonest first.

    \b
    Example:
        treewright rules show grammar.json --label NP --limit 20
    """
    loaded = Grammar.load(grammar)
    click.echo(_summary(loaded))
    if label is not None:
        if label not in loaded.labels:
            raise GrammarError(f"no label {label!r}", Place(name_of(grammar)))
        over_one, at_root = loaded.words.get(label, 0), loaded.roots.get(label, 0)
        click.echo(f"{label}: {over_one:,} times over one word, {at_root:,} times at the root")
    chosen = [(r, c) for r, c in loaded.rules.items() if label is None or r.parent == label]
    total = sum(count for _, count in chosen)
    click.echo(f"{'count':>9}  {'share':>7}  rule")
    for rule, count in sorted(chosen, key=lambda item: (-item[1], item[0]))[:limit]:
        click.echo(f"{count:>9,}  {100 * count / total:>6.2f}%  {rule}")
    if limit is not None and len(chosen) > limit:
        click.echo(f"and {len(chosen) - limit:,} more")


@command.command()
@click.argument("grammar")
@click.argument("trees", nargs=-1, required=True)
@click.pass_context
def check(context: click.Context, grammar: str, trees: tuple[str, ...]) -> None:
    """List where TREES leave GRAMMAR.

    A line for each place: file, line, words, and what is missing. Exits with 1 if there is any.

    \b
    Example:
        treewright rules check grammar.json dev.mrg
    """
    loaded = _load_beside(grammar, trees)
    number = violated = found = 0
    for place, tree in track(located_trees(trees), "trees"):
        number += 1
        violations = loaded.violations(tree)
        violated += bool(violations)
        found += len(violations)
        for violation in violations:
            click.echo(f"{place}: {violation}")
    click.echo(f"trees {number:,}, with violations {violated:,}; violations {found:,}", err=True)
    if found:
        context.exit(1)


@command.command("coverage")
@click.argument("grammar")
@click.argument("trees", nargs=-1, required=True)
@click.option("--plot", type=click.Path(dir_okay=False), help="Draw it (.svg, .png or .pdf).")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def show_coverage(grammar: str, trees: tuple[str, ...], plot: str | None, as_json: bool) -> None:
    """Say how much of TREES is in GRAMMAR.

    A row a file: the share of its rules by type and by use, and of sentences that use no other.

    \b
    Example:
        treewright rules coverage grammar.json dev.mrg test.mrg --plot coverage.svg
    """
    if plot is not None:
        from treewright.grammar.plot import check_plot

        check_plot(plot)
    loaded = _load_beside(grammar, trees)
    found = [
        (name, coverage(loaded, (tree for _, tree in track(located_trees([source]), "trees"))))
        for name, source in zip(_short_names(trees), trees, strict=True)
    ]
    if as_json:
        rows = zip(trees, found, strict=True)
        click.echo(json.dumps([{"trees": s, **_row(c)} for s, (_, c) in rows], indent=1))
    else:
        _print_table(found)
    if plot is not None:
        from treewright.grammar.plot import plot_coverage

        plot_coverage(found, plot)


def _load_beside(grammar: str, trees: tuple[str, ...]) -> Grammar:
    if [grammar, *trees].count("-") > 1:
        raise click.UsageError("only one of GRAMMAR and TREES can be standard input")
    return Grammar.load(grammar)


def _short_names(sources: tuple[str, ...]) -> list[str]:
    """Names of files for a table: the last parts of their paths, as many as tell them apart."""
    paths = [Path(name_of(source)).with_suffix("") for source in sources]
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return names


def _summary(grammar: Grammar) -> str:
    return (
        f"scheme {grammar.scheme}: {len(grammar.labels):,} labels, {len(grammar.rules):,} rules, "
        f"{len(grammar.pairs):,} child pairs, {len(grammar.words):,} labels over one word, "
        f"{len(grammar.roots):,} at the root"
    )


def _row(covered: Coverage) -> dict[str, float]:
    return {
        "types": covered.types,
        "types_known": covered.types_known,
        "by_type": covered.by_type,
        "uses": covered.uses,
        "uses_known": covered.uses_known,
        "by_use": covered.by_use,
        "sentences": covered.sentences,
        "sentences_licensed": covered.sentences_licensed,
        "by_sentence": covered.by_sentence,
    }


def _print_table(found: list[tuple[str, Coverage]]) -> None:
    width = max(5, *(len(name) for name, _ in found))
    click.echo(f"{'trees':<{width}}  rule types   known     uses    known  sentences  licensed")
    for name, covered in found:
        click.echo(
            f"{name:<{width}}  {covered.types:>10,}  {covered.by_type:>5.1f}%  "
            f"{covered.uses:>7,}  {covered.by_use:>6.2f}%  {covered.sentences:>9,}  "
            f"{covered.by_sentence:>7.1f}%"
        )
