"""Settings of the network: presets, files, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from treewright.errors import SettingError
from treewright.model.config import PRESETS, ModelConfig, preset


@pytest.mark.parametrize("name", PRESETS)
def test_presets_go_through_a_file(name: str, tmp_path: Path) -> None:
    PRESETS[name].save(tmp_path / "model.toml")
    assert ModelConfig.load(tmp_path / "model.toml") == PRESETS[name]


def test_published_settings() -> None:
    paper = PRESETS["paper-en"]
    assert (paper.encoder, paper.layers, paper.scorer_size) == ("bert-large-uncased", 12, 250)
    assert {paper.key_size, paper.label_key_size, paper.label_output_size} == {128}
    assert (paper.model_size, paper.feed_forward_size, paper.dropout) == (1024, 2048, 0.2)
    assert PRESETS["paper-zh"].encoder == "bert-base-chinese"


def test_preset_with_changes() -> None:
    assert preset("small", layers=3).layers == 3
    with pytest.raises(SettingError, match=r"no preset 'smal'.*did you mean 'small'"):
        preset("smal")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layer = 2", "unknown setting 'layer'; did you mean 'layers'?"),
        ("layers = 'two'", "'layers' is 'two', not a whole number"),
        ("layers = true", "'layers' is True, not a whole number"),
        ("layers = -1", "layers is -1; it is 0 or more"),
        ("heads = 0", "heads is 0; it is 1 or more"),
        ("key_size = 7", "key_size is 7, which has no two halves"),
        ("subwords = 'middle'", "'subwords' is 'middle', not one of 'first', 'last', 'mean'"),
        ("dropout = 1", "dropout is 1.0; it is from 0 to below 1"),
        ("heads = 65537", "heads is 65537; it is 65536 at most"),
        ("encoder = ''", "encoder is empty"),
        ("window = 8\noverlap = 8", "windows of 8 cannot overlap by 8"),
        ("character_width = 4", "character_width is 4; it is odd"),
        ("layer_mix = true", "layer_mix is for pretrained encoders"),
        ("label_attention = false\nlabel_heads = 3", "label_heads is 3 without label attention"),
        ("layers = ", "not TOML"),
    ],
)
def test_refusals_name_file_and_setting(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "model.toml").write_text(text)
    with pytest.raises(SettingError) as error:
        ModelConfig.load(tmp_path / "model.toml")
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "model.toml"))
