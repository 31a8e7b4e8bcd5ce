"""EVALB: brackets against brackets, as the field has counted them since 1997. No numpy."""

from treewright.evaluation.compare import Comparison
from treewright.evaluation.pairs import Pair, Trees, evaluate, make_report, score_pairs
from treewright.evaluation.parameters import Parameters
from treewright.evaluation.report import LabelScore, LengthBucket, Report, Summary
from treewright.evaluation.score import SentenceScore, Status

__all__ = [
    "Comparison",
    "LabelScore",
    "LengthBucket",
    "Pair",
    "Parameters",
    "Report",
    "SentenceScore",
    "Status",
    "Summary",
    "Trees",
    "evaluate",
    "make_report",
    "score_pairs",
]
