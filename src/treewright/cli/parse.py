"""`treewright parse`: text or words in, trees out.

Owns the options and the loop. What is read, and what is written, have files of their own:
`parse_input`, `parse_output` and `partial`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import get_args

import click

from treewright import __version__
from treewright.cli.common import colours_wanted
from treewright.cli.parse_input import Form, Note, Reader, sizes_of
from treewright.cli.parse_output import (
    Format,
    Output,
    Write,
    as_brackets,
    as_conll,
    as_drawing,
    as_json,
    can_be_resumed,
    opened,
    write_pictures,
)
from treewright.cli.partial import Partial
from treewright.cli.progress import track
from treewright.errors import OptionError
from treewright.parser import Options, Parser, Sentence, load
from treewright.parser.loading import find
from treewright.scorer import DESCRIPTION_FILE, GRAMMAR_FILE, RulesMode

# How words may have tags, and the form of input that it makes.
_WORDS: dict[str, Form | None] = {
    "auto": None,
    "none": "words",
    "slash": "slash",
    "columns": "columns",
}


@click.command("parse")
@click.argument("files", nargs=-1, metavar="[FILE...|-]")
@click.option("--words", is_flag=True, help="The input is words already: a sentence a line.")
@click.option("--sentences", is_flag=True, help="The input is raw text, a sentence a line.")
@click.option(
    "--tags",
    type=click.Choice(list(_WORDS)),
    help="With --words, whether they have tags, which are kept: the/DT, or two columns parted by "
    "a tab. By default the first line tells.",
)
@click.option(
    "--format",
    "form_of_output",
    type=click.Choice(get_args(Format)),
    default="brackets",
    show_default=True,
    help="What to write; svg goes to a folder, one file a sentence.",
)
@click.option(
    "--rules",
    type=click.Choice(get_args(RulesMode)),
    default="hard",
    show_default=True,
    help="Obey the model's grammar, break it at a price, or leave it out.",
)
@click.option("--penalty", type=float, metavar="P", help="The price, with --rules soft.")
@click.option("--k", type=click.IntRange(1), default=1, metavar="K", help="The K best trees.")
@click.option(
    "--confidence", is_flag=True, help="How sure each constituent is: in json, pretty and svg."
)
@click.option("--no-escape", is_flag=True, help="In brackets, leave ( and ) in words as they are.")
@click.option("-m", "--model", default="en", show_default=True, metavar="NAME|DIR")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="By default all cores.")
@click.option("--device", default="cpu", show_default=True, help="Where PyTorch works: cuda, say.")
@click.option("-o", "--out", default="-", metavar="OUT", help="Write to this file or folder.")
@click.option("--resume", is_flag=True, help="Go on with OUT where an earlier run broke off.")
def command(
    files: tuple[str, ...],
    words: bool,
    sentences: bool,
    tags: str | None,
    form_of_output: Format,
    rules: RulesMode,
    penalty: float | None,
    k: int,
    confidence: bool,
    no_escape: bool,
    model: str,
    threads: int | None,
    device: str,
    out: str,
    resume: bool,
) -> None:
    """Parse raw text, or words, into trees.

    Without FILE, or where it is -, text is read from standard input. Each file is one text, which
    is split into sentences; sentences come out in order, one tree a line.

    With --sentences and --words, blank lines are kept as blank lines, so that lines of output
    belong to lines of input.

    \b
    Examples:
        echo "The old man the boat." | treewright parse
        treewright parse book.txt --format json --confidence --out book.jsonl
        treewright parse book.txt --format json --confidence --out book.jsonl --resume
        treewright parse --words dev.txt --model models/mine --rules soft > dev.mrg
    """
    options = _options(rules, penalty, k, confidence)
    form = _form(words, sentences, tags)
    _check_format(form_of_output, options, no_escape)
    if resume and (form_of_output == "svg" or not can_be_resumed(out)):
        raise click.UsageError("--resume goes on with a file: name it with --out")
    files = files or ("-",)
    sizes = sizes_of(files)
    partial = None
    if form_of_output != "svg" and can_be_resumed(out):
        settings = {
            "treewright": __version__,
            "model": _fingerprint(find(model)),
            "input": form or "words",
            **asdict(options),
            "penalty": penalty,
            "format": form_of_output,
            "escape": not no_escape,
        }
        partial = Partial(out, settings, resume=resume)
    parser = load(model, device=device, threads=threads)
    reader = Reader(files, sizes, form, parser.input_of)
    if form_of_output == "svg":
        pictures = track(_parsed(parser, reader, options), "pictures", reader.share)
        write_pictures(pictures, out, confidence)
        return
    write = _writer(form_of_output, options, no_escape, out)
    if partial is not None and partial.done:
        reader.pass_over(partial.done, partial.digest)
    with _hint(partial), opened(out, partial) as output:
        found = _parsed(parser, reader, options, output)
        if out != "-" or not sys.stdout.isatty():
            found = track(found, "sentences", reader.share)
        with closing(found):  # takes the progress from the screen before anything is said
            for sentence, note in found:
                output.write("\n" * note.blanks + write(sentence, note))
        output.write("\n" * reader.blanks)


def _options(rules: RulesMode, penalty: float | None, k: int, confidence: bool) -> Options:
    if penalty is not None and rules != "soft":
        raise click.UsageError("--penalty goes with --rules soft")
    try:
        return Options(rules, penalty, k, confidence)
    except OptionError as error:
        raise click.UsageError(error.message) from None


def _form(words: bool, sentences: bool, tags: str | None) -> Form | None:
    """The form of the input; None for words of which the first line says whether they have tags."""
    if words and sentences:
        raise click.UsageError("--words and --sentences are different inputs: choose one")
    if tags is not None and not words:
        raise click.UsageError("--tags goes with --words")
    if words:
        return _WORDS[tags or "auto"]
    return "sentences" if sentences else "text"


def _check_format(form: Format, options: Options, no_escape: bool) -> None:
    if no_escape and form != "brackets":
        raise click.UsageError("--no-escape goes with --format brackets")
    if options.confidence and form in ("brackets", "conll"):
        wanted = "--confidence goes with json, pretty and svg"
        raise click.UsageError(f"--format {form} has no place for it: {wanted}")
    if options.k > 1 and form == "svg":
        raise click.UsageError("a picture shows the best tree: --k does not go with svg")


def _writer(form: Format, options: Options, no_escape: bool, out: str) -> Write:
    if form == "json":
        return as_json
    if form == "conll":
        return as_conll
    if form == "brackets":
        return as_brackets(options.k, not no_escape)
    color = out == "-" and colours_wanted()
    return as_drawing(color, options.confidence)


def _parsed(
    parser: Parser, reader: Reader, options: Options, output: Output | None = None
) -> Generator[tuple[Sentence, Note], None, None]:
    """The sentences of the input; what a batch gave counts once all of it has been written."""
    for batch in parser.run_batches(reader, options):
        for given, sentence in batch:
            yield sentence, given.note
        if output is not None:
            note = batch[-1][0].note
            output.commit(note.done, note.digest)


@contextmanager
def _hint(partial: Partial | None) -> Iterator[None]:
    """Whoever is interrupted, or fails, is told what is left and what to do with it."""
    try:
        yield
    except BaseException as error:
        if partial is not None and partial.done:
            count = f"{partial.done:,} sentences are in {partial.part}"
            click.echo(f"treewright: {count}: the same command goes on with --resume", err=True)
        if isinstance(error, KeyboardInterrupt):
            raise click.Abort from None
        raise


def _fingerprint(directory: Path) -> str:
    """What tells models apart: their descriptions, and the names and sizes of all their files."""
    digest = blake2b(digest_size=8)
    for path in sorted(directory.iterdir()):
        if path.is_file():
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
            if path.name in (DESCRIPTION_FILE, GRAMMAR_FILE):
                digest.update(path.read_bytes())
    return digest.hexdigest()
