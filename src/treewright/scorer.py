"""What a scorer is: words in, a chart of span scores out, and what is known of the scores.

Owns `Description` (the columns, the tags, the grammar and how to decode with it) with its two
files, and the protocol that every scorer follows, so that those who turn scores into trees need not
know whether torch or ONNX Runtime made them.

A model is a directory. What follows here is in both kinds, beside weights that are their own
business:

    treewright.json    a `Description`, and the kind of the model: "checkpoint" or "runtime"
    grammar.json       its grammar, as `treewright.grammar` writes it
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from treewright.charts import Array, Ints, Labels
from treewright.errors import CheckpointError, DescriptionError, NotFound, Place, TreewrightError
from treewright.files import atomic_write, open_bytes, text_chunks
from treewright.grammar import Grammar

FORMAT = "treewright model"
VERSION = 1
DESCRIPTION_FILE = "treewright.json"
GRAMMAR_FILE = "grammar.json"

Kind = Literal["checkpoint", "runtime"]
RulesMode = Literal["hard", "soft", "off"]

_Part = TypeVar("_Part")

_KEYS = ("labels", "tags", "rule_scores", "penalty", "temperatures", "root", "language", "name")


@dataclass(frozen=True)
class Description:
    """What is known of a scorer's charts; checked when it is made.

    >>> description = Description(("@", "NP"), ("NN",), Grammar("$", {}, {"NP": 1}, {"NP": 1}))
    >>> description.columns["NP"], description.penalty, description.root
    (1, inf, 'TOP')
    """

    labels: tuple[str, ...]
    """The symbols of the chart's columns."""

    tags: tuple[str, ...]
    """The part-of-speech tags that `Scores.tags` counts in."""

    grammar: Grammar
    """The rules that trees obey, or break at a price."""

    rule_scores: tuple[float, ...] | None = None
    """What each rule adds, in the order of `grammar.tables(labels).rules`; None for nothing."""

    penalty: float = math.inf
    """What a violation costs under soft rules, chosen on held-out trees."""

    temperatures: Mapping[RulesMode, float] = field(default_factory=dict)
    """By how much scores are divided to make honest confidences of them, by mode of the rules."""

    root: str | None = "TOP"
    """The wrapper that trees are given back in; None for none."""

    language: str = ""
    """The language that raw text must be in, as `en`; empty where only words are understood."""

    name: str = ""
    """What people call the model."""

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "tags", tuple(self.tags))
        object.__setattr__(self, "temperatures", MappingProxyType(dict(self.temperatures)))
        Labels(self.labels)
        if not self.tags or len(set(self.tags)) < len(self.tags) or not all(self.tags):
            raise DescriptionError("there is a tag at least, and tags are distinct and not empty")
        if missing := [label for label in self.grammar.labels if label not in self.columns]:
            message = f"the grammar has symbols that are no columns: {', '.join(missing[:5])}"
            raise DescriptionError(message)
        if self.rule_scores is not None:
            object.__setattr__(self, "rule_scores", tuple(map(float, self.rule_scores)))
            self._check_rule_scores(self.rule_scores)
        if not self.penalty >= 0:
            raise DescriptionError(f"a penalty is a number from 0, or infinity, not {self.penalty}")
        for mode, temperature in self.temperatures.items():
            if mode not in get_args(RulesMode):
                raise DescriptionError(f"no mode of the rules is called {mode!r}")
            if not 0 < temperature < math.inf:
                raise DescriptionError(f"a temperature is above 0, not {temperature}")

    def _check_rule_scores(self, scores: Sequence[float]) -> None:
        wanted = len(self.grammar.rules)
        if len(scores) != wanted:
            raise DescriptionError(f"{len(scores)} scores of rules for {wanted} rules")
        if not all(map(math.isfinite, scores)):
            raise DescriptionError("a score of a rule is not finite")

    def __reduce__(self) -> tuple[type[Description], tuple[Any, ...]]:
        values = {key: getattr(self, key) for key in _KEYS}
        rest = (values["rule_scores"], values["penalty"], dict(self.temperatures))
        return Description, (
            *(self.labels, self.tags, self.grammar),
            *rest,
            *(self.root, self.language, self.name),
        )

    @property
    def columns(self) -> dict[str, int]:
        """The column of every label."""
        return {label: column for column, label in enumerate(self.labels)}

    def save(self, directory: str | PathLike[str], kind: Kind) -> None:
        """Write `treewright.json` and `grammar.json` into a directory that is there."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "kind": kind}
        values = {key: getattr(self, key) for key in _KEYS}
        values["temperatures"] = dict(self.temperatures)
        if self.penalty == math.inf:  # JSON has no infinity
            values["penalty"] = "inf"
        with atomic_write(Path(directory) / DESCRIPTION_FILE) as handle:
            json.dump(document | values, handle, ensure_ascii=False, indent=1, allow_nan=False)
            handle.write("\n")
        self.grammar.save(Path(directory) / GRAMMAR_FILE)

    @classmethod
    def load(cls, directory: str | PathLike[str]) -> Description:
        """Read both files of a model's directory."""
        document = _read(directory)
        place = Place(str(Path(directory) / DESCRIPTION_FILE))
        if missing := [key for key in _KEYS if key not in document]:
            raise CheckpointError(f"{', '.join(map(repr, missing))} missing", place)
        grammar = read_part(Path(directory) / GRAMMAR_FILE, Grammar.load)
        try:
            return _description(document, grammar)
        except TreewrightError as error:
            raise CheckpointError(error.message, place) from None


