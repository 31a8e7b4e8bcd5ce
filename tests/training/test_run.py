"""Whole runs, small ones: what is learned, what is kept, odd treebanks, pieces, precision."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from training.made import (
    NO_DROPOUT,
    Watch,
    apart,
    figures,
    made_trees,
    metrics,
    quick,
    same_weights,
    weights,
    write,
)
from treewright import evaluate
from treewright.charts import Labels
from treewright.errors import EmptyInput, SettingError, TrainingError
from treewright.model import checkpoint
from treewright.parser import load
from treewright.training import record
from treewright.training.config import load_config
from treewright.training.loop import train
from treewright.training.schedule import Schedule
from treewright.training.setup import first_scores, prepare
from treewright.trees import Tree, read_trees


def test_fifty_trees_are_learned_by_heart(tmp_path: Path) -> None:
    """The preset `tiny`, without dropout: F1 of 100, with rules and without."""
    file = write(tmp_path / "trees.mrg", made_trees(50))
    settings = [("train", file), ("dev", file), ("out", str(tmp_path / "model"))]
    changes = [
        *("batch_size=5", "warmup_steps=10", "epochs=40"),
        *NO_DROPOUT,
    ]
    result = train(load_config(preset="tiny", settings=settings, assignments=changes))
    assert result.f1 == 100.0  # the first model that reaches it is kept
    last = metrics(result.out)[-1]["dev"]
    assert (last["off"]["f1"], last["hard"]["f1"], last["hard"]["complete"]) == (100, 100, 100)
    parser = load(tmp_path / "model")
    gold = list(read_trees(file))
    found = parser.parse_many([tree.words() for tree in gold])
    assert evaluate(gold, [sentence.tree for sentence in found]).f1 == 100.0
    assert result.figures["dev"]["tagging"] > 95  # some words have several tags


def test_what_is_kept(tmp_path: Path) -> None:
    """Best and last model, the record of the run, the state: whole, readable, and no more."""
    watch = Watch()
    config = quick(tmp_path, "epochs=3", "checks_per_epoch=2", "name=made", "language=xx")
    result = train(config, observer=watch)
    out = Path(config.out)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("dev.mrg", "model", "model.resume", "train.mrg")
    ]
    model_files = [
        *("grammar.json", "model.safetensors", "model.toml", "tokenizer.json", "treewright.json")
    ]
    assert sorted(path.name for path in out.iterdir()) == sorted([*model_files, "run"])
    aside = tmp_path / "model.resume"
    assert sorted(path.name for path in aside.iterdir()) == ["last", "lock", "state.pt"]
    assert sorted(path.name for path in (aside / "last").iterdir()) == model_files
    for file in [path for path in out.rglob("*") if path.is_file()]:
        data = file.read_bytes()
        assert data[:2] not in (b"\x80\x04", b"\x80\x05", b"PK"), file  # pickles, and torch's own
        assert str(tmp_path).encode() not in data or file.name == "config.toml", file
    scorer = checkpoint.load(out)
    assert (scorer.description.name, scorer.description.language) == ("made", "xx")
    assert dict(scorer.description.temperatures) == result.figures["temperatures"]
    assert scorer.description.penalty == result.figures["penalty"]
    lines = metrics(out)
    assert lines == watch.lines
    assert [line["epoch"] for line in lines] == [0.667, 1.0, 1.667, 2.0, 2.667, 3.0]
    best = max(lines, key=lambda line: line["dev"]["hard"]["f1"])
    assert result.figures["best"] == {"step": best["step"], "epoch": best["epoch"]}
    assert [line["best"] for line in lines].count(True) >= 1
    written = json.loads((out / "run" / "result.json").read_text())
    assert written == json.loads(json.dumps(result.figures))
    known = json.loads((out / "run" / "provenance.json").read_text())
    assert (known["seed"], known["data"]["train"]["trees"], known["data"]["dev"]["trees"]) == (
        *(777, 30, 8),
    )
    assert all(len(known["data"][part]["sha256"]) == 64 for part in ("train", "dev"))
    assert known["torch"] == torch.__version__
    again = load_config(str(out / "run" / "config.toml"))
    assert replace(again, model=config.model) == config
    assert (out / "run" / "curve.svg").read_text().startswith("<svg")


def test_progress_is_told(tmp_path: Path) -> None:
    watch = Watch()
    train(quick(tmp_path, "epochs=4"), observer=watch)
    assert [progress.step for progress in watch.steps] == list(range(1, 13))
    assert [progress.epoch for progress in watch.steps][2::3] == [1, 2, 3, 4]
    assert [progress.loss is not None for progress in watch.steps].index(True) == 9
    assert all(progress.rate > 0 and progress.epochs == 4 for progress in watch.steps)
    left = [progress.seconds_left for progress in watch.steps]
    assert left[0] is not None
    assert left[-1] == 0
    assert watch.messages[0].startswith("30 trees to learn from, 8 of dev, 6 labels")


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    outs = []
    for at, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(at)
        folder.mkdir()
        config = quick(folder, f"seed={seed}", "average=0.9", "epochs=3")
        train(config)
        outs.append(config.out)
    assert same_weights(outs[0], outs[1])
    assert figures(metrics(outs[0])) == figures(metrics(outs[1]))
    assert not same_weights(outs[0], outs[2])


def test_pieces_change_nothing(tmp_path: Path) -> None:
    """Gradients of pieces add up to those of the whole; without dropout, of course."""
    lasts, losses = [], []
    for at, most in enumerate((8192, 60, 1)):
        folder = tmp_path / str(at)
        folder.mkdir()
        config = quick(folder, f"piece_subwords={most}", "epochs=2", *NO_DROPOUT)
        train(config)
        losses.append([line["loss"] for line in metrics(config.out)])
        lasts.append(folder / "model.resume" / "last")
    for other, last in zip(losses[1:], lasts[1:], strict=True):
        assert other == pytest.approx(losses[0], rel=1e-4)
        assert apart(lasts[0], last, config) < 0.01


def test_bf16(tmp_path: Path) -> None:
    """Another precision in the same Python, near the first; weights and scores stay float32."""
    losses = []
    for precision in ("float32", "bf16"):
        folder = tmp_path / precision
        folder.mkdir()
        config = quick(folder, f"precision={precision}", "epochs=2")
        train(config)
        losses.append([line["loss"] for line in metrics(config.out)])
        assert {value.dtype for value in weights(config.out).values()} == {torch.float32}
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


@pytest.mark.parametrize("kind", ["none", "counts", "learned"])
def test_rule_scores(kind: str, tmp_path: Path) -> None:
    config = quick(tmp_path, f"rule_scores={kind}", "epochs=3")
    train(config)
    description = checkpoint.load(config.out).description
    if kind == "none":
        assert description.rule_scores is None
        return
    scores = description.rule_scores
    assert scores is not None
    assert len(scores) == len(description.grammar.rules)
    if kind == "learned":
        assert any(scores)
        return
    # Logs of relative frequencies among the rules of a parent, times a weight
    tables = description.grammar.tables(description.labels)
    counts = description.grammar.rules
    names = tables.labels
    for (parent, pair), score in zip(tables.rules.tolist(), scores, strict=True):
        left, right = tables.pairs[pair].tolist()
        of_parent = sum(count for rule, count in counts.items() if rule[0] == names[parent])
        share = counts[names[parent], names[left], names[right]] / of_parent
        assert score == pytest.approx(0.1 * math.log(share), abs=1e-6)


def test_learned_rule_scores_begin_at_0(tmp_path: Path) -> None:
    config = quick(tmp_path, "rule_scores=learned")
    scores = first_scores(prepare(config).tables, config)
    assert scores is not None
    assert not scores.any()


def test_plateau_halves_and_ends(tmp_path: Path) -> None:
    """A rate of next to nothing gains nothing: halved once, then the end."""
    config = quick(
        tmp_path,
        *("schedule=plateau", "patience=2", "halvings=1", "epochs=0", "warmup_steps=0"),
        "top_rate=1e-12",
    )
    result = train(config)
    assert result.figures["ended"] == "plateau"
    assert [line["factor"] for line in metrics(config.out)] == [1.0, 1.0, 1.0, 0.5, 0.5]


def test_the_time_is_over(tmp_path: Path) -> None:
    """The run ends between two steps, dev is scored, and resuming adds nothing."""
    config = quick(tmp_path, "epochs=0", "max_minutes=0.002")
    result = train(config)
    assert result.figures["ended"] == "time"
    lines = metrics(config.out)
    again = train(config, resume=True)
    assert {**again.figures, "seconds": 0} == {**result.figures, "seconds": 0}
    assert metrics(config.out) == lines


def test_an_average_is_what_is_kept(tmp_path: Path) -> None:
    """Best and last model are the average, the state's weights are not."""
    config = quick(tmp_path, "average=0.999", "epochs=4")
    train(config)
    state = torch.load(tmp_path / "model.resume" / "state.pt", weights_only=True)
    last = weights(tmp_path / "model.resume" / "last")
    name = "scorer.project.weight"
    assert not torch.equal(last[name], state["loss"][f"network.{name}"])
    assert any(torch.equal(last[name], value) for value in state["average"])


