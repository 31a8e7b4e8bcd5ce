"""`treewright export`: a trained model in, one that runs without PyTorch out."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from treewright.cli.folders import output_folder
from treewright.errors import CheckpointError, MissingExtra, Place
from treewright.parser.loading import find
from treewright.runtime.files import Precision
from treewright.scorer import kind_of


@click.command("export")
@click.argument("model", metavar="DIR")
@click.argument("out", metavar="OUT")
@click.option(
    "--precision",
    type=click.Choice(get_args(Precision)),
    default="fp32",
    show_default=True,
    help="In what the encoder multiplies.",
)
def command(model: str, out: str, precision: Precision) -> None:
    """Make a runtime model of a trained one.

    DIR is what `treewright train` wrote. OUT becomes a directory that needs nothing else, neither
    PyTorch nor DIR.

    \b
    Examples:
        treewright export models/mine mine
        echo "The dog barks." | treewright parse --model mine
    """
    folder = output_folder(out)
    directory = find(model)
    if kind_of(directory) == "runtime":
        raise CheckpointError("is exported already", Place(str(directory)))
    try:
        from treewright.export.write import export
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("treewright"):
            raise
        message = f"export needs {error.name}: pip install 'treewright[export]'"
        raise MissingExtra(message) from None
    export(directory, folder, precision)
    size = sum(path.stat().st_size for path in Path(folder).iterdir() if path.is_file())
    click.echo(f"{folder}: {size / 1e6:.0f} MB")
