"""`treewright info`: what a model is, and what made it, read from its directory alone.

Owns the choice of facts and how they are shown. Of the weights only the table at the head of their
file is read, so neither PyTorch nor ONNX Runtime is needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from treewright.errors import CheckpointError, Place
from treewright.model.config import ModelConfig
from treewright.parser.loading import find
from treewright.scorer import Description, Kind, kind_of, read_json, read_part
from treewright.settings import to_table

# What a model is not whole without, its description apart
_PARTS: dict[Kind, tuple[str, ...]] = {
    "checkpoint": ("model.toml", "tokenizer.json", "model.safetensors"),
    "runtime": ("runtime.json", "tokenizer.json", "encoder.onnx", "top.onnx", "spans.npz"),
}
# Settings of the network that say how large it is
_SIZES = (
    *("model_size", "layers", "heads", "key_size", "feed_forward_size"),
    *("label_heads", "label_output_size", "scorer_size", "tagger_size"),
)
# Those of label attention, which a network may be without
_OF_LABELS = ("label_heads", "label_output_size")
_WIDTH = 14


@click.command("info")
@click.argument("model", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="All facts as JSON, labels and tags named.")
def command(model: str, as_json: bool) -> None:
    """Say what the model in DIR is, and what made it.

    DIR is a directory that `train` or `export` wrote, or the name of a bundled model.

    \b
    Examples:
        treewright info models/mine
        treewright info models/mine --json > mine.json
    """
    facts = about(find(model))
    if as_json:
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
    else:
        for line in _lines(facts):
            click.echo(line)


def about(directory: Path) -> dict[str, Any]:
    """All that a model's directory says, as JSON has it."""
    kind = kind_of(directory)
    description = Description.load(directory)
    grammar = description.grammar
    for part in _PARTS[kind]:
        if not (directory / part).exists():
            raise CheckpointError("is missing from the model", Place(str(directory / part)))
    files = [path for path in sorted(directory.iterdir()) if path.is_file()]
    return {
        "directory": str(directory),
        "kind": kind,
        "name": description.name,
        "language": description.language,
        "files": {path.name: path.stat().st_size for path in files},
        **(_checkpoint(directory) if kind == "checkpoint" else _runtime(directory)),
        "labels": list(description.labels),
        "tags": list(description.tags),
        "grammar": {
            "scheme": grammar.scheme,
            "rules": len(grammar.rules),
            "child_pairs": len(grammar.pairs),
            "over_one_word": len(grammar.words),
            "at_root": len(grammar.roots),
            "scored": description.rule_scores is not None,
        },
        "penalty": "inf" if description.penalty == math.inf else description.penalty,
        "temperatures": dict(description.temperatures),
        "root": description.root,
        "training": _training(directory / "run"),
    }


def _checkpoint(directory: Path) -> dict[str, Any]:
    """The network: its settings, its encoder, how many numbers were learned."""
    config = read_part(directory / "model.toml", ModelConfig.load_whole)
    facts: dict[str, Any] = {"encoder": config.encoder, "network": to_table(config)}
    if not config.reads_characters:
        encoder = read_part(directory / "encoder.json", read_json)
        known = ("model_type", "num_hidden_layers", "hidden_size", "vocab_size")
        facts["encoder_config"] = {key: encoder[key] for key in known if key in encoder}
    weights = read_part(directory / "model.safetensors", _weights)
    return {**facts, "parameters": weights}


def _runtime(directory: Path) -> dict[str, Any]:
    return {"runtime": read_part(directory / "runtime.json", read_json)}


def _weights(path: Path) -> dict[str, Any]:
    """How many numbers a file of safetensors holds, of the encoder and above, and their types.

    The file begins with the size of its table, eight bytes, and the table, in JSON.
    """
    place = Place(str(path))
    with path.open("rb") as handle:
        size = int.from_bytes(handle.read(8), "little")
        text = handle.read(size) if size < path.stat().st_size else b""
    try:
        table = json.loads(text)
        counts = {"encoder": 0, "top": 0}
        end = 0
        for name, tensor in table.items():
            if name != "__metadata__":
                part = "encoder" if name.startswith("encoder.") else "top"
                counts[part] += math.prod(tensor["shape"])
                end = max(end, tensor["data_offsets"][1])
        types = sorted({tensor["dtype"] for tensor in table.values() if "dtype" in tensor})
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        raise CheckpointError("no table of weights at its head", place) from None
    if path.stat().st_size != 8 + size + end:
        raise CheckpointError("not as long as its table says", place)
    return {**counts, "types": types}


