"""`treewright parse` as people run it: what it reads, what it writes, and how it goes on."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from parser.scorers import HashScorer, description
from treewright.cli import main
from treewright.cli import parse as parse_module
from treewright.parser import Parser
from treewright.trees import Tree, read_trees

TEXT = "The old dog sees me. I run to the dog (home)!\n\nDogs of war?\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose weights are the hashes of words."""
    folder = tmp_path / "model"
    folder.mkdir()
    description().save(folder, "checkpoint")
    return folder


@pytest.fixture
def nlp() -> Parser:
    return Parser(HashScorer())


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch, model: Path, nlp: Parser) -> None:
    monkeypatch.setattr(parse_module, "load", lambda name, **options: nlp)


Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, model: Path) -> Run:
    """What a command that must succeed writes; `text` is its standard input."""

    def run(*arguments: object, text: str | bytes | None = None) -> str:
        if text is not None:
            data = text.encode() if isinstance(text, str) else text
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["parse", "--model", str(model), *map(str, arguments)]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return run


@pytest.fixture
def complaint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, model: Path
) -> Run:
    """The last line that a command says of what is wrong."""

    def complaint(*arguments: object, text: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert main(["parse", "--model", str(model), *map(str, arguments)]) == 2
        return capsys.readouterr().err.rstrip("\n").split("\n")[-1]

    return complaint


def words_of(output: str) -> list[str]:
    return [" ".join(Tree.from_brackets(line).words()) for line in output.splitlines() if line]


class TestInput:
    def test_raw_text_is_split_into_sentences(self, run: Run, nlp: Parser) -> None:
        expected = "".join(sentence.brackets() + "\n" for sentence in nlp(TEXT))
        assert run(text=TEXT) == expected
        assert run("-", text=TEXT) == expected

    def test_a_file_is_a_text_of_its_own(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("The dog")
        (tmp_path / "b.txt").write_text("sees me.")
        found = words_of(run(tmp_path / "a.txt", tmp_path / "b.txt"))
        assert found == ["The dog", "sees me ."]

    def test_a_raw_sentence_a_line_and_blank_lines_stay(self, run: Run, nlp: Parser) -> None:
        text = "\nOne. Two.\n\n \t\n  a dog \r\n\r\n"
        lines = run("--sentences", text=text).split("\n")
        assert [bool(line) for line in lines] == [False, True, False, False, True, False, False]
        assert words_of("\n".join(lines)) == ["One . Two .", "a dog"]
        assert run("--sentences", text="\n\n") == "\n\n"
        assert run("--sentences", text="") == ""

    def test_words_a_line(self, run: Run, nlp: Parser) -> None:
        text = "The dog 's  home .\n\nand/or\na\u00a0b c\n"
        assert words_of(run("--words", text=text)) == ["The dog 's home .", "and/or", "a\u00a0b c"]
        assert run("--words", text=text).split("\n")[1] == ""

    def test_words_with_tags(self, run: Run) -> None:
        out = run("--words", text="The/DT 1/2/CD dogs/NNS ././.\n\nGo/VB !/.\n")
        trees = [Tree.from_brackets(line) for line in out.split("\n") if line]
        assert [tree.words() for tree in trees] == [("The", "1/2", "dogs", "./."), ("Go", "!")]
        assert [tree.tags() for tree in trees] == [("DT", "CD", "NNS", "."), ("VB", ".")]
        assert out.split("\n")[1] == ""

    def test_columns(self, run: Run) -> None:
        text = "\n\nThe\tDT\na b\tNN\n\n\n\nGo\tVB\r\n!\t.\r\n"
        out = run("--words", text=text)
        trees = [Tree.from_brackets(line) for line in out.splitlines()]
        assert [tree.words() for tree in trees] == [("The", "a_b"), ("Go", "!")]
        assert [tree.tags() for tree in trees] == [("DT", "NN"), ("VB", ".")]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("and/or", ["and/or"]),
            ("1/2", ["1/2"]),
            ("The/DT dog", ["The/DT", "dog"]),
            ("http://x.org/A", ["http://x.org/A"]),
            ("The\tdog\tbarks", ["The", "dog", "barks"]),
        ],
    )
    def test_the_first_line_tells_whether_there_are_tags(
        self, run: Run, line: str, words: list[str]
    ) -> None:
        expected = words if line != "http://x.org/A" else ["http://x.org"]
        assert words_of(run("--words", text=line)) == [" ".join(expected)]
        found = words_of(run("--words", "--tags", "none", text=line))
        assert found == [" ".join(words)]

    def test_whoever_knows_says_so(self, run: Run) -> None:
        out = run("--words", "--tags", "slash", text="dog/nn\n")
        assert Tree.from_brackets(out).tags() == ("nn",)
        out = run("--words", "--tags", "columns", text="dog\tnn\n")
        assert Tree.from_brackets(out).tags() == ("nn",)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (b"The/DT dog/NN\nA/DT dog\n", "standard input:2: 'dog' is not word/TAG"),
            (b"a\tDT\nb\tNN\n\nc\n", "standard input:4: 'c' is not a word and a tag"),
            (b"a\tDT\tx\n", ""),
        ],
    )
    def test_a_line_that_is_not_like_the_first(
        self, complaint: Run, run: Run, text: bytes, message: str
    ) -> None:
        if message:
            assert message in complaint("--words", text=text)
        else:
            assert words_of(run("--words", text=text)) == ["a DT x"]

    def test_windows_lines_and_a_byte_order_mark(self, run: Run) -> None:
        unix = run("--sentences", text="A dog.\n\nB.\n")
        assert run("--sentences", text=b"\xef\xbb\xbfA dog.\r\n\r\nB.\r\n") == unix
        found = json.loads(run("--format", "json", text=b"\xef\xbb\xbfDogs bark.\r\n"))
        assert found["offsets"][0] == [0, 4]

    def test_nul_and_control_characters_are_text(self, run: Run) -> None:
        for form in ([], ["--sentences"], ["--words"]):
            out = run(*form, text=b"a\0b \x01 c\x7f.\n")
            assert out.count("\n") == 1
            assert len(Tree.from_brackets(out).words()) >= 3
            assert "\0" not in out

    @pytest.mark.parametrize("form", [[], ["--sentences"], ["--words"]])
    def test_latin_1_is_named_by_its_line(self, complaint: Run, form: list[str]) -> None:
        line = complaint(*form, text=b"One.\nTwo.\ncaf\xe9.\n")
        assert line.startswith("treewright: standard input:3:4: byte e9 is not UTF-8")

    def test_files_are_looked_for_before_any_work(self, complaint: Run, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("One.")
        line = complaint(tmp_path / "a.txt", tmp_path / "b.txt")
        assert line == f"treewright: {tmp_path}/b.txt: no such file"
        line = complaint("The dog barks.")
        assert line == (
            "treewright: The dog barks.: no such file; "
            "to parse a text, pipe it in: echo TEXT | treewright parse"
        )

    def test_a_model_without_a_language_wants_words(
        self, complaint: Run, run: Run, nlp: Parser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = Parser(HashScorer(description(language="")))
        monkeypatch.setattr(parse_module, "load", lambda name, **options: own)
        assert "give words" in complaint(text=b"A dog.")
        assert words_of(run("--words", text="A dog .")) == ["A dog ."]

    def test_a_text_that_is_too_long_is_named(self, complaint: Run) -> None:
        line = complaint("--words", text=b"a\n" + b"b " * 20_000)
        assert line.startswith("treewright: standard input:2: has 20,000 words")


class TestFormats:
    def test_json_is_documented(self, run: Run, tmp_path: Path, nlp: Parser) -> None:
        path = tmp_path / "a.txt"
        path.write_text(TEXT)
        out = run(path, "--format", "json", "--confidence")
        objects = [json.loads(line) for line in out.splitlines()]
        document = nlp(TEXT, confidence=True)
        for found, sentence in zip(objects, document, strict=True):
            assert found == {"file": str(path), **sentence.to_dict()}
            assert [TEXT[i:j] for i, j in found["offsets"]] == found["words"]
            assert all("confidence" in one for one in found["constituents"])
        plain = run(path, "--format", "json")
        assert "confidence" not in plain

    def test_conll(self, run: Run, nlp: Parser) -> None:
        out = run("--format", "conll", text=TEXT)
        assert out == "".join(sentence.conll() + "\n\n" for sentence in nlp(TEXT))
        assert run("--sentences", "--format", "conll", text="\nA\n").startswith("\n1\tA\t")

    def test_pretty(self, run: Run, nlp: Parser) -> None:
        out = run("--format", "pretty", text=TEXT)
        assert out == "\n".join(sentence.pretty() + "\n" for sentence in nlp(TEXT))
        sure = run("--format", "pretty", "--confidence", text=TEXT)
        assert " %" in sure
        broken = run("--format", "pretty", "--rules", "off", text=TEXT)
        violations = [one for s in nlp(TEXT, rules="off") for one in s.violations]
        assert violations
        for one in violations:
            assert f"not in the grammar: {one}\n" in broken

    def test_svg(self, run: Run, complaint: Run, tmp_path: Path) -> None:
        picture = run("--format", "svg", text="The dog barks.")
        assert ET.fromstring(picture).tag.endswith("svg")
        assert run("--format", "svg", "-o", tmp_path / "one.svg", text="The dog barks.") == ""
        assert (tmp_path / "one.svg").read_text() == picture
        assert "give a folder with --out" in complaint("--format", "svg", text=TEXT.encode())
        assert "no sentence to draw" in complaint("--format", "svg", text=b"")
        (tmp_path / "book.txt").write_text(TEXT)
        assert run(tmp_path / "book.txt", "--format", "svg", "-o", tmp_path / "pictures") == ""
        names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
        assert names == ["book-0001.svg", "book-0002.svg", "book-0003.svg"]
        sure = run("--format", "svg", "--confidence", text="The dog barks.")
        assert " %</text>" in sure

    def test_brackets_are_escaped_or_not(self, run: Run) -> None:
        assert "-LRB-)" in run(text="(home)")
        assert " ()" in run("--no-escape", text="(home)")

    def test_the_k_best_are_blocks(self, run: Run, nlp: Parser) -> None:
        text = "The old dog sees me. Dogs of war?"
        blocks = [
            "".join(f"{tree.brackets()}\n" for tree in sentence.trees)
            for sentence in nlp(text, k=3)
        ]
        assert run("--k", "3", text=text) == "".join(block + "\n" for block in blocks)
        drawn = run("--k", "3", "--format", "pretty", text=text)
        assert [drawn.count(f"── {number}: score") for number in (1, 2, 3, 4)] == [2, 2, 2, 0]
        found = run("--sentences", "--k", "2", text="a dog\n\nb\n")
        assert "".join("x-"[not line] for line in found.split("\n")) == "xx--xx--"

    def test_rules_reach_the_decoder(self, run: Run, nlp: Parser) -> None:
        for arguments, options in [
            (["--rules", "off"], {"rules": "off"}),
            (["--rules", "soft"], {"rules": "soft"}),
            (["--rules", "soft", "--penalty", "0.25"], {"rules": "soft", "penalty": 0.25}),
        ]:
            expected = "".join(f"{s.brackets()}\n" for s in nlp(TEXT, **options))  # type: ignore[arg-type]
            assert run(*arguments, text=TEXT) == expected

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--words", "--sentences"], "choose one"),
            (["--tags", "none"], "--tags goes with --words"),
            (["--penalty", "1"], "--penalty goes with --rules soft"),
            (["--rules", "soft", "--penalty", "-1"], "from 0 to infinity"),
            (["--confidence"], "--confidence goes with"),
            (["--confidence", "--format", "conll"], "--confidence goes with"),
            (["--no-escape", "--format", "json"], "--no-escape goes with --format brackets"),
            (["--k", "2", "--format", "svg"], "--k does not go with svg"),
            (["--resume"], "--resume goes on with a file"),
            (["--resume", "-o", "x", "--format", "svg"], "--resume goes on with a file"),
            (["--resume", "-o", "/dev/null"], "--resume goes on with a file"),
            (["--k", "0"], "0 is not in the range"),
        ],
    )
    def test_usage(self, complaint: Run, arguments: list[str], message: str) -> None:
        assert message in complaint(*arguments)


