"""How sentences are to be parsed: the choices common to all of a parser's methods, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from treewright.errors import OptionError
from treewright.scorer import RulesMode


@dataclass(frozen=True)
class Options:
    """What to make of the scores of a sentence.

    >>> Options(rules="soft", penalty=2.0).k
    1
    >>> Options(penalty=2.0)
    Traceback (most recent call last):
    ...
    treewright.errors.OptionError: a penalty is for rules='soft'; these are 'hard'
    """

    rules: RulesMode = "hard"
    """Whether trees obey the model's grammar as far as any can (`hard`), break it at a price
    (`soft`), or follow the scores alone (`off`)."""

    penalty: float | None = None
    """The price of a violation under soft rules; None for the model's own."""

    k: int = 1
    """How many trees a sentence gets, the best first."""

    confidence: bool = False
    """Whether confidences are worked out at once, while the scores are at hand."""

    def __post_init__(self) -> None:
        if self.rules not in get_args(RulesMode):
            names = ", ".join(get_args(RulesMode))
            raise OptionError(f"rules are one of {names}, not {self.rules!r}")
        if self.penalty is not None:
            if self.rules != "soft":
                raise OptionError(f"a penalty is for rules='soft'; these are {self.rules!r}")
            if not self.penalty >= 0:
                raise OptionError(f"a penalty is a number from 0 to infinity, not {self.penalty}")
        if type(self.k) is not int or self.k < 1:
            raise OptionError(f"k is a whole number from 1, not {self.k!r}")
