"""Settings of a run: where they come from, which goes first, and what is wrong with them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from accelerate.utils import set_seed

from treewright.errors import NotFound, SettingError
from treewright.settings import to_table, to_toml
from treewright.training.config import PRESETS, TrainConfig, load_config

PLACES = [("train", "a.mrg"), ("dev", "b.mrg"), ("out", "c")]


def load(*assignments: str, preset: str = "tiny") -> TrainConfig:
    return load_config(preset=preset, settings=PLACES, assignments=assignments)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_whole_and_come_back_from_their_file(preset: str, tmp_path: Path) -> None:
    config = load(preset=preset)
    file = tmp_path / "config.toml"
    file.write_text(to_toml(to_table(config)))
    assert load_config(str(file)) == config


def test_the_paper_s_settings() -> None:
    config = load(preset="paper-en")
    assert (config.seed, config.lambda_, config.batch_size) == (777, 0.4, 100)
    assert (config.beta1, config.beta2, config.encoder_rate, config.warmup_steps) == (
        *(0.9, 0.98, 5e-5, 160),
    )
    model = config.model
    assert (model.encoder, model.layers, model.key_size) == ("bert-large-uncased", 12, 128)
    assert (model.model_size, model.feed_forward_size, model.scorer_size) == (1024, 2048, 250)
    assert (model.label_key_size, model.label_output_size) == (128, 128)
    assert load(preset="paper-zh").model.encoder == "bert-base-chinese"


def test_who_goes_first(tmp_path: Path) -> None:
    """A single setting before an option, an option before the file, the file before the preset."""
    file = tmp_path / "config.toml"
    file.write_text('seed = 5\nout = "file"\nlambda = 0.1\n[model]\nlayers = 3\n')
    config = load_config(str(file), "tiny", PLACES, ["lambda=0.9", "model.heads=2"])
    assert (config.seed, config.out, config.lambda_) == (5, "c", 0.9)
    assert (config.model.layers, config.model.heads, config.model.scorer_size) == (3, 2, 128)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("lamda=0.4", "unknown setting 'lamda'; did you mean 'lambda'?"),
        ("model.layer=2", "unknown setting 'model.layer'; did you mean 'layers'?"),
        ("lr=0.1", "no setting 'lr'; did you mean 'top_rate'?"),
        ("layers=2", "no setting 'layers'; did you mean 'model.layers'?"),
        ("encoder=x", "no setting 'encoder'; did you mean 'model.encoder'?"),
        ("zzz=1", "unknown setting 'zzz'"),
        ("seed.x=1", "'seed' is {'x': 1}, not a whole number"),
        ("seed", "'seed' sets nothing: write key=value"),
        ("lambda=1.5", "'lambda' is a number from 0 to 1, not 1.5"),
        ("batch_size=0", "'batch_size' is a number from 1, not 0"),
        ("seed=5000000000", "'seed' is a number from 0 to 2147483647, not 5000000000"),
        ("count_weight=-0.1", "'count_weight' is a number from 0, not -0.1"),
        ("batch_size=2.5", "'batch_size' is 2.5, not a whole number"),
        ("epochs=true", "'epochs' is True, not a whole number"),
        ("schedule=cosin", "'schedule' is 'cosin'"),
        ("out=", "'out' is '': name a directory"),
        ("train=-", "'train' is '-': name a file"),
        ("model.character_width=10000001", "character_width is 10000001; it is 65536 at most"),
        ("model.model_size=7", "model_size is 7, which has no two halves"),
    ],
)
def test_what_is_wrong_is_named(assignment: str, message: str) -> None:
    with pytest.raises(SettingError) as error:
        load(assignment)
    assert message in str(error.value)


@pytest.mark.parametrize("name", [f.name for f in fields(TrainConfig) if f.type == "float"])
@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_numbers_are_finite(name: str, value: str) -> None:
    key = name.rstrip("_")
    with pytest.raises(SettingError, match=rf"^'{key}' is a number from .*, not {value}$"):
        load(f"{key}={value}")


def test_the_greatest_seed() -> None:
    """Processes count on from it."""
    set_seed(load("seed=2147483647").seed + 1000)


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (("lambda=0", "rule_scores=learned"), "which 'lambda' = 0 leaves out"),
        (("schedule=cosine", "epochs=0"), "a cosine 'schedule' ends with the last epoch"),
        (("schedule=constant", "epochs=0"), "nothing ends the run"),
        (("top_rate=0", "encoder_rate=0"), "nothing would be learned"),
        (("top_rate=0",), "'top_rate' is 0, and an encoder of 'characters' learns at no other"),
        (("model.window=10", "model.overlap=10"), "windows of 10 cannot overlap by 10"),
        (("model.label_attention=false", "model.label_heads=3"), "without label attention"),
    ],
)
def test_contradictions(assignments: tuple[str, ...], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        load(*assignments)


def test_a_pretrained_encoder_may_learn_alone() -> None:
    assert load("top_rate=0", preset="small").top_rate == 0


def test_a_file_is_named_in_what_is_said_of_it(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("lamda = 0.4\n")
    with pytest.raises(SettingError, match=r"config\.toml: unknown setting 'lamda'"):
        load_config(str(file), "tiny", PLACES)
    file.write_text("lambda = \n")
    with pytest.raises(SettingError, match=r"config\.toml: not TOML"):
        load_config(str(file), "tiny", PLACES)
    with pytest.raises(NotFound, match="no such file"):
        load_config(str(tmp_path / "none.toml"))
    with pytest.raises(SettingError, match=r"no preset 'smal'; .* did you mean 'small'"):
        load_config(preset="smal")
    with pytest.raises(SettingError, match="the setting 'dev' is missing: a file of trees"):
        load_config(preset="tiny", settings=PLACES[:1])
