"""The help of every command has examples, and they name options that there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from treewright.cli import cli


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _commands(inner, (*path, name))


COMMANDS = list(_commands(cli, ()))


def _examples(text: str) -> list[list[str]]:
    """The words after `treewright` of every example in a help text, one command each."""
    lines = text.partition("Example")[2].partition("\n\n")[0].splitlines()[1:]
    pieces = [piece.strip() for line in lines for piece in re.split(r"\| | > ", line)]
    return [shlex.split(piece)[1:] for piece in pieces if piece.startswith("treewright ")]


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(path) or "treewright")
def test_examples_are_right(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    cli.main([*path, "--help"], prog_name="treewright", standalone_mode=False)
    examples = _examples(capsys.readouterr().out)
    assert any(example[: len(path)] == list(path) for example in examples)
    for example in examples:
        command: click.Command = cli
        rest = example
        while isinstance(command, click.Group):
            inner = command.get_command(click.Context(command), rest[0])
            assert inner is not None, rest[0]
            command, rest = inner, rest[1:]
        command.make_context("treewright", rest)  # raises where the options are wrong


def test_an_example_that_is_wrong_would_be_found() -> None:
    assert _examples("Examples:\n  echo x | treewright eval a b --bye\n\nOptions:\n  -h") == [
        ["eval", "a", "b", "--bye"]
    ]
