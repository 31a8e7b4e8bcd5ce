"""`treewright eval` as a shell sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treewright.cli import main
from treewright.evaluation import evaluate

GOLD = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n"
FLAT = "(TOP (S (DT the) (NN dog) (VP (VBZ barks)) (. .)))\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    gold, predicted = tmp_path / "gold.mrg", tmp_path / "predicted.mrg"
    gold.write_text(GOLD * 3, encoding="utf-8")
    predicted.write_text(GOLD + FLAT + GOLD.replace("dog", "cat"), encoding="utf-8")
    return str(gold), str(predicted)


Captured = pytest.CaptureFixture[str]


def test_prints_what_evalb_prints(files: tuple[str, str], capsys: Captured) -> None:
    assert main(["eval", *files]) == 0
    out, err = capsys.readouterr()
    assert out == evaluate(*files).text()
    assert err == "3 : Words unmatch (dog|cat)\n"


def test_standard_input(
    files: tuple[str, str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(files[1], "rb") as handle:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": handle}))
        assert main(["eval", files[0], "-"]) == 0
    assert capsys.readouterr().out == evaluate(*files).text()


def test_json(files: tuple[str, str], capsys: Captured) -> None:
    assert main(["eval", *files, "--json", "--worst", "1"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["summary"]["errors"] == 1
    assert figures["summary"]["recall"] == pytest.approx(100 * 5 / 6)
    assert figures["short"]["cutoff"] == 40
    assert [sentence["status"] for sentence in figures["sentences"]] == ["scored"] * 2 + ["error"]
    assert [label["label"] for label in figures["labels"]] == ["S", "VP", "NP"]
    assert figures["worst"] == [{"sentence": 2, "f1": 80.0, "missing": [[0, 2, "NP"]], "extra": []}]


def test_tables(files: tuple[str, str], capsys: Captured) -> None:
    assert main(["eval", *files, "--by", "label"]) == 0
    assert capsys.readouterr().out == (
        "sentences: 2 scored, 1 refused, 0 skipped\n"
        "recall 83.33, precision 100.00, F1 90.91, complete match 50.00\n\n"
        "label    gold predicted matched  recall precision     F1\n"
        "S           2         2       2  100.00    100.00 100.00\n"
        "VP          2         2       2  100.00    100.00 100.00\n"
        "NP          2         1       1   50.00    100.00  66.67\n"
    )
    assert main(["eval", *files, "--by", "length", "--prm", "new"]) == 0
    assert capsys.readouterr().out.endswith(
        "\n   length sentences  recall precision     F1\n"
        "   1-10           2   83.33    100.00  90.91\n"
    )


def test_equal_labels_are_one_row(capsys: Captured, tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.mrg", tmp_path / "predicted.mrg"
    gold.write_text("(S (PRT (RP up)) (PRT (RP on)))\n", encoding="utf-8")
    predicted.write_text("(S (ADVP (RP up)) (NP (RP on)))\n", encoding="utf-8")
    assert main(["eval", str(gold), str(predicted), "--prm", "COLLINS.prm", "--by", "label"]) == 0
    assert capsys.readouterr().out.endswith(
        "label       gold predicted matched  recall precision     F1\n"
        "ADVP=PRT       2         1       1   50.00    100.00  66.67\n"
        "S              1         1       1  100.00    100.00 100.00\n"
        "NP             0         1       0    0.00      0.00   0.00\n"
    )


def test_the_worst(
    files: tuple[str, str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["eval", *files, "--worst", "5"]) == 0
    out = capsys.readouterr().out
    assert "\n#2  F1 80.00  recall 66.67  precision 100.00  missing 1  extra 0" in out
    assert "\n-     NP  the dog                      |" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "#1" not in out  # nothing is wrong with it


@pytest.mark.parametrize(
    ("options", "rows"), [([], 3 + 3), (["--json"], 0), (["--by", "label"], 0), (["--worst=1"], 0)]
)
def test_too_many_errors(
    files: tuple[str, str], capsys: Captured, tmp_path: Path, options: list[str], rows: int
) -> None:
    strict = tmp_path / "strict.prm"
    strict.write_text("MAX_ERROR 0\n", encoding="utf-8")
    with open(files[0], "a", encoding="utf-8") as gold, open(files[1], "a", encoding="utf-8") as p:
        gold.write(GOLD * 2)
        p.write(GOLD.replace("dog", "cat") + GOLD)
    assert main(["eval", *files, "--prm", str(strict), *options]) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == rows
    assert err.splitlines() == [
        "3 : Words unmatch (dog|cat)",
        "treewright: sentence 4: Words unmatch (dog|cat); this is error 2 and MAX_ERROR is 0",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["GOLD", "none.mrg"], "treewright: none.mrg: no such file\n"),
        (["GOLD", "."], "treewright: .: is a directory, not a file\n"),
        (
            ["GOLD", "SHORT"],
            "gold.mrg:2: gold trees: 3, predicted trees: 1; they must be as many\n",
        ),
        (["GOLD", "OPEN"], "open.mrg:2:1: '(S' is not closed on its line"),
        (["GOLD", "GOLD", "--prm", "GOLD"], "gold.mrg:1: EVALB has no parameter '(TOP'\n"),
        (["GOLD", "GOLD", "--prm", ""], "needs a name; built in are collins, new, nk\n"),
        (["-", "-"], "only one of GOLD and PREDICTED can be standard input"),
        (["GOLD", "GOLD", "--json", "--by", "label"], "it does not go with --by"),
    ],
)
def test_bad_input(
    files: tuple[str, str], tmp_path: Path, capsys: Captured, arguments: list[str], message: str
) -> None:
    (tmp_path / "short.mrg").write_text(GOLD, encoding="utf-8")
    (tmp_path / "open.mrg").write_text(GOLD + "(S (NN a)\n" + GOLD, encoding="utf-8")
    names = {name: str(tmp_path / f"{name.lower()}.mrg") for name in ("GOLD", "SHORT", "OPEN")}
    assert main(["eval", *(names.get(argument, argument) for argument in arguments)]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""
    assert "Traceback" not in err
