"""The engine block of treewright: decoders on plain buffers.

`B` sentences, `n` words of one, `L` chart columns, `P` child pairs, `R` rules.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

def instruction_set() -> str:
    """The vector code in use: `avx512`, `avx2`, `neon` or `plain`.

    The widest that this machine runs, or the one that the environment variable
    `TREEWRIGHT_INSTRUCTION_SET` named when the module was first used.
    """

class Grammar:
    """The tables of `treewright.grammar.RuleTables`, prepared for the vectors of this machine."""

    def __init__(
        self,
        kinds: NDArray[np.int8],
        pairs: NDArray[np.int32],
        rules: NDArray[np.int32],
        words: NDArray[np.bool_],
        roots: NDArray[np.bool_],
        rule_scores: NDArray[np.float64] | None = None,
    ) -> None:
        """
        kinds: (L,) 0 for real labels, 1 for marks, 2 for word null.
        pairs: (P, 2) distinct (left, right) columns, sorted lexicographically.
        rules: (R, 2) (parent column, pair index), sorted by parent, then pair.
        words, roots: (L,) licensed over one word, at the root.
        rule_scores: (R,) added wherever a rule is used; -inf is allowed, NaN and +inf are not.

        Raises `ValueError` on tables of another form.
        """

def decode(
    scores: Sequence[Floats] | Floats | Any,
    lengths: NDArray[np.int32],
    kinds: NDArray[np.int8],
    grammar: Grammar | None = None,
    *,
    free: bool = False,
    penalty: float = ...,
    shortcuts: bool = True,
    threads: int = 1,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.int8],
    NDArray[np.bool_],
    NDArray[np.int8],
]:
    """The best tree of every sentence, with the GIL released while it looks.

    scores: float32 or float64 in memory of the CPU (numpy arrays, torch tensors), read in place:
        - a list of packed charts, one a sentence, (n(n+1)/2, L), C-contiguous;
        - one array (cells of all sentences, L), C-contiguous: packed charts end to end;
        - one padded array (B, N+1, N+1, L), any strides but over L, whose numbers lie side by side.
    lengths: (B,) words of each sentence, at least 1.
    kinds: (L,) as for `Grammar`; must be those of `grammar`, if one is given.
    grammar: None decodes freely. Otherwise rules hold, unless `free` asks for the free tree with
        its licences looked up.
    penalty: what each violation costs; infinity (the default) finds the best legal tree, or the
        tree with the fewest violations, best score first among those, where there is no legal one.
    shortcuts: exact either way; False makes every sentence take the whole dense pass.

    Returns, for `total = sum(2 * lengths - 1)`:
        nodes: (total, 4) start, end, column, rule of every node of the binary derivations, each
            sentence's in preorder. `rule` is an index of the grammar's rules; over one word 0 if
            the label is licensed there; -1 if the step is not licensed (or there is no grammar).
        first_node: (B + 1,) sentence b has nodes first_node[b] up to first_node[b + 1].
        scores: (B,) sum of the span scores and of the scores of the rules used; with a finite
            penalty, less the penalties.
        statuses: (B,) 0 found, 1 impossible (every tree has a score of -infinity), 2 invalid (the
            scores hold NaN or +infinity). Nodes and score have no meaning unless found.
        roots_licensed: (B,) whether the root's label is licensed there (False without a grammar).
        passes: (B,) which pass decided: 0 none, 1 free, 2 pruned, 3 dense, 4 fewest violations.

    Raises `ValueError` where shapes, lengths, kinds or penalty do not fit, and `TypeError` for
    arrays of another type, layout or device.
    """
