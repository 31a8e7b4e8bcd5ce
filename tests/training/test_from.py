"""Going on from a trained model: what it knew stays, what is new is added."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from training.made import QUICK, made_trees, quick, write
from treewright.errors import CheckpointError, NotFound, SettingError
from treewright.model import checkpoint
from treewright.parser import load
from treewright.settings import to_table, to_toml
from treewright.training.config import TrainConfig, load_config, network_of
from treewright.training.loop import train
from treewright.training.setup import prepare
from treewright.trees import Tree

NEW = [
    Tree.from_brackets("(TOP (FRAG (UH well) (NP (DT the) (XX parser)) (. .)))"),
    Tree.from_brackets("(TOP (S (NP (PRP she)) (VP (VBZ says) (FRAG (UH well)))))"),
]
RUN = [setting for setting in QUICK if not setting.startswith("model.")]


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    config = quick(tmp_path_factory.mktemp("old"), "epochs=3", "rule_scores=learned", "language=xx")
    train(config)
    return config


def going_on(folder: Path, old: TrainConfig, *assignments: str) -> TrainConfig:
    settings = {
        "train": write(folder / "new.mrg", [*NEW, *made_trees(8, seed=5)]),
        "dev": old.dev,
        "out": str(folder / "next"),
        "rule_scores": "learned",
    }
    network = network_of(old.out)
    return load_config(
        settings=settings.items(), assignments=(*RUN, *assignments), known_network=network
    )


def test_labels_tags_and_rules_are_added(old: TrainConfig, tmp_path: Path) -> None:
    before = checkpoint.load(old.out).description
    made = prepare(going_on(tmp_path, old), old.out)
    after = made.description
    assert set(after.labels) == {*before.labels, "FRAG"}
    assert after.tags[: len(before.tags)] == before.tags
    assert set(after.tags) == {*before.tags, "UH", "XX"}
    for rule, count in before.grammar.rules.items():
        assert after.grammar.rules[rule] >= count
    assert all(after.grammar.licenses(tree) for tree in NEW)
    assert not any(before.grammar.licenses(tree) for tree in NEW)
    assert made.examples.forbidden == 0
    assert after.language == "xx"


def test_what_was_known_is_said_as_before(old: TrainConfig, tmp_path: Path) -> None:
    """Before the first step: scores of old labels and rules, to the bit."""
    scorer = checkpoint.load(old.out)
    made = prepare(going_on(tmp_path, old), old.out)
    sentences = [tree.words() for tree in made_trees(5, seed=9)]
    before = scorer.score(sentences).rows
    network = made.network.eval()
    features = checkpoint.load(old.out).features(sentences)
    with torch.inference_mode():
        after = network(features).rows
    column = made.description.columns
    same = [column[label] for label in scorer.description.labels]
    torch.testing.assert_close(after[:, same], before, atol=1e-5, rtol=1e-5)

    def scores(description) -> dict[tuple[str, str, str], float]:  # type: ignore[no-untyped-def]
        tables = description.grammar.tables(description.labels)
        return {tables.rule_of(at): score for at, score in enumerate(description.rule_scores)}

    was, now = scores(scorer.description), scores(made.description)
    assert any(was.values())
    assert {rule: now[rule] for rule in was} == was
    assert not any(now[rule] for rule in now.keys() - was.keys())


def test_trained_further(old: TrainConfig, tmp_path: Path) -> None:
    """A new label is learned, and the old model stays as it was."""
    kept = {path: path.read_bytes() for path in Path(old.out).iterdir() if path.is_file()}
    config = going_on(tmp_path, old, "epochs=40", "batch_size=2")
    config = replace(config, dev=write(tmp_path / "dev.mrg", NEW))
    assert train(config, start=old.out).f1 > 60
    assert all(path.read_bytes() == data for path, data in kept.items())
    found = load(config.out).parse(NEW[0].words()).tree
    assert "FRAG" in {span.label for span in found.spans()}


def test_scores_of_rules_are_not_dropped_silently(old: TrainConfig, tmp_path: Path) -> None:
    config = going_on(tmp_path, old, "rule_scores=none")
    with pytest.raises(SettingError, match=r"was trained with scores of rules.*'learned' or"):
        train(config, start=old.out)
    counts = prepare(going_on(tmp_path, old, "rule_scores=counts"), old.out).description
    assert counts.rule_scores is not None
    assert np.all(np.array(counts.rule_scores) <= 0)


def test_settings_of_the_same_network_may_stand_there(old: TrainConfig, tmp_path: Path) -> None:
    """Those of what `--show` printed, of the old run's record, of the new one's, and a few."""
    network = network_of(old.out)
    config = replace(going_on(tmp_path, old), model=network)
    assert network == checkpoint.load(old.out).network.config
    (tmp_path / "shown.toml").write_text(to_toml(to_table(config)))
    assert load_config(str(tmp_path / "shown.toml"), known_network=network) == config
    record = Path(old.out) / "run" / "config.toml"
    assert load_config(str(record)).model != network  # how many label heads 0 came to
    assert load_config(str(record), "small", known_network=network).model == network
    few = load_config(str(record), assignments=["model.heads=2"], known_network=network)
    assert few.model == network
    with pytest.raises(SettingError) as error:
        load_config(str(record), assignments=["model.heads=4"], known_network=network)
    assert str(error.value) == (
        f"{record}: 'model.heads' is 4, but the model to go on from has 2: leave out 'model'"
    )
    with pytest.raises(SettingError, match=r"unknown setting 'model\.head'; did you mean 'heads'"):
        load_config(str(record), assignments=["model.head=2"], known_network=network)
    with pytest.raises(SettingError, match="'model' is 3, not a table"):
        load_config(str(record), assignments=["model=3"], known_network=network)


def test_an_encoder_goes_by_its_name(old: TrainConfig, tmp_path: Path) -> None:
    """A checkpoint does not say in which folder its encoder lay; the record of its run does."""
    network = replace(network_of(old.out), encoder="minilm")
    (tmp_path / "minilm").mkdir()
    for encoder in ("minilm", str(tmp_path / "minilm"), f"{tmp_path}/minilm/"):
        settings = [("train", "a"), ("dev", "b"), ("out", "c"), ("model.encoder", encoder)]
        assert load_config(settings=settings, known_network=network).model == network
    with pytest.raises(SettingError, match=r"'model\.encoder' is '/bert', but .* has 'minilm'"):
        load_config(settings=[("model.encoder", "/bert")], known_network=network)


def test_the_record_of_a_run_resumes_it(old: TrainConfig, tmp_path: Path) -> None:
    config = going_on(tmp_path, old)
    train(config, start=old.out)
    record = str(Path(config.out) / "run" / "config.toml")
    again = load_config(record, known_network=network_of(old.out))
    train(again, start=f"{old.out}/", resume=True)
    other = shutil.copytree(old.out, tmp_path / "other")
    with pytest.raises(SettingError, match=r"began with .* to go on from: say the same again"):
        train(again, start=str(other), resume=True)


def test_what_has_no_network_to_go_on_from(old: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such directory"):
        network_of(str(tmp_path / "nowhere"))
    checkpoint.load(old.out).description.save(tmp_path, "runtime")
    with pytest.raises(CheckpointError, match="is no checkpoint, but a runtime model"):
        network_of(str(tmp_path))


def test_what_does_not_fit_is_refused(old: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"the model's scheme is '\$', not '\$\+left': set"):
        train(going_on(tmp_path, old, "scheme=$+left"), start=old.out)
    with pytest.raises(SettingError, match="leave out 'model'"):
        going_on(tmp_path, old, "model.layers=2")
    config = going_on(tmp_path, old)
    with pytest.raises(NotFound, match="no such directory"):
        train(config, start=str(tmp_path / "nowhere"))
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for path in Path(old.out).iterdir():
        if path.is_file() and path.name != "model.safetensors":
            (damaged / path.name).write_bytes(path.read_bytes())
    with pytest.raises(CheckpointError, match=r"model\.safetensors: is missing"):
        train(config, start=str(damaged))
    assert not Path(config.out).exists()
