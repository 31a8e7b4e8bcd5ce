"""Every failure that treewright raises on purpose: a type and a place.

Owns the exception hierarchy and `Place`. Each room adds no exceptions of its own, so that
`except TreewrightError` catches all of them and a reader finds them in one file.

>>> raise UnclosedBracket("'(S' is never closed", Place("a.mrg", line=12, column=1))
Traceback (most recent call last):
...
treewright.errors.UnclosedBracket: a.mrg:12:1: '(S' is never closed
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where something went wrong; lines, columns and sentences are counted from 1."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    sentence: int | None = None
    span: tuple[int, int] | None = None

    def __str__(self) -> str:
        parts = [self.file] if self.file is not None else []
        if self.line is not None:
            parts.append(str(self.line) if parts else f"line {self.line}")
            if self.column is not None:
                parts.append(str(self.column) if len(parts) > 1 else f"column {self.column}")
        text = ":".join(parts) if self.file is not None else ", ".join(parts)
        rest = []
        if self.sentence is not None:
            rest.append(f"sentence {self.sentence}")
        if self.span is not None:
            rest.append(f"span ({self.span[0]}, {self.span[1]})")
        return ", ".join(([text] if text else []) + rest)


class TreewrightError(Exception):
    """The root of all errors raised on purpose."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message, place)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        where = str(self.place) if self.place is not None else ""
        return f"{where}: {self.message}" if where else self.message


class InputError(TreewrightError):
    """A file that cannot be read, or not as what it should be."""


class NotFound(InputError):
    """No such file or directory."""


class NotAFile(InputError):
    """A directory where a file is wanted."""


class EncodingError(InputError):
    """Bytes that are not text in the encoding asked for."""


class BinaryInput(InputError):
    """A file that holds no text at all."""


class EmptyInput(InputError):
    """Nothing to work on."""


class OutputError(TreewrightError):
    """A result that cannot be written."""


class BracketError(InputError):
    """A text in brackets that is no tree."""


class UnclosedBracket(BracketError):
    """The text ends inside a tree."""


class UnopenedBracket(BracketError):
    """A closing bracket without its opening one."""


class StrayWord(BracketError):
    """A word that stands outside a tree, or has no tag of its own."""


class EmptyLabel(BracketError):
    """A constituent or tag without a name; only a root may be nameless."""


class EmptyTree(BracketError):
    """A tree or constituent without a word."""


class TreeError(TreewrightError):
    """A tree that cannot be what is asked of it."""


class DecodeError(TreewrightError):
    """Scores that cannot be decoded as asked; the root of what the decoders raise."""


class ChartError(DecodeError):
    """Scores of a wrong type or shape, or lengths that do not fit them."""


class BadScore(ChartError):
    """NaN or +inf where a score should be."""


class LabelError(DecodeError):
    """Labels that cannot name columns, or that the grammar does not know."""


class OptionError(DecodeError):
    """An option of a decoder outside its range."""


class ConstraintError(DecodeError):
    """A constraint that cannot be met, or that contradicts another."""


class NoParse(DecodeError):
    """Every tree of a sentence holds a score of -inf."""


class MissingExtra(TreewrightError):
    """A library that is not installed; the message says what to install."""


class TokenizerError(InputError):
    """A tokenizer that cannot be read, or that cannot be asked for the sub-words of words."""


class GrammarError(TreewrightError):
    """A grammar that contradicts itself, or two that do not go together."""


class GrammarFileError(InputError):
    """A file that holds no grammar, or one of another version."""


class TrainingError(TreewrightError):
    """A run of training that cannot begin, or cannot go on."""


class Interrupted(TrainingError):
    """A run that was stopped from outside; the message says how to go on."""


class ParameterError(InputError):
    """A parameter of the scorer that is unknown or makes no sense."""


class UnequalCounts(InputError):
    """As many predicted trees as gold trees are wanted."""


class TooManyErrors(InputError):
    """So many sentences cannot be scored that the files hardly belong together."""


class CorpusError(InputError):
    """A treebank that is not laid out as it is distributed."""


class MissingPart(CorpusError):
    """Files that a part of a treebank's standard split needs and that are not there."""


class CountMismatch(CorpusError):
    """A part with another number of trees than the treebank's standard split has."""


class SettingError(InputError):
    """A setting that is unknown, of a wrong type, or contradicts another."""


class DescriptionError(TreewrightError):
    """Labels, tags, rules and scores of a model that do not go together."""


class CheckpointError(InputError):
    """A model whose directory lacks a part, or has one that is damaged or of another version."""


class SentenceError(InputError):
    """A sentence that cannot be parsed: without words, or with more than any chart can hold."""


class UnknownModel(InputError):
    """A model that is neither bundled nor a directory."""


class ResumeError(InputError):
    """A part of a result that a run cannot go on with."""
