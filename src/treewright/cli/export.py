"""`treewright export`: a trained model in, one that runs without PyTorch out."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from treewright.cli.common import located_trees
from treewright.cli.folders import output_folder
from treewright.errors import CheckpointError, MissingExtra, OptionError, Place
from treewright.parser.loading import find
from treewright.runtime.files import Precision
from treewright.scorer import kind_of
from treewright.settings import read_toml

# Words of so many trees show well enough how large numbers become.
_SENTENCES = 300


@click.command("export")
@click.argument("model", metavar="DIR")
@click.argument("out", metavar="OUT")
@click.option(
    "--precision",
    type=click.Choice(get_args(Precision)),
    default="fp32",
    show_default=True,
    help="In what the model multiplies.",
)
@click.option(
    "--calibrate",
    metavar="TREES",
    help="With int8, held-out trees whose words show how large numbers become; by default those "
    "that training chose its best epoch by.",
)
def command(model: str, out: str, precision: Precision, calibrate: str | None) -> None:
    """Make a runtime model of a trained one.

    DIR is what `treewright train` wrote. OUT becomes a directory that needs nothing else, neither
    PyTorch nor DIR. With --precision int8 it is less than a third as large, and faster.

    \b
    Examples:
        treewright export models/mine mine
        treewright export models/mine mine-int8 --precision int8 --calibrate dev.mrg
        echo "The dog barks." | treewright parse --model mine
    """
    if calibrate is not None and precision != "int8":
        raise click.UsageError("--calibrate is for --precision int8")
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
    sentences = _sentences(directory, calibrate) if precision == "int8" else []
    export(directory, folder, precision, sentences)
    size = sum(path.stat().st_size for path in Path(folder).iterdir() if path.is_file())
    click.echo(f"{folder}: {size / 1e6:.0f} MB")


def _sentences(model: Path, calibrate: str | None) -> list[tuple[str, ...]]:
    """The words of some trees, taken evenly from all that there are."""
    file = calibrate or _dev_of(model)
    words = [tree.words() for _, tree in located_trees([file])]
    return words[:: len(words) // _SENTENCES + 1]


def _dev_of(model: Path) -> str:
    """The held-out trees of the run that made a model."""
    config = model / "run" / "config.toml"
    file = read_toml(config).get("dev") if config.exists() else None
    if not isinstance(file, str) or not Path(file).exists():
        message = "int8 needs trees to look at, and those of the model's training are not there"
        raise OptionError(f"{message}: name some with --calibrate", Place(str(config)))
    return file
