"""`treewright train`: a treebank in, a parser out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from treewright.errors import MissingExtra, TrainingError

_PRESETS = ("paper-en", "paper-zh", "small", "tiny")


@contextmanager
def _memory_named() -> Iterator[None]:
    """Turn what the system refuses of memory into a line that says so."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        # torch has no type of its own for memory that a processor lacks.
        lacking = ("allocate memory", "out of memory")
        if isinstance(error, RuntimeError) and not any(words in str(error) for words in lacking):
            raise
        message = "there is not memory enough for a network of the sizes in 'model'"
        raise TrainingError(f"{message}, or for as many sub-words as 'piece_subwords'") from error


@click.command("train")
@click.argument("config", required=False, metavar="[CONFIG.toml]")
@click.option("--preset", type=click.Choice(_PRESETS), help="Settings to start from.")
@click.option("--train", metavar="FILE", help="The trees to learn from.")
@click.option("--dev", metavar="FILE", help="Held-out trees, which choose the best epoch.")
@click.option("--out", metavar="DIR", help="Where the model goes.")
@click.option("--encoder", metavar="PATH", help="A pretrained encoder: a folder, or a hub's name.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting; may be repeated."
)
@click.option("--from", "start", metavar="MODEL", help="Go on from a trained model.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--show", is_flag=True, help="Print all settings as TOML, and train nothing.")
@_memory_named()
def command(
    config: str | None,
    preset: str | None,
    train: str | None,
    dev: str | None,
    out: str | None,
    encoder: str | None,
    assignments: tuple[str, ...],
    start: str | None,
    resume: bool,
    show: bool,
) -> None:
    """Train a parser on a treebank.

    Settings come from CONFIG.toml, or from a preset: `paper-en` and `paper-zh` are the published
    ones, `small` is quick and good, `tiny` needs no pretrained encoder. What stands on the command
    line goes before both. The model's directory also gets the record of the run, in run/.

    \b
    Examples:
        treewright train --preset tiny --train train.mrg --dev dev.mrg --out model
        treewright train config.toml --set seed=2 --set model.layers=1
        treewright train config.toml --resume
    """
    if config is None and preset is None:
        raise click.UsageError("name a CONFIG.toml or a --preset")
    # Settings are light: what is wrong with them is said at once.
    from treewright.training.config import load_config, network_of

    named = {"train": train, "dev": dev, "out": out, "model.encoder": encoder}
    network = None if start is None else network_of(start)
    settings = load_config(config, preset, named.items(), assignments, known_network=network)
    if show:
        from treewright.settings import to_table, to_toml

        click.echo(to_toml(to_table(settings)), nl=False)
        return
    try:
        from treewright.cli.training_progress import summary, watcher
        from treewright.training.loop import train as run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("treewright"):
            raise
        message = f"training needs {error.name}: pip install 'treewright[train]'"
        raise MissingExtra(message) from None
    with watcher() as watching:
        result = run(settings, resume=resume, start=start, observer=watching)
    if result.main:
        click.echo(summary(result.figures))
        click.echo(result.out)
