"""The front door: `treewright COMMAND`. One small file a command, found by name when asked for.

Owns what all commands share: errors become one line and exit code 2, Ctrl-C exits with 130, and
a pipe that closes early ends a command without a word. A command's module is imported only when
it is run, so that none pays for what another needs.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

import click

from treewright import __version__
from treewright.errors import TreewrightError

# Command, and the line that `treewright --help` shows for it.
_COMMANDS = {
    "corpus": "Turn a treebank as it is distributed into train, dev and test files.",
    "eval": "Score predicted trees against gold trees, as EVALB does.",
    "rules": "Extract, study and check the grammar of a treebank.",
    "trees": "Show, convert and count trees.",
}


_BROKEN_PIPE = 141  # what a shell reports for a program that the closing of a pipe has ended


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"treewright.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="treewright")
def cli() -> None:
    """Constituency trees that obey a grammar."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code, 2 for anything wrong with input or usage."""
    # Trees are read as UTF-8 wherever they come from, and written so whatever the locale says.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        # Not standalone, so that errors come to us; then a command's own exit code is returned.
        code = cli.main(arguments, prog_name="treewright", standalone_mode=False)
        sys.stdout.flush()
    except TreewrightError as error:
        return _complain(str(error))
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("treewright: interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit):
        # The reader has gone; click itself exits when it notices. Python would complain when it
        # flushes at its end, so what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return code if isinstance(code, int) else 0


def _complain(message: str) -> int:
    click.echo(f"treewright: {message}", err=True)
    return 2
