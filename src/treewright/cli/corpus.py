"""`treewright corpus`: a treebank as it is distributed becomes train, dev and test files.

Owns the writing of all parts or none, and the report of counts. Finding and reading is the work
of `treewright.corpora`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from treewright.cli.folders import output_folder
from treewright.cli.progress import track
from treewright.corpora import TREEBANKS, Corpus, Part, read
from treewright.errors import CountMismatch, OutputError, Place, TreeError


def _list_treebanks(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    for treebank in TREEBANKS.values():
        click.echo(f"{treebank.name:<9} {treebank.title}")
        click.echo(f"{'':<9} source: {treebank.source}")
        click.echo(f"{'':<9} split: {treebank.split}")
        if treebank.counts:
            counts = (f"{part} {count:,}" for part, count in treebank.counts.items())
            click.echo(f"{'':<9} trees: {', '.join(counts)}")
        click.echo(f"{'':<9} licence: {treebank.licence}")
    context.exit()


@click.command("corpus")
@click.argument("name", type=click.Choice(list(TREEBANKS)), metavar="NAME")
@click.argument("source")
@click.argument("out")
@click.option("--verbatim", is_flag=True, help="Keep function tags, indices and traces.")
@click.option("--strict", is_flag=True, help="Write nothing unless the counts are standard.")
@click.option("--force", is_flag=True, help="Replace files of an earlier run.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_treebanks,
    help="Say which treebanks there are, and exit.",
)
def command(name: str, source: str, out: str, verbatim: bool, strict: bool, force: bool) -> None:
    """Write the parts of treebank NAME, found in SOURCE, to the folder OUT.

    NAME is ptb, ctb, mctb, gum, craft, sinica, nltk, or brackets for any other; --list says what
    to point SOURCE at.

    The parts are OUT/train.mrg, OUT/dev.mrg and OUT/test.mrg, as far as the treebank has them, one
    tree a line. Either all of them are written or none. Their numbers of trees are compared with
    the standard ones; a difference is a warning, or an error with --strict.

    \b
    Example:
        treewright corpus ptb /ldc/treebank_3 data/ptb
    """
    folder = output_folder(out)
    corpus = read(name, source, verbatim=verbatim)
    for note in corpus.notes:
        click.echo(f"treewright: note: {note}", err=True)
    targets = {part: folder / f"{part}.mrg" for part in corpus.parts}
    counts: dict[str, int] = {}
    with _all_or_none(folder, list(targets.values()), force) as beside:
        for part, target in targets.items():
            counts[part] = _write(corpus[part], beside / target.name)
        _compare(corpus, counts, strict)
    for part, target in targets.items():
        click.echo(f"{part:<5} {counts[part]:>7,} trees  {target}")


def _write(part: Part, target: Path) -> int:
    count = 0
    with open(target, "w", encoding="utf-8", newline="\n") as handle:
        for place, tree in track(part.located(), f"{part.name} trees"):
            try:
                line = tree.brackets()
            except TreeError as error:
                raise TreeError(error.message, place) from None
            handle.write(line + "\n")
            count += 1
    return count


def _compare(corpus: Corpus, counts: dict[str, int], strict: bool) -> None:
    for name, count in counts.items():
        expected = corpus[name].expected
        if expected is None or expected == count:
            continue
        message = f"{name} has {count:,} trees where {expected:,} are standard for {corpus.name}"
        if strict:
            raise CountMismatch(message, Place(str(corpus.source)))
        click.echo(f"treewright: warning: {message}", err=True)


@contextmanager
def _all_or_none(out: Path, targets: list[Path], force: bool) -> Iterator[Path]:
    """A folder to write into; what is in it at the end moves to `targets`, unless the block raises.

    Nothing else in `out` is touched, and `out` is gone again if it was made for nothing.
    """
    made: list[Path] = []
    try:
        for target in targets:
            if target.is_dir():
                raise OutputError("is a folder where a file should go", Place(str(target)))
            if target.exists() and not force:
                raise OutputError("exists; --force replaces it", Place(str(target)))
        made += [path for path in (out, *out.parents) if not path.exists()]
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".treewright-", dir=out) as beside:
            yield Path(beside)
            for target in targets:
                Path(beside, target.name).replace(target)
            made.clear()
    except OSError as error:
        raise OutputError(error.strerror or str(error), Place(str(out))) from None
    finally:
        for path in made:
            with suppress(OSError):
                path.rmdir()
