"""The benchmark of decoders runs from end to end, if on short sentences only."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")


def test_quick(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import bench_decode
    from decode_methods import WAYS

    out, plot = tmp_path / "figures.json", tmp_path / "plot.svg"
    options = ["--quick", "--json", str(out), "--plot", str(plot)]
    monkeypatch.setattr(sys, "argv", ["bench_decode.py", *options])
    threads = torch.get_num_threads()
    try:
        bench_decode.main()
    finally:
        torch.set_num_threads(threads)

    figures = json.loads(out.read_text())
    seconds = {
        (t["way"], t["n"], t["threads"]): t["seconds"] for t in figures["seconds_a_sentence"]
    }
    assert all(value > 0 for value in seconds.values())
    for way in WAYS:
        assert way.needs == "torch_struct" or (way.name, 5, 1) in seconds
    assert figures["corpus_seconds_a_sentence"].keys() == {"1", "2"}
    assert figures["as_trained"].keys() == {"5", "10", "corpus"}
    assert "native dense" in capsys.readouterr().out
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")


def test_names_in_the_plot_keep_apart() -> None:
    from decode_plot import apart

    assert apart([1.0, 100.0], 1e4) == [1.0, 100.0]
    low, high, middle = apart([1.0, 1.02, 1.01], 1e4)
    assert low == 1.0
    assert high / middle == pytest.approx(middle / low)
    assert middle / low > 1.1
