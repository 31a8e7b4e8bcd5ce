"""What is known of a scorer, and its two files."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from treewright.errors import CheckpointError, DescriptionError, LabelError, NotFound
from treewright.grammar import Grammar
from treewright.scorer import Description, kind_of
from treewright.trees import Tree

TREES = ["(S (NP (DT a) (NN b)) (VP (VB c)))", "(S (VP (VB go) (NP (DT a) (JJ b) (NN c))))"]
GRAMMAR = Grammar.from_trees([Tree.from_brackets(text) for text in TREES])
TAGS = ("DT", "NN", "VB", "汉")


def described(**changes: Any) -> Description:
    return Description(**({"labels": GRAMMAR.labels, "tags": TAGS, "grammar": GRAMMAR} | changes))


@pytest.mark.parametrize("kind", ["checkpoint", "runtime"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"penalty": 0.5, "root": None, "language": "en", "name": "naïve"},
        {"temperatures": {"hard": 1.5, "off": 2.0}, "labels": (*GRAMMAR.labels, "X")},
        {"rule_scores": [0.25 * k for k in range(len(GRAMMAR.rules))]},
    ],
)
def test_round_trip(kind: Any, changes: dict[str, Any], tmp_path: Path) -> None:
    description = described(**changes)
    description.save(tmp_path, kind)
    assert Description.load(tmp_path) == description
    assert kind_of(tmp_path) == kind
    assert pickle.loads(pickle.dumps(description)) == description
    assert {path.name for path in tmp_path.iterdir()} == {"treewright.json", "grammar.json"}


def test_rule_scores_are_in_the_order_of_the_tables() -> None:
    scores = tuple(float(k) for k in range(len(GRAMMAR.rules)))
    description = described(rule_scores=scores, labels=("X", *reversed(GRAMMAR.labels)))
    tables = GRAMMAR.tables(description.labels)
    assert description.rule_scores is not None
    assert len(description.rule_scores) == len(tables.rules)


def test_infinite_penalty_is_json(tmp_path: Path) -> None:
    """Python would write a bare word that no other reader of JSON takes."""
    described().save(tmp_path, "checkpoint")

    def refuse(text: str) -> float:
        raise AssertionError(text)

    document = json.loads((tmp_path / "treewright.json").read_text(), parse_constant=refuse)
    assert document["penalty"] == "inf"
    assert Description.load(tmp_path).penalty == math.inf


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"labels": ("@", "@")}, LabelError, "names two columns"),
        ({"labels": ("@", "NP")}, DescriptionError, "symbols that are no columns"),
        ({"tags": ("NN", "NN")}, DescriptionError, "tags are distinct"),
        ({"tags": ("",)}, DescriptionError, "tags are distinct and not empty"),
        ({"rule_scores": (1.0,)}, DescriptionError, "1 scores of rules for"),
        ({"penalty": -0.5}, DescriptionError, "a penalty is a number from 0"),
        ({"penalty": math.nan}, DescriptionError, "a penalty is a number from 0"),
        ({"temperatures": {"cold": 1.0}}, DescriptionError, "no mode of the rules"),
        ({"temperatures": {"hard": 0.0}}, DescriptionError, "above 0"),
    ],
)
def test_refusals(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        described(**changes)


def test_scores_of_rules_are_finite() -> None:
    scores = [math.inf] * len(GRAMMAR.rules)
    with pytest.raises(DescriptionError, match="not finite"):
        described(rule_scores=scores)


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such directory"):
        Description.load(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match=r"treewright\.json: is missing from the model"):
        Description.load(tmp_path)
    described().save(tmp_path, "checkpoint")
    (tmp_path / "grammar.json").unlink()
    with pytest.raises(CheckpointError, match=r"grammar\.json: is missing from the model"):
        Description.load(tmp_path)
    described().save(tmp_path, "checkpoint")
    document = json.loads((tmp_path / "treewright.json").read_text())
    del document["tags"]
    (tmp_path / "treewright.json").write_text(json.dumps(document))
    with pytest.raises(CheckpointError, match=r"treewright\.json: 'tags' missing"):
        Description.load(tmp_path)
    (tmp_path / "treewright.json").write_text("[1]")
    with pytest.raises(CheckpointError, match="not a table in JSON"):
        Description.load(tmp_path)
    (tmp_path / "treewright.json").write_text(json.dumps(document | {"version": 99}))
    with pytest.raises(CheckpointError, match="version 99"):
        kind_of(tmp_path)