def kind_of(directory: str | PathLike[str]) -> Kind:
    """Whether a model's directory is a checkpoint (torch) or a runtime model (ONNX)."""
    kind = _read(directory)["kind"]
    if kind not in get_args(Kind):
        place = Place(str(Path(directory) / DESCRIPTION_FILE))
        raise CheckpointError(f"no kind of model is called {kind!r}", place)
    found: Kind = kind
    return found


def read_part(path: Path, reader: Callable[[Path], _Part]) -> _Part:
    """A file of a model by what reads it; one that is missing or wrong is a `CheckpointError`."""
    if not path.exists():
        raise CheckpointError("is missing from the model", Place(str(path)))
    if path.is_dir():
        raise CheckpointError("is a directory, not a file", Place(str(path)))
    try:
        return reader(path)
    except OSError as error:
        raise CheckpointError(error.strerror or str(error), Place(str(path))) from None
    except TreewrightError as error:
        message = f"damaged: {error.message}"
        raise CheckpointError(message, error.place or Place(str(path))) from None


def read_json(path: Path) -> dict[str, Any]:
    """The table in a JSON file."""
    try:
        with open_bytes(path) as handle:
            document = json.loads("".join(text_chunks(handle, str(path))))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"not JSON: {error}", Place(str(path))) from None
    if not isinstance(document, dict):
        raise CheckpointError("not a table in JSON", Place(str(path)))
    return document


class Scores(NamedTuple):
    """What a scorer says of some sentences; `decode` takes `rows` and `lengths` as they are."""

    rows: Array
    """Packed `(cells, L)`, sentences one below the other; float32, numpy or torch."""

    lengths: Ints
    """`(B,)`: the words of each sentence."""

    tags: Ints
    """`(words,)`: of each word, the place of its tag in `Description.tags`; 0 without a tagger."""


class Scorer(Protocol):
    """Scores sentences, any number of any lengths, and answers in their order."""

    @property
    def description(self) -> Description:
        """What the scores mean."""
        ...

    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        """The charts and tags of sentences of one word or more each."""
        ...


def _read(directory: str | PathLike[str]) -> dict[str, Any]:
    """The document of a model, its format and version checked."""
    path = Path(directory) / DESCRIPTION_FILE
    if not Path(directory).is_dir():
        raise NotFound("no such directory", Place(str(directory)))
    document = read_part(path, read_json)
    place = Place(str(path))
    if document.get("format") != FORMAT:
        raise CheckpointError(f'not a model: its "format" is not {FORMAT!r}', place)
    if document.get("version") != VERSION or "kind" not in document:
        version = document.get("version")
        message = f"a model of version {version!r}; this treewright reads {VERSION}"
        raise CheckpointError(message, place)
    return document


def _description(document: Mapping[str, Any], grammar: Grammar) -> Description:
    penalty = math.inf if document["penalty"] == "inf" else document["penalty"]
    temperatures = document["temperatures"]
    if not isinstance(temperatures, dict):
        raise DescriptionError('"temperatures" is not a table')
    for key in ("language", "name"):
        if not isinstance(document[key], str):
            raise DescriptionError(f'"{key}" is not a text')
    if not isinstance(document["root"], str | None):
        raise DescriptionError('"root" is neither a text nor null')
    scores = document["rule_scores"]
    return Description(
        labels=_texts(document, "labels"),
        tags=_texts(document, "tags"),
        grammar=grammar,
        rule_scores=None if scores is None else tuple(_numbers(scores, "rule_scores")),
        penalty=_numbers([penalty], "penalty")[0],
        temperatures={mode: _numbers([t], "temperatures")[0] for mode, t in temperatures.items()},
        root=document["root"],
        language=document["language"],
        name=document["name"],
    )


def _texts(document: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = document[key]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DescriptionError(f'"{key}" is not a list of texts')
    return tuple(values)


def _numbers(values: Any, key: str) -> list[float]:
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise DescriptionError(f'"{key}" holds what is no number')
    return [float(value) for value in values]
