// The vector code of k best: inside scores sorted by sentence and by split, and the search for a
// node's best edges.
#pragma once

#include <cstddef>
#include <limits>

#include "kbest_task.hpp"
#include "lanes.hpp"

namespace treewright::TREEWRIGHT_ISA {

// One bit for each lane with a >= b.
#if defined(TREEWRIGHT_AVX512)
TREEWRIGHT_INLINE unsigned reaching(Lanes<float> a, Lanes<float> b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ);
}
TREEWRIGHT_INLINE unsigned reaching(Lanes<double> a, Lanes<double> b) {
  return _mm512_cmp_pd_mask(a.v, b.v, _CMP_GE_OQ);
}
#elif defined(TREEWRIGHT_AVX2)
TREEWRIGHT_INLINE unsigned reaching(Lanes<float> a, Lanes<float> b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)));
}
TREEWRIGHT_INLINE unsigned reaching(Lanes<double> a, Lanes<double> b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a.v, b.v, _CMP_GE_OQ)));
}
#elif defined(TREEWRIGHT_X86)
TREEWRIGHT_INLINE unsigned reaching(Lanes<float> a, Lanes<float> b) {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_cmpge_ps(a.v, b.v)));
}
TREEWRIGHT_INLINE unsigned reaching(Lanes<double> a, Lanes<double> b) {
  return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpge_pd(a.v, b.v)));
}
#else
template <class Real>
TREEWRIGHT_INLINE unsigned reaching(Lanes<Real> a, Lanes<Real> b) {
  Real x[Lanes<Real>::width];
  Real y[Lanes<Real>::width];
  a.store(x);
  b.store(y);
  unsigned bits = 0;
  for (int lane = 0; lane < Lanes<Real>::width; ++lane)
    bits |= unsigned{x[lane] >= y[lane]} << lane;
  return bits;
}
#endif

template <class Real>
void unlace(const UnlaceTask<Real>& task) {
  using Vector = Lanes<Real>;
  constexpr int W = Vector::width;
  for (int length = 1; length <= task.n; ++length) {
    const int slots = (task.n - length + 1) * task.group;
    for (int q = 0; q * W < slots; ++q) {
      const Real* from = task.inside + task.diagonal[length] + q * task.vector_stride;
      Real* to[W];
      int i = q * W / task.group;
      int b = q * W - i * task.group;
      for (int lane = 0; lane < W; ++lane) {
        const std::ptrdiff_t n = b < task.count ? task.lengths[b] : 0;
        const std::ptrdiff_t at = i * n - static_cast<std::ptrdiff_t>(i) * (i - 1) / 2 + length - 1;
        to[lane] = i + length <= n ? task.cells[b] + at * task.rows : nullptr;
        if (++b == task.group) b = 0, ++i;
      }
      if (task.rows < W) {
        for (int lane = 0; lane < W; ++lane) {
          if (to[lane] == nullptr) continue;
          for (int l = 0; l < task.rows; ++l) to[lane][l] = from[l * task.label_stride + lane];
        }
        continue;
      }
      for (int l = 0; l < task.rows; l += W) {
        if (l + W > task.rows) l = task.rows - W;
        const Real* rows[W];
        for (int c = 0; c < W; ++c) rows[c] = from + (l + c) * task.label_stride;
        Vector turned[W];
        load_transposed<Real>(rows, 0, turned);
        for (int lane = 0; lane < W; ++lane) {
          if (to[lane] != nullptr) turned[lane].store(to[lane] + l);
        }
      }
    }
  }
}

template <class Real>
void turn_rows(const TurnTask<Real>& task) {
  using Vector = Lanes<Real>;
  constexpr int W = Vector::width;
  if (task.columns < W) {
    for (int r = 0; r < task.n_rows; ++r) {
      for (int a = 0; a < task.columns; ++a) task.to[a * task.stride + r] = task.rows[r][a];
    }
    return;
  }
  for (int r = 0; r < task.n_rows; r += W) {
    for (int a = 0; a < task.columns; a += W) {
      if (a + W > task.columns) a = task.columns - W;
      Vector turned[W];
      load_transposed<Real>(task.rows + r, a, turned);
      for (int c = 0; c < W; ++c) turned[c].store(task.to + (a + c) * task.stride + r);
    }
  }
}

// Keeps the best edges seen in order; returns how many there are.
template <class Real>
int scan_edges(const ScanTask<Real>& task) {
  using Vector = Lanes<Real>;
  constexpr int W = Vector::width;
  int count = 0;
  Real least = std::numeric_limits<Real>::lowest();  // what is impossible is no edge
  const Vector most = Vector::splat(task.after.score);
  for (int r = 0; r < task.n_rules; ++r) {
    const Real* left = task.left + task.rules[r].left * task.left_stride;
    const Real* right = task.right + task.rules[r].right * task.right_stride;
    const Vector rule = Vector::splat(task.rule_scores == nullptr ? Real(0) : task.rule_scores[r]);
    for (int k = 0; k < task.splits; k += W) {
      const Vector score = Vector::load(left + k) + Vector::load(right + k) + rule;
      unsigned bits = reaching(score, Vector::splat(least)) & reaching(most, score);
      if (bits == 0) continue;
      Real lanes[W];
      score.store(lanes);
      for (; bits != 0; bits &= bits - 1) {
        const int lane = std::countr_zero(bits);
        const Edge<Real> edge{0, lanes[lane], k + lane, r};
        if (!task.after.before(edge)) continue;
        int at = count < task.room ? count++ : task.room;
        if (at == task.room && !edge.before(task.found[--at])) continue;
        for (; at > 0 && edge.before(task.found[at - 1]); --at) task.found[at] = task.found[at - 1];
        task.found[at] = edge;
        if (count == task.room) least = task.found[count - 1].score;
      }
    }
  }
  return count;
}

}  // namespace treewright::TREEWRIGHT_ISA
