"""`treewright eval`: predicted trees against gold trees, as EVALB scores them."""

from __future__ import annotations

import json
import shutil

import click

from treewright.errors import TooManyErrors
from treewright.evaluation import Pair, Parameters, Report, SentenceScore, make_report, score_pairs

_LABELS, _LENGTHS = "label", "length"


@click.command("eval")
@click.argument("gold")
@click.argument("predicted")
@click.option(
    "--prm",
    default="collins",
    show_default=True,
    metavar="FILE",
    help="An EVALB parameter file; collins, new and nk are built in.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="All figures as JSON, both tables among them, and with --worst those sentences.",
)
@click.option(
    "--by",
    type=click.Choice([_LABELS, _LENGTHS]),
    help="A table by label or by sentence length instead of EVALB's text.",
)
@click.option(
    "--worst",
    type=click.IntRange(min=1),
    metavar="K",
    help="The K sentences of lowest F1, side by side with the gold trees.",
)
def command(
    gold: str, predicted: str, prm: str, as_json: bool, by: str | None, worst: int | None
) -> None:
    """Score the trees in PREDICTED against those in GOLD.

    Both files hold one tree a line, an empty line for a missing one; either may be - for standard
    input. Prints what EVALB prints. Sentences whose words differ are reported on standard error
    and left out of the figures.

    \b
    Examples:
        treewright eval gold.mrg predicted.mrg --prm new
        treewright eval gold.mrg predicted.mrg --by label --worst 10
    """
    if gold == predicted == "-":
        raise click.UsageError("only one of GOLD and PREDICTED can be standard input")
    if as_json and by is not None:
        raise click.UsageError("--json holds both tables already; it does not go with --by")
    as_text = not as_json and by is None and worst is None
    report = _scored(gold, predicted, Parameters.named(prm), as_text)
    if as_json:
        figures = report.as_dict()
        if worst is not None:
            figures["worst"] = [comparison.as_dict() for comparison in report.worst(worst)]
        click.echo(json.dumps(figures, ensure_ascii=False))
        return
    if as_text:
        click.echo(report.text(), nl=False)
        return
    click.echo(_headline(report))
    if by == _LABELS:
        click.echo("\n" + _label_table(report), nl=False)
    elif by == _LENGTHS:
        click.echo("\n" + _length_table(report), nl=False)
    width = shutil.get_terminal_size().columns
    for comparison in report.worst(worst or 0):
        click.echo("\n" + comparison.text(width), nl=False)


def _scored(gold: str, predicted: str, parameters: Parameters, as_text: bool) -> Report:
    """The report; what EVALB says of refused sentences goes to standard error.

    Where there are too many of them, EVALB's text stops after the sentences so far.
    """
    scored: list[tuple[SentenceScore, Pair]] = []
    try:
        for score, pair in score_pairs(gold, predicted, parameters):
            scored.append((score, pair))
    except TooManyErrors:
        report = make_report(scored, parameters)
        _say(report)
        if as_text:
            click.echo(report.rows(), nl=False)
        raise
    report = make_report(scored, parameters)
    _say(report)
    return report


def _say(report: Report) -> None:
    for message in report.messages:
        click.echo(message, err=True)


def _headline(report: Report) -> str:
    all_ = report.summary
    return (
        f"sentences: {all_.valid:,} scored, {all_.errors:,} refused, {all_.skipped:,} skipped\n"
        f"recall {all_.recall:.2f}, precision {all_.precision:.2f}, F1 {all_.f1:.2f}, "
        f"complete match {all_.complete_match:.2f}"
    )


def _label_table(report: Report) -> str:
    width = max([5, *(len(score.label) for score in report.labels)])
    lines = [f"{'label':<{width}}    gold predicted matched  recall precision     F1"]
    lines += [
        f"{score.label:<{width}} {score.gold:>7} {score.predicted:>9} {score.matched:>7} "
        f"{score.recall:>7.2f} {score.precision:>9.2f} {score.f1:>6.2f}"
        for score in report.labels
    ]
    return "\n".join(lines) + "\n"


def _length_table(report: Report) -> str:
    lines = ["   length sentences  recall precision     F1"]
    for bucket in report.by_length():
        sums = bucket.summary
        lines.append(
            f"{bucket.low:>4}-{bucket.high:<4} {sums.valid:>9} {sums.recall:>7.2f} "
            f"{sums.precision:>9.2f} {sums.f1:>6.2f}"
        )
    return "\n".join(lines) + "\n"
