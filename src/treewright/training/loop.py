"""The training loop: steps, checks of dev, what is kept, and going on after an end too early.

Owns the order of things in a run. Processes, devices, precision and the sharing of gradients are
Hugging Face Accelerate's; what a step learns from is said in `batches`, what it costs in `loss`.

What is kept, and where, is said in `folders`. All is written beside and renamed, so that a kill at
any moment loses the steps since the last check and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import gather_object, set_seed

from treewright.charts import Ints
from treewright.errors import DecodeError, Interrupted, TrainingError
from treewright.model import checkpoint
from treewright.model.build import feature_maker
from treewright.model.torch_scorer import TorchScorer
from treewright.scorer import Description
from treewright.settings import to_table
from treewright.training.averaging import Average
from treewright.training.batches import Plan, pieces
from treewright.training.clock import Clock
from treewright.training.config import TrainConfig
from treewright.training.dev import PENALTIES, Dev, DevScores, best_penalty
from treewright.training.folders import Folders
from treewright.training.loss import RECORD, JointLoss
from treewright.training.observer import Observer, Progress
from treewright.training.optimizer import make_optimizer, set_rates
from treewright.training.record import Record, provenance
from treewright.training.schedule import Schedule
from treewright.training.setup import prepare
from treewright.training.state import (
    check_same,
    identity,
    load_state,
    random_state,
    restore_random_state,
    save_state,
    writing,
)
from treewright.training.wishes import Wishes

# Soft rules between epochs, before the penalty is chosen
_USUAL_PENALTY = 1.0
# Steps between two looks at whether another process wants to end
_LOOK_EVERY = 10


@dataclass(frozen=True)
class Result:
    """How a run ended."""

    out: str
    f1: float
    """The best on dev, rules on."""

    epoch: float
    """When that was."""

    figures: Mapping[str, Any]
    """How it ended, as `run/result.json` has it."""

    main: bool
    """Whether this is the process that wrote all this, of several."""


def train(
    config: TrainConfig,
    *,
    resume: bool = False,
    start: str | None = None,
    observer: Observer | None = None,
) -> Result:
    """Train a model; what it writes is said at the head of this module.

    Args:
        config: all settings.
        resume: whether to go on where a run of the same settings ended.
        start: a model's directory to go on from; its labels and grammar are extended.
        observer: is told how it goes.
    """
    folders = Folders.of(config, start=start, resume=resume)
    # Accelerate remembers the precision of an earlier run in the same Python, and refuses another.
    AcceleratorState._reset_state()
    accelerator = Accelerator(mixed_precision="bf16" if config.precision == "bf16" else "no")
    if not accelerator.is_main_process or observer is None:
        observer = Observer()
    run = Run(config, accelerator, observer, folders, start)
    with folders.alone() if accelerator.is_main_process else nullcontext():
        if resume:
            run.resume()
        else:
            run.begin()
        with run.wishes.watched():
            run.steps()
        try:
            return run.finish()
        except KeyboardInterrupt:
            message = "stopped while the best model was finished; all is kept"
            raise Interrupted(f"{message}: go on with the same command and --resume") from None


class Run:
    """A run under way, in one of its processes."""

    def __init__(
        self,
        config: TrainConfig,
        accelerator: Accelerator,
        observer: Observer,
        folders: Folders,
        start: str | None,
    ) -> None:
        if config.deterministic:
            torch.use_deterministic_algorithms(True)
        set_seed(config.seed)
        self.materials = made = prepare(config, start)
        self.config = config = made.config
        self.accelerator = accelerator
        self.observer = observer
        self.folders = folders
        self.start = start
        self.record = Record(folders.out)
        self.dev = Dev(made.dev)
        self.features = feature_maker(made.network, made.tokenizer)
        loss = JointLoss(
            made.network,
            made.labels,
            made.tables,
            rule_weight=config.lambda_,
            tag_weight=config.tag_weight,
            rule_scores=made.description.rule_scores,
            learn_rules=config.rule_scores == "learned",
            method="native" if config.decoder == "auto" else config.decoder,
        )
        self.loss = loss.to(accelerator.device)
        self.optimizer = make_optimizer(self.loss, config)
        self.module, self.optimizer = accelerator.prepare(self.loss, self.optimizer)
        self.average = Average(list(self.loss.parameters()), config.average)
        self.sizes = made.sizes
        self.plan = Plan(self.sizes, config.batch_size, config.batch_subwords, config.seed)
        self.schedule = Schedule(config, self.plan.steps() * config.epochs)
        self.step = self.epoch = self.position = 0
        self.lines: list[dict[str, Any]] = []
        self.best: dict[str, Any] = {}
        self.bias: torch.Tensor | None = None  # of the best model's labels, before any lift
        self.sums = torch.zeros(len(RECORD), device=accelerator.device)
        self.clock = Clock(config.max_minutes)
        self.wishes = Wishes()
        self.ended = ""
        # From here on processes differ in what they drop out.
        set_seed(config.seed, device_specific=True)
        self.loss.train()

    # Beginning and going on

    def begin(self) -> None:
        """Write down what the run is made of, and a first state; so it can be resumed from here."""
        if self.accelerator.is_main_process:
            self._write_record_head()
        self.save()
        self._say_what_there_is()

    def _write_record_head(self) -> None:
        made = self.materials
        data = {"train": made.train, "dev": made.dev}
        with writing(self.folders.out):
            self.folders.aside.mkdir(parents=True, exist_ok=True)
            device = str(self.accelerator.device)
            known = provenance(self.config, data, device, self.start)
            self.record.begin(self.config, {**known, "processes": self.accelerator.num_processes})

    def _say_what_there_is(self) -> None:
        made = self.materials
        forbidden = made.examples.forbidden
        self.observer.said(
            f"{len(made.train):,} trees to learn from, {len(made.dev):,} of dev, "
            f"{len(made.labels):,} labels, {len(made.tables.rules):,} rules, "
            f"{len(made.description.tags):,} tags; device {self.accelerator.device}"
        )
        if empty := made.train.empty + made.dev.empty:
            self.observer.said(f"{empty:,} trees of nothing but traces are left out")
        if forbidden:
            self.observer.said(f"{forbidden:,} trees are outside the grammar: no rule-based loss")

    def resume(self) -> None:
        """Go on where a run of the same settings ended."""
        state = load_state(self.folders.state)
        made = self.materials
        check_same(state, self.config, self.start, made)
        self.loss.load_state_dict(state["loss"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average.restore(state["average"])
        self.schedule.restore(state["schedule"])
        self.step, self.epoch, self.position = state["step"], state["epoch"], state["position"]
        self.lines, self.best, self.bias = state["lines"], state["best"], state["bias"]
        self.clock.spent = state["seconds"]
        self.ended = "time" if self.clock.over else ""
        states, rank = state["random"], self.accelerator.process_index
        if len(states) == self.accelerator.num_processes:
            restore_random_state(states[rank])
            self.sums.copy_(state["sums"][rank])
        else:
            self.observer.said("another number of processes: random numbers begin anew")
        if self.accelerator.is_main_process:
            with writing(self.folders.out):
                self.record.told(self.config)
        self.observer.said(f"going on after step {self.step:,}, epoch {self.epoch + 1}")

    # Steps

    def steps(self) -> None:
        """All steps that are left, with a check of dev where one is due."""
        self.clock.start()
        while not self.ended and not self._over():
            batches = self.plan.epoch(self.epoch)
            due = _due(len(batches), self.config.checks_per_epoch)
            while self.position < len(batches) and not self.ended:
                self._step(batches[self.position])
                self.position += 1
                self._tell(len(batches))
                if self.position in due:
                    self._check(len(batches))
                self._look_around()
            if self.position >= len(batches):
                self.epoch, self.position = self.epoch + 1, 0
        if self.ended == "time" and (not self.lines or self.lines[-1]["step"] < self.step):
            self._check(self.plan.steps(self.epoch))

    def _over(self) -> bool:
        epochs = self.config.epochs
        return self.schedule.done or bool(epochs and self.epoch >= epochs)

    def _step(self, batch: Ints) -> None:
        """Learn from a batch: this process from its share, in pieces."""
        accelerator = self.accelerator
        processes, rank = accelerator.num_processes, accelerator.process_index
        words = int(self.materials.examples.lengths[batch].sum())
        # Gradients are averaged over processes, not added.
        shares = processes / len(batch), processes / words
        share = pieces(batch, self.sizes, rank, processes, self.config.piece_subwords)
        for number, piece in enumerate(share):
            last = number == len(share) - 1
            with nullcontext() if last else accelerator.no_sync(self.module):
                if len(piece):
                    self._learn(piece, *shares)
                else:
                    # Nothing to learn, but the others wait for this process's gradients.
                    self._learn(batch[:1], 0.0, 0.0)
        set_rates(self.optimizer, self.schedule.factor(self.step))
        if self.config.max_gradient:
            accelerator.clip_grad_norm_(self.loss.parameters(), self.config.max_gradient)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.step += 1
        self.average.stepped(self.step)
        self.clock.sentences += len(batch)

    def _learn(self, piece: Ints, share: float, word_share: float) -> None:
        made = self.materials
        features = self.features.collate([made.subwords[at] for at in piece.tolist()])
        try:
            losses = self.module(
                features.to(self.accelerator.device), made.examples.gold(piece), share, word_share
            )
        except DecodeError as error:
            message = f"step {self.step + 1}: {error.message}: training has come apart"
            raise TrainingError(f"{message}; lower the rates or 'max_gradient'") from error
        self.accelerator.backward(losses.total)
        if share:
            self.sums += losses.record

    def _tell(self, batches: int) -> None:
        done = self.epoch + self.position / batches
        # To look at the loss is to wait for the device: now and then only.
        loss = self._means()["loss"] if self.step % 10 == 0 else None
        left = self.clock.left(self.step, self.schedule.total_steps)
        progress = Progress(self.step, done, self.config.epochs, loss, self.clock.rate, left)
        self.observer.stepped(progress)

    def _means(self) -> dict[str, float]:
        """The means of the loss since the last check, of this process."""
        sums = dict(zip(RECORD, self.sums.tolist(), strict=True))
        sentences, words = max(1.0, sums["sentences"]), max(1.0, sums["words"])
        free, ruled = sums["free"] / sentences, sums["ruled"] / sentences
        tags = sums["tags"] / words
        weight = self.config.lambda_
        loss = (1 - weight) * free + weight * ruled + self.config.tag_weight * tags
        return {
            "loss": loss,
            "free": free,
            "ruled": ruled,
            "tags": tags,
            **{name: sums[name] / sentences for name in ("missed", "searched", "forbidden")},
        }

    # Checks

    def _check(self, batches: int) -> None:
        """Score dev, keep the model if it is the best so far, and write down how it went."""
        self.sums = self.accelerator.reduce(self.sums)
        with self.clock.paused():
            ways = ("off", "hard", _USUAL_PENALTY)
            with self.average.in_place():
                scores = self._score_dev(self._scorer(), ways)
                factor = self.schedule.factor(self.step - 1)  # of the steps that led here
                best = self.schedule.checked(scores.by_way["hard"].f1)
                line = {
                    "step": self.step,
                    "epoch": round(self.epoch + self.position / batches, 3),
                    "seconds": round(self.clock.spent, 1),
                    "sentences_per_second": round(self.clock.rate, 1),
                    "factor": factor,
                    **{name: round(mean, 4) for name, mean in self._means().items()},
                    "dev": scores.as_dict(),
                    "best": best,
                }
                self.lines.append(line)
                if best:
                    self.best = line
                    self.bias = self.materials.network.scorer.output.bias.detach().cpu().clone()
                    self._save(self.folders.out)
            self.sums = torch.zeros_like(self.sums)
            self.save()
        self.observer.checked(line)
        if self.schedule.done:
            self.ended = "plateau"

    def _score_dev(self, scorer: TorchScorer, ways: Any) -> DevScores:
        accelerator = self.accelerator
        try:
            return self.dev.score(
                scorer,
                ways,
                rank=accelerator.process_index,
                processes=accelerator.num_processes,
                gather=gather_object if accelerator.num_processes > 1 else list,
            )
        finally:
            self.loss.train()

    def _description(self) -> Description:
        """The description with the scores of rules as they are."""
        scores = self.loss.rule_scores
        if scores is None:
            return self.materials.description
        return replace(self.materials.description, rule_scores=tuple(scores.detach().tolist()))

    def _scorer(self) -> TorchScorer:
        made = self.materials
        device = self.accelerator.device
        return TorchScorer(made.network, made.tokenizer, self._description(), device=device)

    # What is kept

    def _save(self, directory: Path) -> None:
        """Write the weights as they are as a model."""
        if not self.accelerator.is_main_process:
            return
        made = self.materials
        with writing(directory):
            checkpoint.save(directory, made.network, self._description(), made.tokenizer)

    def save(self) -> None:
        """Write what the run must know to go on."""
        randoms = gather_object([random_state()])
        sums = gather_object([self.sums.cpu()])
        if not self.accelerator.is_main_process:
            return
        made = self.materials
        state = {
            "config": to_table(self.config),
            **identity(self.start, made),
            "loss": self.loss.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average.state(),
            "schedule": self.schedule.state(),
            "step": self.step,
            "epoch": self.epoch,
            "position": self.position,
            "lines": self.lines,
            "best": self.best,
            "bias": self.bias,
            "sums": sums,
            "random": randoms,
            "seconds": self.clock.spent,
        }
        save_state(state, self.folders.state)
        with writing(self.record.directory):
            self.record.write(self.lines)

    def finish(self) -> Result:
        """Choose lift, penalty and temperatures of the best model, and say how good it is."""
        if not self.best:
            raise TrainingError("the run ended before dev was scored: there is no model")
        with self.average.in_place():
            self._save(self.folders.last)
        self.accelerator.wait_for_everyone()
        scorer = checkpoint.load(self.folders.out, self.accelerator.device)
        assert self.bias is not None
        # From the bias as it was trained: a run that ends for a second time must not lift it twice.
        scorer.network.scorer.output.bias.data.copy_(self.bias)
        lift = self.dev.lift(scorer)  # the same in all processes
        scorer.network.scorer.lift(lift)
        scores = self._score_dev(scorer, ("off", "hard", *PENALTIES))
        description = replace(scorer.description, penalty=best_penalty(scores))
        scorer = TorchScorer(
            scorer.network, scorer.tokenizer, description, device=self.accelerator.device
        )
        result = {
            "best": {"step": self.best["step"], "epoch": self.best["epoch"]},
            "ended": self.ended or "epochs",
            "seconds": round(self.clock.spent, 1),
            "dev": scores.as_dict(),
            "lift": lift,
            "penalty": description.penalty,
        }
        if self.accelerator.is_main_process:
            description = replace(description, temperatures=self.dev.temperatures(scorer))
            result["temperatures"] = dict(description.temperatures)
            with writing(self.folders.out):
                checkpoint.save(self.folders.out, scorer.network, description, scorer.tokenizer)
                self.record.finish(result)
        self.accelerator.wait_for_everyone()
        f1 = scores.by_way["hard"].f1
        main = self.accelerator.is_main_process
        return Result(self.config.out, f1, self.best["epoch"], result, main)

    # Ends before the end

    def _look_around(self) -> None:
        """End if somebody wishes it, or the time is over; all processes after the same step."""
        wish = "signal" if self.wishes.signal is not None else "time" if self.clock.over else ""
        if self.accelerator.num_processes > 1:
            if self.step % _LOOK_EVERY:
                return
            if wish:
                self.accelerator.set_trigger()
            if not self.accelerator.check_trigger():
                return
            wishes = gather_object([wish])
            wish = "signal" if "signal" in wishes else "time"
        if not wish or self.ended:
            return
        self.ended = wish
        if wish == "signal":
            self.save()
            message = f"stopped after step {self.step:,}; all is kept in {self.folders.aside}"
            raise Interrupted(f"{message}: go on with the same command and --resume")


def _due(batches: int, checks: int) -> frozenset[int]:
    """After how many batches of an epoch dev is scored."""
    return frozenset(-(-batches * number // checks) for number in range(1, checks + 1))
