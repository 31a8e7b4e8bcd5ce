"""From settings to everything a run needs: trees, labels, grammar, network, examples.

Owns what is made once, before the first step, the same in every process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treewright.charts import Labels
from treewright.errors import EmptyInput, Place, SettingError
from treewright.grammar import Grammar, RuleTables
from treewright.model import build, checkpoint
from treewright.model.network import Network
from treewright.scorer import Description
from treewright.text.subwords import Subwords, SubwordTokenizer
from treewright.training.config import TrainConfig
from treewright.training.treebank import Examples, Treebank, tags_of
from treewright.trees.symbols import is_null


@dataclass(frozen=True)
class Materials:
    """What a run works on."""

    config: TrainConfig
    train: Treebank
    dev: Treebank
    description: Description
    network: Network
    tokenizer: SubwordTokenizer
    labels: Labels
    tables: RuleTables
    examples: Examples
    subwords: list[Subwords]
    """The sub-words of every training sentence."""

    @property
    def sizes(self) -> list[int]:
        """The number of sub-words of every training sentence."""
        return [len(subwords.ids) for subwords in self.subwords]


def prepare(config: TrainConfig, start: str | None = None) -> Materials:
    """Read, count and build; `start` is the directory of a model to go on from."""
    train, dev = Treebank.read(config.train), Treebank.read(config.dev)
    grammar = Grammar.from_trees(train.normalized, scheme=config.scheme, min_count=config.min_count)
    tags = tags_of(train.normalized)
    if all(map(is_null, grammar.labels)):
        raise EmptyInput("holds no constituent: there is nothing to learn", Place(train.file))
    old = None
    if start is None:
        network, tokenizer = build.new(config.model, grammar.labels, tags, train.words)
    else:
        scorer = checkpoint.load(start)
        old = scorer.description
        grammar, tags = _extended(old, grammar, tags, start)
        if old.rule_scores is not None and config.rule_scores == "none":
            message = "the model was trained with scores of rules, which 'rule_scores' leaves out"
            raise SettingError(f"{message}: set it to 'learned' or 'counts'", Place(start))
        network, tokenizer = scorer.network.extended(grammar.labels, tags), scorer.tokenizer
        config = replace(config, model=network.config)
    labels = Labels(grammar.labels)
    tables = grammar.tables(labels.names)
    description = Description(
        labels.names,
        tags,
        grammar,
        rule_scores=_as_tuple(first_scores(tables, config, old)),
        language=config.language or (old.language if old else ""),
        name=config.name,
    )
    return Materials(
        config,
        train,
        dev,
        description,
        network,
        tokenizer,
        labels,
        tables,
        Examples(train.normalized, labels, tables, tags, grammar.scheme),
        tokenizer.encode(train.words),
    )


def _extended(
    old: Description, grammar: Grammar, tags: tuple[str, ...], start: str
) -> tuple[Grammar, tuple[str, ...]]:
    """The grammar and the tags of a model, and those of new trees too."""
    if old.grammar.scheme != grammar.scheme:
        message = f"the model's scheme is {old.grammar.scheme!r}, not {grammar.scheme!r}"
        raise SettingError(f"{message}: set 'scheme'", Place(start))
    both = old.grammar | grammar
    known = both.known.union(old.labels)
    merged = Grammar(both.scheme, both.rules, both.words, both.roots, known)
    return merged, old.tags + tuple(tag for tag in tags if tag not in old.tags)


def first_scores(
    tables: RuleTables, config: TrainConfig, old: Description | None = None
) -> npt.NDArray[np.float64] | None:
    """Scores of rules at the start: none, from their counts, or 0 where they are to be learned.

    Those that the model to go on from has learned are kept.
    """
    if config.rule_scores == "none":
        return None
    if config.rule_scores == "counts":
        return _count_scores(tables, config.count_weight)
    known: dict[tuple[str, str, str], float] = {}
    if old is not None and old.rule_scores is not None:
        before = old.grammar.tables(old.labels)
        known = {before.rule_of(rule): score for rule, score in enumerate(old.rule_scores)}
    return np.array([known.get(tables.rule_of(rule), 0.0) for rule in range(len(tables.rules))])


def _count_scores(tables: RuleTables, weight: float) -> npt.NDArray[np.float64]:
    """Logs of the relative frequencies of rules among those of their parent."""
    parents: Counter[int] = Counter()
    for (parent, _), count in zip(tables.rules.tolist(), tables.rule_counts.tolist(), strict=True):
        parents[parent] += count
    of_parent = np.array([parents[parent] for parent in tables.rules[:, 0].tolist()])
    scores: npt.NDArray[np.float64] = weight * np.log(tables.rule_counts / of_parent)
    return scores


def _as_tuple(scores: npt.NDArray[np.float64] | None) -> tuple[float, ...] | None:
    return None if scores is None else tuple(scores.tolist())
