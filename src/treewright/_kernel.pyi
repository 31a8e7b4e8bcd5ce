"""The engine block of treewright: decoders and the last step of scorers, on plain buffers.

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
        """Prepare the tables.

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

def k_best(
    scores: Sequence[Floats] | Floats | Any,
    lengths: NDArray[np.int32],
    kinds: NDArray[np.int8],
    grammar: Grammar | None = None,
    *,
    k: int,
    distinct: bool = False,
    free: bool = False,
    penalty: float = ...,
    threads: int = 1,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.int8],
    NDArray[np.bool_],
]:
    """The best `k` derivations of every sentence, fewer where there are not so many.

    Arguments are those of `decode`; `distinct` leaves out what gives a tree once more after undoing
    binarisation. An infinite penalty puts legal trees first, then those with one violation, and so
    on. Scores are summed in the precision of the chart to find the trees, and in double precision
    to report them.

    Returns, for `M` trees in all:
        nodes: (total, 4) as for `decode`, 2n - 1 for each tree, one tree after the other.
        first_tree: (B + 1,) sentence b has trees first_tree[b] up to first_tree[b + 1], the best
            first.
        scores: (M,) with a finite penalty, less the penalties.
        violations: (M,) 0 without a grammar.
        statuses: (B,) as for `decode`; no trees unless found.
        roots_licensed: (M,) whether the root's label is licensed there (False without a grammar).

    Raises `ValueError` and `TypeError` as `decode` does, and `ValueError` if k is below 1.
    """

def marginals(
    scores: Sequence[Floats] | Floats | Any,
    lengths: NDArray[np.int32],
    kinds: NDArray[np.int8],
    grammar: Grammar | None = None,
    *,
    penalty: float = ...,
    rule_counts: bool = False,
    logs: bool = False,
    threads: int = 1,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.int8],
    NDArray[np.bool_],
    NDArray[np.float64] | None,
]:
    """How probable every label over every span is.

    A derivation weighs the exponential of its score. Arguments are those of `decode`; no grammar
    means free derivations. A penalty multiplies by exp(-penalty) for every violation; an infinite
    one leaves the derivations with the fewest violations alone.

    logs: take logs throughout, which is slow. Without it, they are taken for sentences whose
        numbers do not fit the range of double precision, and for those without a legal tree.
    rule_counts: find the expected number of uses of every rule, too.

    Returns:
        probabilities: (cells of all sentences, L), packed, sentences end to end; 0 unless found.
        log_partitions: (B,) the log of the sum over all derivations that count.
        violations: (B,) of those; 0 unless the penalty is infinite.
        statuses: (B,) as for `decode`.
        took_logs: (B,) whether logs were taken.
        rule_counts: (B, R), or None. A step counts as licensed where its rule is worth no less than
            the penalty.

    Raises `ValueError` and `TypeError` as `decode` does.
    """

class SpanScorer:
    """Fenceposts to charts: `ReLU(norm(f_j - f_i + bias)) weight + offset` for every span."""

    def __init__(
        self,
        bias: NDArray[np.float32],
        scale: NDArray[np.float32],
        shift: NDArray[np.float32],
        weight: NDArray[np.float32],
        offset: NDArray[np.float32],
        epsilon: float,
    ) -> None:
        """Lay the parameters out.

        bias: (H,) added to differences; without a mean.
        scale, shift: (H,) of the norm, `x / sqrt(mean of x^2 + epsilon) * scale + shift`.
        weight: (H, L). offset: (L,).

        Raises `ValueError` where shapes do not fit.
        """

    def score(
        self, posts: NDArray[np.float32], lengths: NDArray[np.int32], *, threads: int = 1
    ) -> NDArray[np.float32]:
        """Packed charts `(cells, L)` of sentences of `lengths` words, end to end.

        posts: (sum of n + 1, H) fenceposts, without a mean, sentences end to end.

        Raises `ValueError` where posts do not fit the lengths or the parameters.
        """
