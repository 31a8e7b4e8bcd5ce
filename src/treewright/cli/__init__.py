"""The front door: `treewright COMMAND`. One small file a command, found by name when asked for.

Owns what all commands share: errors become one line and exit code 2, Ctrl-C exits with 130, and
a pipe that closes early ends a command without a word. A command's module is imported only when
it is run, so that none pays for what another needs.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from importlib import import_module
from types import FrameType

import click

from treewright import __version__
from treewright.errors import OutputError, Place, TreewrightError

# Command, and the line that `treewright --help` shows for it.
_COMMANDS = {
    "corpus": "Turn a treebank as it is distributed into train, dev and test files.",
    "eval": "Score predicted trees against gold trees, as EVALB does.",
    "export": "Make a model that runs without PyTorch of a trained one.",
    "info": "Say what a model is, and what made it.",
    "parse": "Parse raw text, or words, into trees.",
    "rules": "Extract, study and check the grammar of a treebank.",
    "train": "Train a parser on a treebank.",
    "trees": "Show, convert and count trees.",
}


# What a shell reports for a program that a signal has ended: 128 and the signal's number.
_INTERRUPTED = 130
_BROKEN_PIPE = 141
_TERMINATED = 143

_LONGEST_MESSAGE = 1000


class _Terminated(BaseException):
    """The signal to end: passes through everything that cleans up."""


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
    """Constituency trees that obey a grammar.

    \b
    Examples:
        echo "The dog barks." | treewright parse
        treewright trees show dev.mrg
        treewright rules extract train.mrg -o grammar.json
        treewright eval gold.mrg predicted.mrg
    """


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code, 2 for anything wrong with input or usage."""
    try:
        _prepare_streams()
        # Not standalone, so that errors come to us; then a command's own exit code is returned.
        code = cli.main(arguments, prog_name="treewright", standalone_mode=False)
        sys.stdout.flush()
    except TreewrightError as error:
        return _complain(str(error))
    except click.ClickException as error:
        error.show()
        return 2
    except _Terminated:
        return _TERMINATED
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", _INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # The reader has gone; click itself exits when it notices.
        _discard_output()
        return _BROKEN_PIPE
    except OSError as error:
        if isinstance(error.filename, str):  # nobody expected it of this path
            return _complain(f"{error.filename}: {error.strerror or error}")
        _discard_output()
        return _complain(f"standard output: {error.strerror or error}")
    return code if isinstance(code, int) else 0


def _prepare_streams() -> None:
    """UTF-8 in and out whatever the locale says; ends by signal clean up as Ctrl-C does."""
    if sys.stdout is None:
        raise OutputError("is closed", Place("standard output"))
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _discard_output() -> None:
    """Send what is left in the buffer nowhere, or Python would complain when it flushes it."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, code: int = 2) -> int:
    if len(message) > _LONGEST_MESSAGE:  # a word of a megabyte would hide what is wrong with it
        half = _LONGEST_MESSAGE // 2
        message = f"{message[:half]}...{message[-half:]}"
    click.echo(f"treewright: {message}", err=True)
    return code
