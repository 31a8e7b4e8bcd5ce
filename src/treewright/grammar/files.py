r"""A grammar as one JSON file that a linguist can read and edit.

Owns the format, its version and its errors:

    {
      "format": "treewright grammar",
      "version": 1,
      "scheme": "$",
      "labels": ["@", "$", "NP", "S", "VP"],
      "roots": {"S": 1},
      "words": {"@": 3, "VP": 1},
      "rules": {
        "NP": {"$ @": 1},
        "S": {"NP VP": 1}
      }
    }

Rules stand under their parents as `"left right": count`, the commonest first. A rule written in by
hand needs no entry in `labels`: symbols that occur anywhere are known.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from treewright.errors import EmptyInput, GrammarError, GrammarFileError, Place, TreewrightError
from treewright.files import atomic_write, name_of, open_bytes, text_chunks
from treewright.grammar.grammar import Grammar
from treewright.grammar.rules import Rule

FORMAT = "treewright grammar"
VERSION = 1


def save(grammar: Grammar, path: str | os.PathLike[str]) -> None:
    """Write a grammar, beside and then in place of what stood there."""
    text = dumps(grammar)
    with atomic_write(path) as handle:
        handle.write(text)


def load(path: str | os.PathLike[str]) -> Grammar:
    """Read a grammar; `-` is standard input."""
    name = name_of(path)
    with open_bytes(path) as handle:
        text = "".join(text_chunks(handle, name))
    if not text.strip():
        raise EmptyInput("holds no grammar", Place(name))
    return loads(text, name)


def dumps(grammar: Grammar) -> str:
    """The text of a grammar's file."""
    rules: dict[str, dict[str, int]] = {}
    for rule, count in _commonest_first(grammar.rules):
        if any(" " in symbol for symbol in rule):
            raise GrammarError(f"rule {rule}: a symbol with a space in it cannot be written")
        rules.setdefault(rule.parent, {})[f"{rule.left} {rule.right}"] = count
    document = {
        "format": FORMAT,
        "version": VERSION,
        "scheme": grammar.scheme,
        "labels": list(grammar.labels),
        "roots": dict(_commonest_first(grammar.roots)),
        "words": dict(_commonest_first(grammar.words)),
        "rules": {parent: rules[parent] for parent in sorted(rules)},
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def loads(text: str, name: str | None = None) -> Grammar:
    """A grammar from the text of its file; `name` is for messages."""
    try:
        return _grammar_of(json.loads(text, object_pairs_hook=_without_repeats))
    except json.JSONDecodeError as error:
        place = Place(name, line=error.lineno, column=error.colno)
        raise GrammarFileError(f"not JSON: {error.msg}", place) from None
    except (RecursionError, ValueError) as error:  # nested too deep, or a number too long
        raise GrammarFileError(f"not a grammar: {error}", Place(name)) from None
    except TreewrightError as error:
        raise GrammarFileError(error.message, Place(name)) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key given twice by hand, one would be lost without a word."""
    table = dict(pairs)
    if len(table) < len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise GrammarError(f"the key {repeated!r} stands twice in one table")
    return table


def _grammar_of(document: Any) -> Grammar:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise GrammarError(f'not a grammar: its "format" is not {FORMAT!r}')
    version = document.get("version")
    if type(version) is not int or version != VERSION:  # True and 1.0 are equal to 1, but are not
        raise GrammarError(f"a grammar of version {version!r}; this treewright reads {VERSION}")
    wanted = {"format", "version", "scheme", "labels", "roots", "words", "rules"}
    if missing := wanted - document.keys():
        raise GrammarError(f"{', '.join(map(repr, sorted(missing)))} missing")
    if unknown := document.keys() - wanted:
        raise GrammarError(f"unknown key {', '.join(map(repr, sorted(unknown)))}")
    labels = document["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise GrammarError('"labels" is not a list of strings')
    rules: dict[Rule, int] = {}
    for parent, children in _table(document["rules"], '"rules"').items():
        for pair, count in _counts(children, f'"rules" of {parent!r}').items():
            symbols = pair.split(" ")
            if len(symbols) != 2 or not all(symbols):
                raise GrammarError(f"rule {parent} -> {pair!r}: a rule has two children")
            rules[Rule(parent, symbols[0], symbols[1])] = count
    return Grammar(
        document["scheme"],
        rules,
        _counts(document["words"], '"words"'),
        _counts(document["roots"], '"roots"'),
        frozenset(labels),
    )


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise GrammarError(f"{what} is not a table")
    return value


def _counts(value: Any, what: str) -> dict[str, int]:
    table = _table(value, what)
    for key, count in table.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise GrammarError(f"{what}, {key!r}: {count!r} is not a count of one or more")
    return table


def _commonest_first(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