def test_training_that_comes_apart_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = iter([1.0, math.nan])
    monkeypatch.setattr(Schedule, "factor", lambda _, step: next(rates))
    with pytest.raises(TrainingError, match=r"step 3: .* training has come apart; lower the"):
        train(quick(tmp_path))


# Odd treebanks

ODD = {
    "one label": ["(NP (DT the) (NN cat))", "(NP (NN cats))", "(NP (NP (NN a)) (, ,) (NP (NN b)))"],
    "one tree": ["(S (NP (DT the) (NN cat)) (VP (VBZ sees)))"],
    "one word": ["(NP (NN cat))"],
    "one tag, one word, flat": ["(S (X a) (X a) (X a))"],
    "a wrapper that is not TOP": ["(ROOT (S (NP (NN a)) (VP (VB b))))", "( (S (NP (NN b))))"],
    "traces and functions": [
        "(TOP (S (NP-SBJ-1 (NN a)) (VP (VB b) (NP (-NONE- *-1))) (NP (-NONE- 0))))",
        "(TOP (NP (-NONE- *)))",
    ],
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("scheme", ["$", "$+left"])
def test_odd_treebanks_train(kind: str, scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.mrg"
    file.write_text("\n".join(ODD[kind]))
    config = quick(tmp_path, f"scheme={scheme}", "epochs=2", train=str(file), dev=str(file))
    result = train(config)
    assert 0 <= result.f1 <= 100
    parser = load(config.out)
    words = ["words", "never", "seen", "汉字", "\u200b"]
    assert parser.parse(words).tree.words() == tuple(words)


def test_a_treebank_without_constituents_says_so(tmp_path: Path) -> None:
    (tmp_path / "words.mrg").write_text("(X a)\n(TOP (Y b))\n")
    with pytest.raises(EmptyInput, match=r"words\.mrg: holds no constituent: there is nothing"):
        train(quick(tmp_path, train=str(tmp_path / "words.mrg")))


def test_dev_of_other_labels_tags_and_words(tmp_path: Path) -> None:
    trees = ["(TOP (FRAG (INTJ (UH quux)) (NP (ZZ blah) (ZZ ZZ))))", "(TOP (S (NP (NN cat))))"]
    (tmp_path / "other.mrg").write_text("\n".join(trees))
    config = quick(tmp_path, dev=str(tmp_path / "other.mrg"))
    result = train(config)
    assert "FRAG" not in checkpoint.load(config.out).description.labels
    assert result.figures["dev"]["tagging"] <= 25


def test_a_sentence_of_250_words(tmp_path: Path) -> None:
    long = Tree("TOP", [Tree("S", [Tree("NN", word=f"w{n % 7}") for n in range(250)])])
    file = write(tmp_path / "long.mrg", [*made_trees(10), long])
    config = quick(tmp_path, "piece_subwords=400", train=file, dev=file)
    train(config)
    assert len(load(config.out).parse(long.words()).tree.words()) == 250


def test_a_pruned_grammar_leaves_gold_trees_outside(tmp_path: Path) -> None:
    watch = Watch()
    rare = Tree.from_brackets("(TOP (S (PP (IN of) (NP (PRP it))) (VP (VBZ says)) (NP (PRP it))))")
    file = write(tmp_path / "some.mrg", [*made_trees(30), rare])
    config = quick(tmp_path, "min_count=2", train=file)
    train(config, observer=watch)
    assert any(message.endswith("are outside the grammar: no rule-based loss")
               for message in watch.messages)  # fmt: skip
    assert watch.lines[0]["forbidden"] > 0
    # The rare tree's symbols are columns all the same
    assert "VP" in Labels(checkpoint.load(config.out).description.labels).names


@pytest.mark.parametrize("part", ["train", "dev"])
@pytest.mark.parametrize(
    ("text", "message"),
    [("", "holds no tree"), ("(TOP (NP (-NONE- *)))\n", "holds no tree but of traces")],
)
def test_a_file_without_trees(part: str, text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "none.mrg"
    file.write_text(text)
    with pytest.raises(EmptyInput) as error:
        train(quick(tmp_path, **{part: str(file)}))
    assert str(error.value) == f"{file}: {message}"
    assert not (tmp_path / "model").exists()


# Places


def test_nothing_is_written_over(tmp_path: Path) -> None:
    config = quick(tmp_path)
    train(config)
    before = weights(config.out)
    with pytest.raises(SettingError, match=r"holds a run: go on with --resume.*model\.resume"):
        train(config)
    with pytest.raises(SettingError, match="is the model to go on from"):
        train(config, start=config.out)
    (tmp_path / "model.resume" / "state.pt").unlink()
    with pytest.raises(SettingError, match="is not empty"):
        train(config)
    assert all(torch.equal(value, before[name]) for name, value in weights(config.out).items())
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.txt").write_text("precious")
    with pytest.raises(SettingError, match="is not empty"):
        train(replace(config, out=str(home)))
    with pytest.raises(SettingError, match="is a file"):
        train(replace(config, out=str(home / "thesis.txt")))
    for out in (".", "..", "/"):
        with pytest.raises(SettingError, match="holds the directory you are in"):
            train(replace(config, out=out))


def test_a_link_to_another_disk_stays_one(tmp_path: Path) -> None:
    (tmp_path / "disk" / "models").mkdir(parents=True)
    (tmp_path / "model").symlink_to(tmp_path / "disk" / "models", target_is_directory=True)
    train(quick(tmp_path))
    assert (tmp_path / "model").is_symlink()
    checkpoint.load(tmp_path / "disk" / "models")
    assert (tmp_path / "disk" / "models.resume" / "state.pt").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="wants git")
def test_no_revision_of_somebody_else_s_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package may lie within one."""
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "theirs"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True)
    installed = tmp_path / "venv" / "treewright" / "training" / "record.py"
    installed.parent.mkdir(parents=True)
    installed.touch()
    monkeypatch.setattr(record, "__file__", str(installed))
    assert record.git_revision() is None
    for arguments in (["add", "venv"], ["commit", "-q", "-m", "now it is theirs"]):
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True)
    assert record.git_revision()
