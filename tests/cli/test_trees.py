"""`treewright trees` as people run it: draw, convert, count, and be told what is wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.cli import main
from treewright.trees import Tree, binarize, normalize, read_trees
from treewright.trees.symbols import SCHEMES, Scheme

FIRST = "(TOP (S (NP (DT The) (JJ big) (NN dog)) (VP (VBZ barks))))"
SECOND = "(TOP (NP (NP (NNS dogs)) (PP (IN of) (NP (NN war)))))"
DRAWN_FIRST = """\
          TOP
           │
           S
      ┌────┴─────┐
      NP         VP
 ┌────┼────┐     │
 DT   JJ   NN   VBZ
The  big  dog  barks
"""


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "dev.mrg"
    path.write_text(f"{FIRST}\n\n{SECOND}\n")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command that must succeed writes."""
    assert main(["trees", *map(str, arguments)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line that a command says of bad input."""
    assert main(["trees", *map(str, arguments)]) == 2
    line = capsys.readouterr().err
    assert line.startswith("treewright: ")
    assert line.count("\n") == 1
    return line.removeprefix("treewright: ").rstrip("\n")


def give(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


class TestShow:
    def test_one_tree(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "show", trees, "--number", "1", "--width", "80") == DRAWN_FIRST
        assert run(capsys, "show", trees, "--line", "1", "--width", "80") == DRAWN_FIRST

    def test_several_stand_under_their_places(
        self, trees: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        parts = run(capsys, "show", trees, "--width", "80").split("\n\n")
        assert len(parts) == 2
        assert parts[0] + "\n" == f"── {trees}:1\n{DRAWN_FIRST}"
        assert parts[1].startswith(f"── {trees}:3\n")

    def test_a_narrow_width_gives_an_indented_tree(
        self, trees: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = run(capsys, "show", trees, "--number", "2", "--width", "10")
        assert out.startswith("TOP\n└╴NP\n  ├╴NP\n")

    def test_brackets(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "show", trees, "--line", "3", "--indent", "1") == (
            "(TOP\n (NP\n  (NP (NNS dogs))\n  (PP\n   (IN of)\n   (NP (NN war)))))\n"
        )

    def test_ranges_and_files_one_after_the_other(
        self, trees: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        give(monkeypatch, b"(X (A b)) (X (A c)) (X (A d))")
        out = run(capsys, "show", trees, "-", "--number", "2-9", "--indent", "0")
        assert out.count("dogs") == 1
        assert out.endswith("(X (A c))\n(X (A d))\n")
        assert "The" not in out
        assert "(A b)" not in out

    def test_it_stops_reading_when_all_are_found(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "long.mrg"
        path.write_text("(X (A b))\n" * 20_000 + "(broken")
        assert run(capsys, "show", path, "--number", "2", "--indent", "0") == "(X (A b))\n"

    def test_colour_on_demand(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "show", trees, "--number", "1", "--color")
        assert "\x1b[32mDT\x1b[0m" in out
        assert "\x1b[36mNP\x1b[0m" in out
        assert "\x1b" not in run(capsys, "show", trees, "--number", "1", "--no-color")
        assert "\x1b" not in run(capsys, "show", trees, "--number", "1")

    def test_svg(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "show", trees, "--svg", "--line", "3")
        assert out == Tree.from_brackets(SECOND).svg()

    def test_one_svg_file_a_tree(
        self, trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "new" / "pictures"
        assert run(capsys, "show", trees, "--out", folder) == ""
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["dev-0001.svg", "dev-0002.svg"]
        title = ET.parse(folder / "dev-0002.svg").findtext("{http://www.w3.org/2000/svg}title")
        assert title == "dogs of war"

    def test_usage(self, trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for arguments, message in [
            ([trees, "--svg"], "--svg draws one tree"),
            ([trees, trees, "--out", tmp_path], "two files are named 'dev'"),
            ([trees, "--svg", "--indent", "2"], "--indent shows brackets"),
            ([trees, "--number", "0"], "neither a number from 1 on nor a range"),
            ([trees, "--line", "9-3"], "neither a number from 1 on nor a range"),
            ([trees, "--line", "x"], "neither a number from 1 on nor a range"),
            ([], "Missing argument 'FILE...'"),
        ]:
            assert main(["trees", "show", *map(str, arguments)]) == 2
            assert message in capsys.readouterr().err

    def test_what_is_not_there(
        self, trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        line = complaint(capsys, "show", trees, "--number", "3")
        assert line == f"{trees}: there is no tree number 3"
        line = complaint(capsys, "show", trees, "--line", "4-8", "--number", "1")
        assert line == f"{trees}: no tree begins on line 4-8"
        (tmp_path / "file").touch()
        line = complaint(capsys, "show", trees, "--out", tmp_path / "file")
        assert line == f"{tmp_path}/file: is no folder"
        line = complaint(capsys, "show", trees, "--out", "")
        assert line == "a folder to write to needs a name"


class TestConvert:
    def test_forms(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "convert", trees) == f"{FIRST}\n{SECOND}\n"
        assert run(capsys, "convert", trees, "--one-line") == f"{FIRST}\n{SECOND}\n"
        assert run(capsys, "convert", trees, "--words") == "The big dog barks\ndogs of war\n"
        assert run(capsys, "convert", trees, "--tags") == (
            "The/DT big/JJ dog/NN barks/VBZ\ndogs/NNS of/IN war/NN\n"
        )
        indented = run(capsys, "convert", trees, "--indent", "2")
        assert indented.startswith("(TOP\n  (S\n    (NP (DT The) (JJ big) (NN dog))\n")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--words", "--tags"], "--words and --tags are different forms"),
            (["--tags", "--one-line"], "--one-line and --tags are different forms"),
            (["--indent", "0", "--words"], "--words and --indent are different forms"),
        ],
    )
    def test_one_form_at_a_time(
        self, trees: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
    ) -> None:
        assert main(["trees", "convert", str(trees), *options]) == 2
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.out == ""

    def test_binarised(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "convert", trees, "--binarized", "$+left").splitlines()
        assert out[0] == (
            "(TOP (S (NP ($@ (@ (DT The)) (@ (JJ big))) (@ (NN dog))) (VP (VBZ barks))))"
        )
        assert main(["trees", "convert", str(trees), "--binarized", "right"]) == 2

    def test_normalised(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "ptb.mrg"
        path.write_text("( (S (NP-SBJ (-NONE- *)) (VP (VB Go))))\n( (NP (-NONE- *T*-1)))\n")
        assert main(["trees", "convert", str(path), "--normalized"]) == 0
        captured = capsys.readouterr()
        assert captured.out == "(TOP (S (VP (VB Go))))\n"
        assert captured.err == "trees left out, as they hold traces alone: 1\n"

    def test_to_a_file_even_the_one_it_reads(
        self, trees: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(capsys, "convert", trees, "--words", "--out", trees) == ""
        assert trees.read_text() == "The big dog barks\ndogs of war\n"

    def test_an_error_leaves_the_older_file(
        self, trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        broken, target = tmp_path / "broken.mrg", tmp_path / "out.mrg"
        broken.write_text(f"{FIRST}\n(S (NP")
        target.write_text("as it was")
        complaint(capsys, "convert", broken, "-o", target)
        assert target.read_text() == "as it was"
        assert sorted(tmp_path.iterdir()) == sorted([trees, broken, target])
        assert complaint(capsys, "convert", trees, "-o", tmp_path / "no" / "out").endswith(
            "No such file or directory"
        )
        line = complaint(capsys, "convert", trees, "-o", "")
        assert line == "a file to write needs a name"

    @given(st.lists(ROOTED_TREES, min_size=1, max_size=3), st.sampled_from(SCHEMES))
    def test_there_and_back(self, given_trees: list[Tree], scheme: Scheme) -> None:
        with tempfile.TemporaryDirectory() as folder:
            plain, binarised, again = (Path(folder, name) for name in "abc")
            plain.write_text("".join(f"{tree.brackets()}\n" for tree in given_trees))
            convert = ["trees", "convert"]
            assert main([*convert, str(plain), "--binarized", scheme, "-o", str(binarised)]) == 0
            assert list(read_trees(binarised)) == [binarize(tree, scheme) for tree in given_trees]
            assert main([*convert, str(binarised), "--unbinarized", "-o", str(again)]) == 0
            assert list(read_trees(again)) == given_trees

    @given(st.lists(ROOTED_TREES, min_size=1, max_size=3))
    def test_normalising_is_done_once_and_for_all(self, given_trees: list[Tree]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            plain, normalised, again = (Path(folder, name) for name in "abc")
            plain.write_text("".join(f"{tree.brackets()}\n" for tree in given_trees))
            for source, target in ((plain, normalised), (normalised, again)):
                arguments = ["convert", str(source), "--normalized", "-o", str(target)]
                assert main(["trees", *arguments]) == 0
            assert list(read_trees(normalised)) == list(map(normalize, given_trees))
            words = [tree.words() for tree in given_trees]
            assert [tree.words() for tree in read_trees(again)] == words

    def test_a_mark_at_the_root(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "marks.mrg"
        path.write_text("(TOP (X (A b)))\n(TOP ($ (@ (A b)) (@ (C d))))\n")
        line = complaint(capsys, "convert", path, "--unbinarized", "-o", tmp_path / "out")
        assert line == f"{path}:2: '$', a mark of binarisation, stands at the root"


class TestStats:
    def test_json(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        trees.write_text(f"{FIRST}\n{SECOND}\n(S (VP (VB dogs)))")
        assert json.loads(run(capsys, "stats", trees, "--json")) == {
            "trees": 3,
            "words": 8,
            "distinct_words": 7,
            "constituents": 9,
            "length": {"mean": 2.67, "median": 3, "most": 4, "trees": {"1": 1, "3": 1, "4": 1}},
            "depth": {"mean": 3.33, "median": 3, "most": 4, "trees": {"3": 2, "4": 1}},
            "labels": {"NP": 4, "S": 2, "VP": 2, "PP": 1},
            "tags": {"NN": 2, "DT": 1, "IN": 1, "JJ": 1, "NNS": 1, "VB": 1, "VBZ": 1},
            "unary_chains": {"S::VP": 1},
            "children": {"1": 5, "2": 3, "3": 1},
        }

    def test_report(self, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "stats", trees, trees, "--top", "2")
        assert out == (
            "trees                      4\n"
            "words                     14\n"
            "distinct words             7\n"
            "constituents              14\n"
            "length                   3.5 on average, 3 in the middle, 4 at most\n"
            "depth                    3.5 on average, 3 in the middle, 4 at most\n"
            "\n"
            "words a tree\n"
            f"1-10                       4  100.00 %  {'█' * 24}\n"
            "\n"
            "constituent\n"
            f"NP                         8   57.14 %  {'█' * 24}\n"
            f"PP                         2   14.29 %  {'█' * 6}\n"
            "and 2 more\n"
            "\n"
            "tag\n"
            f"NN                         4   28.57 %  {'█' * 24}\n"
            f"DT                         2   14.29 %  {'█' * 12}\n"
            "and 4 more\n"
            "\n"
            "children\n"
            f"1                          6   42.86 %  {'█' * 24}\n"
            f"2                          6   42.86 %  {'█' * 24}\n"
            "and 1 more\n"
        )

    def test_words_alone(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        give(monkeypatch, "(NN 狗)\n".encode() + b"(NN x)\n" * 99)
        out = run(capsys, "stats", "-")
        assert "constituents               0\n" in out
        assert "children" not in out


def test_stdin_and_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, expected in [
        (["show", "-", "--width", "80"], DRAWN_FIRST),
        (["convert", "-", "--words", "-o", "-"], "The big dog barks\n"),
        (["stats", "-", "--top", "1"], "trees                      1\n"),
    ]:
        give(monkeypatch, FIRST.encode())
        assert run(capsys, *arguments).startswith(expected)


@pytest.mark.parametrize("name", ["show", "convert", "stats"])
class TestBadInput:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"(S (NN a))\n (S (NP (NN b))", "{path}:2:2: '(S' is never closed"),
            (b"(S (NN a)))\n", "{path}:1:11: ')' closes nothing"),
            (b"(S (NP))\n", "{path}:1:7: '(NP)' holds no word"),
            (b"(S (NN a))\n(S ((NN b) (NN c)))", "{path}:2:4: a constituent without a label"),
            (b"(S (NN a b))", "{path}:1:10: the word 'b' in '(NN' has no tag of its own"),
            (b"(S (NN a))\n(NN caf\xe9)", "{path}:2:8: byte e9 is not UTF-8"),
            (b"(S (NN a))\n\0", "{path}:2: holds a NUL byte"),
            (b"", "{path}: holds no tree"),
            (b" \n\n", "{path}: holds no tree"),
        ],
    )
    def test_files(
        self,
        name: str,
        data: bytes,
        message: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        path = tmp_path / "bad.mrg"
        path.write_bytes(data)
        assert complaint(capsys, name, path).startswith(message.format(path=path))

    def test_nothing_to_read(
        self,
        name: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        give(monkeypatch, b"")
        assert complaint(capsys, name, "-") == "standard input: holds no tree"
        missing = tmp_path / "missing"
        assert complaint(capsys, name, missing) == f"{missing}: no such file"
        assert complaint(capsys, name, tmp_path) == f"{tmp_path}: is a directory, not a file"

    def test_help_has_an_example(self, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, name, "--help")
        assert "Examples:\n" in out
        assert f"\n      treewright trees {name} " in out


def test_a_pipe_that_closes_early_ends_it_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "long.mrg"
    path.write_text(f"{FIRST}\n" * 50_000)
    command = [sys.executable, "-m", "treewright", "trees", "convert", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{FIRST}\n".encode()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode != 0


def test_deep_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    depth = 50_000
    path = tmp_path / "deep.mrg"
    path.write_text("(NP (JJ big) " * depth + "(NN dog)" + ")" * depth)
    assert run(capsys, "show", path).count("big") == depth
    assert run(capsys, "show", path, "--svg").count(">big<") == depth
    assert run(capsys, "convert", path, "--binarized", "$").count("@") == depth + 1
    assert json.loads(run(capsys, "stats", path, "--json"))["depth"]["most"] == depth + 1