class TestOut:
    def test_a_file_appears_when_it_is_whole(self, run: Run, tmp_path: Path, nlp: Parser) -> None:
        out = tmp_path / "out.mrg"
        out.write_text("old")
        out.chmod(0o640)
        assert run("-o", out, text=TEXT) == ""
        assert [tree.words() for tree in read_trees(out)][2] == ("Dogs", "of", "war", "?")
        assert out.stat().st_mode & 0o777 == 0o640
        assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out.mrg"]

    def test_what_is_no_file_is_written_to(self, run: Run) -> None:
        assert run("-o", "/dev/null", text=TEXT) == ""

    def test_nothing_is_left_of_a_run_that_did_nothing(
        self, complaint: Run, tmp_path: Path
    ) -> None:
        complaint("-o", tmp_path / "out.mrg", text=b"\xff")
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    @pytest.mark.parametrize(
        ("out", "message"),
        [
            ("", "a file to write needs a name"),
            ("no/such/folder/out", "/no/such/folder/out: No such file or directory"),
            (".", ".: is a directory, not a file"),
        ],
    )
    def test_what_cannot_be_written(self, complaint: Run, out: str, message: str) -> None:
        line = complaint("-o", out, text=b"A dog.")
        assert line.startswith("treewright: ")
        assert line.endswith(message)


