from __future__ import annotations

import pytest

from parser.scorers import HashScorer
from treewright.parser import Parser


@pytest.fixture
def scorer() -> HashScorer:
    return HashScorer()


@pytest.fixture
def nlp(scorer: HashScorer) -> Parser:
    return Parser(scorer)
