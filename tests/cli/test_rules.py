"""`treewright rules` as a linguist runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treewright.cli import main

TREES = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))))\n(TOP (S (NP (NN x)) (VP (VBZ y))))\n"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "train.mrg"
    path.write_text(TREES)
    return path


@pytest.fixture
def grammar(trees: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = trees.with_name("grammar.json")
    assert main(["rules", "extract", str(trees), "-o", str(path)]) == 0
    assert capsys.readouterr().err == (
        "scheme $: 4 labels, 2 rules, 2 child pairs, 3 labels over one word, 1 at the root\n"
    )
    return path


def test_extract_writes_to_standard_output(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "extract", str(trees), "--scheme", "$+left", "--min-count", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["scheme"], document["rules"]) == ("$+left", {"S": {"NP VP": 2}})


def test_show(grammar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "show", str(grammar), "--label", "NP"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "NP: 1 times over one word, 0 times at the root",
        "    count    share  rule",
        "        1  100.00%  NP -> @ @",
    ]
    assert main(["rules", "show", str(grammar), "--limit", "1"]) == 0
    assert capsys.readouterr().out.endswith("S -> NP VP\nand 1 more\n")
    assert main(["rules", "show", str(grammar), "--label", "XP"]) == 2
    assert "no label 'XP'" in capsys.readouterr().err


def test_check_names_file_line_and_words(
    grammar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "dev.mrg"
    other.write_text(TREES + "\n(TOP (S (VP (VBZ runs)) (NP (NN x))))\n")
    assert main(["rules", "check", str(grammar), str(other)]) == 1
    captured = capsys.readouterr()
    assert captured.out == f"{other}:4: (0, 2) no rule S -> VP NP\n"
    assert captured.err == "trees 3, with violations 1; violations 1\n"
    assert main(["rules", "check", str(grammar), str(tmp_path / "train.mrg")]) == 0


def test_coverage_table_json_and_plot(
    grammar: Path, trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs the extra `plot`")
    picture = tmp_path / "coverage.svg"
    odd = tmp_path / "a name with an odd formula $_$.mrg"
    odd.write_text(TREES)
    arguments = ["rules", "coverage", str(grammar), str(trees)]
    assert main([*arguments, str(odd), "--plot", str(picture)]) == 0
    assert "<svg" in picture.read_text()
    capsys.readouterr()
    assert main([*arguments, "--plot", str(picture)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == [
        *("train", "2", "100.0%", "3", "100.00%", "2", "100.0%")
    ]
    assert "<svg" in picture.read_text()
    assert main([*arguments, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["trees"], row["by_type"]) == (str(trees), 100)
    capsys.readouterr()
    assert main([*arguments, "--plot", str(tmp_path / "coverage.what")]) == 2
    assert capsys.readouterr().out == ""  # said before the work is done
    assert main([*arguments, "--plot", str(tmp_path / "no" / "coverage.svg")]) == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.mrg", b"", "holds no tree"),
        ("open.mrg", b"(S (A a)\n", "open.mrg:1:1: '(S' is never closed"),
        ("latin.mrg", "(NN caf\u00e9)".encode("latin-1"), "is not UTF-8"),
        ("binary.mrg", b"\x7fELF\0\0", "binary file"),
    ],
)
def test_bad_trees_are_one_line_and_exit_code_2(
    name: str, content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    target = tmp_path / "grammar.json"
    assert main(["rules", "extract", str(path), "-o", str(target)]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not target.exists()


def test_a_folder_that_does_not_exist(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "extract", str(trees), "-o", str(trees / "x" / "g.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_files_of_one_name_keep_their_rows(
    grammar: Path, trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("gum", "craft"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.mrg").write_text(TREES)
    others = [str(tmp_path / "gum" / "test.mrg"), str(tmp_path / "craft" / "test.mrg")]
    assert main(["rules", "coverage", str(grammar), *others, others[0]]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["gum/test", "craft/test", "gum/test"]


def test_standard_input_serves_once(grammar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "check", "-", "-"]) == 2
    assert "only one" in capsys.readouterr().err


def test_a_label_may_hold_a_space_that_is_not_ascii(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = tmp_path / "nbsp.mrg", tmp_path / "g.json"
    path.write_text("(S (N\u00a0P (NN a)) (VP (VB b)))", encoding="utf-8")
    assert main(["rules", "extract", str(path), "-o", str(target)]) == 0
    assert main(["rules", "check", str(target), str(path)]) == 0