LONG = "".join(f"Dog {number} sees me, and I see it.\n" for number in range(2500))
"""Three batches and a bit: 25,000 words."""


class Failing(HashScorer):
    """Fails at its third batch."""

    def score(self, sentences):  # type: ignore[no-untyped-def]
        if len(self.batches) == 2:
            raise KeyboardInterrupt
        return super().score(sentences)


class TestResume:
    """What a run leaves when it is broken off, and what a later run makes of it."""

    @pytest.fixture
    def book(self, tmp_path: Path) -> Path:
        path = tmp_path / "book.txt"
        path.write_text(LONG)
        return path

    @pytest.fixture
    def broken(
        self,
        book: Path,
        model: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> Path:
        """The output of a run that was interrupted after two batches."""
        with monkeypatch.context() as patch:
            patch.setattr(parse_module, "load", lambda name, **options: Parser(Failing()))
            out = tmp_path / "out"
            code = main(["parse", "-m", str(model), str(book), "--sentences", "-o", str(out)])
        assert code == 130
        lines = capsys.readouterr().err.splitlines()
        part = tmp_path / "out.part"
        assert lines == [
            f"treewright: 1,600 sentences are in {part}: the same command goes on with --resume",
            "treewright: interrupted",
        ]
        assert part.read_text().count("\n") == 1600
        assert not out.exists()
        return out

    def test_it_goes_on_as_if_nothing_had_happened(
        self, run: Run, nlp: Parser, book: Path, broken: Path
    ) -> None:
        whole = run(book, "--sentences")
        del nlp.scorer.batches[:]  # type: ignore[attr-defined]
        run(book, "--sentences", "-o", broken, "--resume")
        assert broken.read_text() == whole
        assert sum(nlp.scorer.batches) == 900  # type: ignore[attr-defined]
        names = sorted(path.name for path in broken.parent.iterdir())
        assert names == ["book.txt", "model", "out"]

    def test_standard_input_will_do(self, run: Run, book: Path, broken: Path) -> None:
        run("--sentences", "-o", broken, "--resume", text=LONG)
        assert broken.read_text() == run("--sentences", text=LONG)

    def test_without_a_part_it_begins(self, run: Run, tmp_path: Path) -> None:
        run("-o", tmp_path / "new", "--resume", text=TEXT)
        assert (tmp_path / "new").read_text() == run(text=TEXT)

    def test_what_was_not_counted_is_cut_off(self, run: Run, book: Path, broken: Path) -> None:
        with open(f"{broken}.part", "a") as part:
            part.write("(TOP (S (NP half a tr")
        run(book, "--sentences", "-o", broken, "--resume")
        assert broken.read_text() == run(book, "--sentences")

    def test_a_new_run_does_not_overwrite_it(
        self, complaint: Run, book: Path, broken: Path
    ) -> None:
        line = complaint(book, "--sentences", "-o", broken)
        assert line == (
            f"treewright: {broken}.part: is of a run that was broken off: "
            "--resume goes on with it, or remove it"
        )

    @pytest.mark.parametrize(
        ("arguments", "name"),
        [
            (["--format", "json"], "format"),
            (["--rules", "off"], "rules"),
            (["--rules", "soft", "--penalty", "3"], "rules"),
            (["--k", "2"], "k"),
            (["--no-escape"], "escape"),
        ],
    )
    def test_options_must_be_the_same(
        self, complaint: Run, book: Path, broken: Path, arguments: list[str], name: str
    ) -> None:
        line = complaint(book, "--sentences", *arguments, "-o", broken, "--resume")
        assert f"was made with another {name} (" in line
        assert Path(f"{broken}.part").exists()

    def test_so_must_the_kind_of_input_and_the_model(
        self, complaint: Run, book: Path, broken: Path, model: Path
    ) -> None:
        assert "another input" in complaint(book, "-o", broken, "--resume")
        description(penalty=7.0).save(model, "checkpoint")
        assert "another model" in complaint(book, "--sentences", "-o", broken, "--resume")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (LONG.replace("Dog 70 ", "Cat 70 "), "is not what was parsed before"),
            ("\n" + LONG, "is not what was parsed before"),
            (LONG[:20_000], "ends after 649 sentences, and 1,600 were"),
        ],
    )
    def test_so_must_the_input_as_far_as_it_was_read(
        self, complaint: Run, broken: Path, text: str, message: str
    ) -> None:
        before = Path(f"{broken}.part").read_text()
        assert message in complaint("--sentences", "-o", broken, "--resume", text=text.encode())
        assert Path(f"{broken}.part").read_text() == before

    def test_what_follows_may_have_been_mended(self, run: Run, broken: Path) -> None:
        text = LONG.replace("Dog 2000 ", "Cat 2000 ")
        run("--sentences", "-o", broken, "--resume", text=text)
        assert broken.read_text() == run("--sentences", text=text)

    @pytest.mark.parametrize("damage", ["{}", "", "[]", '{"options": {}, "done": "x"}'])
    def test_a_damaged_account(self, complaint: Run, book: Path, broken: Path, damage: str) -> None:
        Path(f"{broken}.part.json").write_text(damage)
        line = complaint(book, "--sentences", "-o", broken, "--resume")
        assert "damaged: remove both" in line

    def test_a_part_without_an_account_and_the_other_way_round(
        self, complaint: Run, book: Path, broken: Path
    ) -> None:
        part, account = Path(f"{broken}.part"), Path(f"{broken}.part.json")
        kept = account.read_text()
        account.unlink()
        assert "damaged" in complaint(book, "--sentences", "-o", broken, "--resume")
        account.write_text(kept)
        part.write_text("short")
        assert "has 5 bytes of the" in complaint(book, "--sentences", "-o", broken, "--resume")
        part.unlink()
        assert "has 0 bytes of the" in complaint(book, "--sentences", "-o", broken, "--resume")

    def test_an_error_in_the_input_leaves_what_stood_before(
        self, complaint: Run, run: Run, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        broken = LONG.encode() + b"caf\xe9\n"
        assert "standard input:2501:4" in complaint("--sentences", "-o", out, text=broken)
        assert (tmp_path / "out.part").read_text().count("\n") == 2500
        mended = LONG + "caf\u00e9\n"
        run("--sentences", "-o", out, "--resume", text=mended)
        assert out.read_text() == run("--sentences", text=mended)


SCRIPT = """
import resource, signal, sys, time
sys.path.insert(0, {tests!r})
from parser.scorers import HashScorer
from treewright.cli import main, parse
from treewright.parser import Parser

class Slow(HashScorer):
    def score(self, sentences):
        time.sleep({seconds})
        return super().score(sentences)

parse.load = lambda name, **options: Parser(Slow())
if {limit}:
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.exit(main(sys.argv[1:]))
"""


def command(seconds: float = 0.0, limit: int = 0) -> list[str]:
    """A process of its own, whose scorer takes its time, and whose disk is soon full."""
    tests = str(Path(__file__).parents[1])
    return [sys.executable, "-c", SCRIPT.format(tests=tests, seconds=seconds, limit=limit), "parse"]


@pytest.mark.usefixtures("ctrl_c_works")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_part_that_can_be_gone_on_with(
    number: signal.Signals, code: int, model: Path, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "book.txt").write_text(LONG)
    arguments = ["-m", str(model), str(tmp_path / "book.txt"), "-o", str(tmp_path / "out")]
    process = subprocess.Popen([*command(seconds=0.2), *arguments], stderr=subprocess.PIPE)
    account = tmp_path / "out.part.json"
    while not account.exists() or not json.loads(account.read_text())["done"]:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == code
    assert b"the same command goes on with --resume" in errors
    run(tmp_path / "book.txt", "-o", tmp_path / "out", "--resume")
    assert (tmp_path / "out").read_text() == run(tmp_path / "book.txt")


@pytest.mark.parametrize("seconds", [0.0, 0.3, 0.55])
def test_a_run_that_was_killed_is_gone_on_with(
    seconds: float, model: Path, tmp_path: Path, run: Run
) -> None:
    """Outright, so that nothing can be put in order: before the first batch, and some time in."""
    (tmp_path / "book.txt").write_text(LONG)
    arguments = ["-m", str(model), str(tmp_path / "book.txt"), "-o", str(tmp_path / "out")]
    process = subprocess.Popen([*command(seconds=0.2), *arguments], stderr=subprocess.PIPE)
    while not (tmp_path / "out.part").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    with open(tmp_path / "out.part", "ab") as part:
        part.write(b"(TOP (S half a tr")
    run(tmp_path / "book.txt", "-o", tmp_path / "out", "--resume")
    assert (tmp_path / "out").read_text() == run(tmp_path / "book.txt")


def test_trees_come_before_the_text_has_ended(model: Path) -> None:
    """A text that never ends is parsed, with no more of it in hand than a few pieces."""
    process = subprocess.Popen(
        [*command(), "-m", str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin = process.stdin
    seen = threading.Event()

    def feed() -> None:
        stdin.write(LONG.encode() * 8)
        stdin.flush()
        seen.wait()
        stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    for number in range(6400):
        assert f"(CD {number % 2500})".encode()[3:] in process.stdout.readline()
    seen.set()
    rest = process.stdout.read()
    feeder.join()
    assert rest.count(b"\n") == 8 * 2500 - 6400
    process.stdout.close()
    assert process.wait() == 0


MEMORY = """
def peak():  # of this program alone: what getrusage says begins with what its parent held
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])

before = peak()
code = main(sys.argv[1:])
print(code, peak() - before)
sys.exit()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="wants Linux's own count")
def test_memory_does_not_grow_with_the_text(model: Path, tmp_path: Path) -> None:
    """Half a megabyte of text more, the trees of which would take thirty."""

    def grown(megabytes: float) -> int:
        book = tmp_path / "book.txt"
        book.write_text(LONG * round(megabytes * 1e6 / len(LONG)))
        *python, script, name = command()
        script = script.replace("sys.exit(", MEMORY + "sys.exit(")
        options = ["-m", str(model), str(book), "-o", str(tmp_path / "out"), "--rules", "off"]
        output = subprocess.check_output([*python, script, name, *options], text=True)
        code, kilobytes = map(int, output.split())
        assert code == 0
        return kilobytes

    little = grown(0.1)
    assert little > 1_000
    assert grown(0.6) < little + 8_000


def test_a_full_disk_is_one_line_and_loses_nothing(model: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "book.txt").write_text(LONG)
    arguments = ["-m", str(model), str(tmp_path / "book.txt"), "-o", str(tmp_path / "out")]
    process = subprocess.run([*command(limit=240_000), *arguments], capture_output=True, text=True)
    assert process.returncode == 2
    lines = process.stderr.splitlines()
    assert lines[-1].startswith(f"treewright: {tmp_path}/out.part: ")
    assert "goes on with --resume" in lines[0]
    run(tmp_path / "book.txt", "-o", tmp_path / "out", "--resume")
    assert (tmp_path / "out").read_text() == run(tmp_path / "book.txt")


def test_a_reader_that_leaves_early_ends_it_silently(model: Path, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(LONG)
    process = subprocess.Popen(
        [*command(), "-m", str(model), str(tmp_path / "book.txt")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"(TOP ")
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()