def _training(run: Path) -> dict[str, Any] | None:
    """The record of the run that made a model, where it is with it."""
    if not (run / "provenance.json").exists():
        return None
    provenance = read_part(run / "provenance.json", read_json)
    # A run that is not at its end has no result yet
    done = (run / "result.json").exists()
    result = read_part(run / "result.json", read_json) if done else None
    record = {**provenance, "result": result}
    try:
        list(_about_training(record))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CheckpointError("damaged: no record of a run", Place(str(run))) from None
    return record


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """The facts for people."""
    yield f"{facts['directory']}: a {facts['kind']} model"
    for name, value in _about_model(facts):
        yield f"  {name:<{_WIDTH}}{value}"
    training = facts["training"]
    if training is None:
        yield "There is no record of its training."
        return
    yield "Training"
    for name, value in _about_training(training):
        yield f"  {name:<{_WIDTH}}{value}"


def _about_model(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "name", facts["name"] or "none"
    yield "language", facts["language"] or "none: it takes words only"
    if facts["kind"] == "checkpoint":
        yield "encoder", _encoder(facts)
        network = facts["network"]
        kept = [key for key in _SIZES if network["label_attention"] or key not in _OF_LABELS]
        yield "network", ", ".join(f"{key} {network[key]}" for key in kept)
        counts = facts["parameters"]
        types = ", ".join(counts["types"])
        yield "weights", f"{counts['encoder']:,} of the encoder, {counts['top']:,} above ({types})"
    else:
        simple = [
            f"{key} {value}"
            for key, value in facts["runtime"].items()
            if isinstance(value, str | int | float)
        ]
        yield "runtime", ", ".join(simple)
    yield "on disk", f"{sum(facts['files'].values()) / 1e6:,.1f} MB"
    yield "labels", f"{len(facts['labels']):,}"
    yield "tags", f"{len(facts['tags']):,}"
    grammar = facts["grammar"]
    scored = "with scores" if grammar["scored"] else "without scores"
    yield (
        "grammar",
        f"scheme {grammar['scheme']}: {grammar['rules']:,} rules {scored}, "
        f"{grammar['child_pairs']:,} child pairs, {grammar['over_one_word']:,} labels over one "
        f"word, {grammar['at_root']:,} at the root",
    )
    yield "penalty", str(facts["penalty"])
    temperatures = [f"{mode} {value:.3g}" for mode, value in facts["temperatures"].items()]
    yield "temperatures", ", ".join(temperatures) or "none"


def _encoder(facts: Mapping[str, Any]) -> str:
    known = facts.get("encoder_config")
    if known is None:
        return f"{facts['encoder']}, learned from scratch"
    size = f"{known.get('num_hidden_layers', '?')} layers of {known.get('hidden_size', '?')}"
    return f"{facts['encoder']} ({known.get('model_type', 'unknown kind')}, {size})"


def _about_training(training: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part, data in training.get("data", {}).items():
        yield part, f"{data['file']}, {data['trees']:,} trees, sha256 {data['sha256'][:16]}"
    if training.get("from"):
        yield "from", str(training["from"])
    yield "seed", str(training.get("seed"))
    if (result := training["result"]) is None:
        yield "dev F1", "not known: the run is not at its end"
    else:
        dev = result["dev"]
        shown = [f"{mode} {dev[mode]['f1']:.2f}" for mode in ("hard", "soft", "off")]
        yield "dev F1", f"{', '.join(shown)}; tags {dev['tagging']:.2f}"
        yield "best epoch", f"{result['best']['epoch']:g} (step {result['best']['step']:,})"
        yield "minutes", f"{result['seconds'] / 60:.1f}"
    yield "treewright", f"{training.get('treewright')}, revision {training.get('revision')}"
    packages = ("torch", "transformers", "accelerate", "python")
    yield "with", ", ".join(f"{name} {training[name]}" for name in packages if training.get(name))
