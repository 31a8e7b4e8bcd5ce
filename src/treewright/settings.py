"""Settings: typed dataclasses to and from TOML.

Owns reading and writing of settings files, the checks of a table against a dataclass (unknown keys
with the nearest right one, types), and what errors say. What a setting means, and which contradict
each other, is told by the dataclass: a docstring under each field, refusals in `__post_init__`
raised as `SettingError`. A field's name is its key, without the underscore that keeps `lambda_`
from being a word of Python; a field that is a dataclass itself is a table.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Oven:
...     degrees: int = 180
>>> from_table(Oven, {"degrees": 200})
Oven(degrees=200)
>>> print(to_toml({"oven": {"degrees": 200, "fan": True}}), end="")
[oven]
degrees = 200
fan = true
"""

from __future__ import annotations

import json
import math
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from os import PathLike
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from treewright.errors import Place, SettingError
from treewright.files import name_of, open_bytes, text_chunks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_Settings = TypeVar("_Settings")


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The table of a TOML file; `-` is standard input."""
    name = name_of(path)
    with open_bytes(path) as handle:
        return parse_toml("".join(text_chunks(handle, name)), Place(name))


def parse_toml(text: str, place: Place | None = None) -> dict[str, Any]:
    """The table of a TOML text."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingError(f"not TOML: {error}", place) from None


def from_table(
    cls: type[_Settings], table: Mapping[str, Any], place: Place | None = None, section: str = ""
) -> _Settings:
    """A dataclass of settings from a table of them; a key that is left out keeps its default.

    A whole number will do for a float. `section` is how messages call the table.
    """
    within = f"{section}." if section else ""
    known = {_key_of(field.name): field for field in fields(cls) if field.init}  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            raise SettingError(f"unknown setting {within + key!r}{nearest(key, known)}", place)
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = known[key].name
        values[name] = _checked(value, hints[name], within + key, place)
    for key, field in known.items():
        no_default = field.default is MISSING and field.default_factory is MISSING
        if no_default and key not in table:
            raise SettingError(f"the setting {within + key!r} is missing", place)
    try:
        return cls(**values)
    except SettingError as error:
        raise SettingError(error.message, error.place or place) from None


def nearest(key: str, known: typing.Iterable[str]) -> str:
    """What a message about an unknown key adds: the key that was probably meant."""
    close = get_close_matches(key, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def parse_assignment(text: str) -> tuple[tuple[str, ...], Any]:
    """A dotted key and its value, from `key=value`; what is no value of TOML is a text.

    >>> parse_assignment("model.layers=2"), parse_assignment("out=runs/a")
    ((('model', 'layers'), 2), (('out',), 'runs/a'))
    """
    key, equals, value = text.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not equals or not all(path):
        raise SettingError(f"{text!r} sets nothing: write key=value")
    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return path, value.strip()


def _key_of(name: str) -> str:
    return name.rstrip("_")


def _checked(value: Any, hint: Any, name: str, place: Place | None) -> Any:
    if is_dataclass(hint) and isinstance(value, Mapping):
        return from_table(hint, value, place, section=name)  # type: ignore[arg-type]
    fitted = _fit(value, hint)
    if fitted is _UNFIT:
        raise SettingError(f"{name!r} is {value!r}, not {_describe(hint)}", place)
    return fitted


_UNFIT = object()


def _fit(value: Any, hint: Any) -> Any:
    """The value as the type has it, or `_UNFIT`."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin is Literal:
        same = (v for v in get_args(hint) if v == value and type(v) is type(value))
        return next(same, _UNFIT)
    if origin in (Union, types.UnionType):
        fits = (_fit(value, choice) for choice in get_args(hint))
        return next((fit for fit in fits if fit is not _UNFIT), _UNFIT)
    if origin in (list, tuple):
        return _fit_all(value, origin, get_args(hint)[0])
    if origin in (dict, Mapping):
        return value if isinstance(value, dict) else _UNFIT
    if hint is float and type(value) is int:
        return float(value)
    return value if type(value) is hint else _UNFIT


def _fit_all(values: Any, kind: type, hint: Any) -> Any:
    if not isinstance(values, list | tuple):
        return _UNFIT
    fitted = [_fit(value, hint) for value in values]
    return _UNFIT if any(value is _UNFIT for value in fitted) else kind(fitted)


_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _describe(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if origin in (Union, types.UnionType):
        choices = [choice for choice in get_args(hint) if choice is not type(None)]
        return " or ".join(map(_describe, choices))
    if origin in (list, tuple):
        return f"a list, each of it {_describe(get_args(hint)[0])}"
    if origin in (dict, Mapping) or is_dataclass(hint):
        return "a table"
    return _NAMES.get(hint, str(hint))


def to_table(settings: Any) -> dict[str, Any]:
    """The table of a dataclass of settings, and of those in it; tuples become lists."""
    return {
        _key_of(field.name): _plain(getattr(settings, field.name)) for field in fields(settings)
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return to_table(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def to_toml(table: Mapping[str, Any]) -> str:
    """A table as TOML: values first, then tables in sections. What is None is left out.

    Holds texts, numbers, truth values, lists of them, and tables of all this.
    """
    return "\n".join(part for part in _sections(table, ()) if part)


def _sections(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    values = [
        f"{_key(key)} = {_value(value)}\n"
        for key, value in table.items()
        if value is not None and not isinstance(value, Mapping)
    ]
    head = f"[{'.'.join(map(_key, path))}]\n" if path else ""
    parts = [head + "".join(values)] if values or path else []
    for key, value in table.items():
        if isinstance(value, Mapping):
            parts += _sections(value, (*path, key))
    return parts


def _key(key: str) -> str:
    plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if plain else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return str(value)
        text = repr(value)
        return text if "." in text or "e" in text else text + ".0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}")


def _text(text: str) -> str:
    """A basic string of TOML, which is one of JSON but for the character DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
