// Free decoding: the best derivation whatever the grammar says.
//
//     full[i, j]  = max over real labels of s[i, j, label] + split[i, j]
//     any[i, j]   = max(full[i, j], best mark of s[i, j] + split[i, j])
//     split[i, j] = max over k of any[i, k] + full[k, j]
//
// and over one word both are the best real label or word null. Reading the chart costs more than
// the recurrence: each span's scores are read once, in memory order. No back-pointers are kept;
// the trace looks for the split and the labels again, lowest first, which is the rule for ties.
#pragma once

#include <cstddef>
#include <limits>

#include "chart.hpp"
#include "free_task.hpp"
#include "lanes.hpp"

namespace treewright::TREEWRIGHT_ISA {

template <class Real>
class FreePass {
  using Vector = Lanes<Real>;
  static constexpr int W = Vector::width;

 public:
  explicit FreePass(const FreeTask<Real>& task) : task_(task), n_(task.chart.n) {}

  // False if a score is NaN or +infinity; then the rest has no meaning.
  bool run() {
    best_labels();
    clear();
    one_word();
    for (int length = 2; length <= n_; ++length) {
      for (int i = 0; i + length <= n_; i += W) many_words(length, i);
    }
    return valid_;
  }

  void trace() {
    int pending = 0;
    int written = 0;
    task_.stack[pending++] = {0, n_, false};
    while (pending > 0) {
      const FreeSpan span = task_.stack[--pending];
      task_.nodes[written++] = {span.start, span.end, -1, -1};
      Node& node = task_.nodes[written - 1];
      const Real target = span.left ? any(span.start, span.end) : full(span.start, span.end);
      if (span.end - span.start == 1) {
        node.column = find_label(span, task_.one_word_bias, 0, target);
        continue;
      }
      int k;
      const Real split = find_split(span.start, span.end, k);
      node.column = find_label(span, span.left ? task_.any_bias : task_.real_bias, split, target);
      task_.stack[pending++] = {k, span.end, false};
      task_.stack[pending++] = {span.start, k, true};
    }
  }

 private:
  Real& any(int i, int k) { return task_.any[i * task_.stride + k]; }
  Real& full(int k, int j) { return task_.full[j * task_.stride + k]; }

  // The best real label and the best mark of every span, filed by diagonal.
  void best_labels() {
    const Real* cells[W];
    std::ptrdiff_t at[W];
    int waiting = 0;
    for (int i = 0; i < n_; ++i) {
      const Real* cell = task_.chart.cell(i, i + 1);
      for (int length = 1; i + length <= n_; ++length, cell += task_.chart.end_stride) {
        cells[waiting] = cell;
        at[waiting] = diagonal(length) + i;
        if (++waiting == W) {
          best_of_cells(cells, at, W);
          waiting = 0;
        }
      }
    }
    if (waiting == 0) return;
    for (int c = waiting; c < W; ++c) cells[c] = cells[0];
    best_of_cells(cells, at, waiting);
  }

  TREEWRIGHT_INLINE void best_of_cells(const Real* const* cells, const std::ptrdiff_t* at,
                                       int count) {
    Vector best[W];
    Real found[W];
    for (int c = 0; c < W; ++c) best[c] = best_of_cell<true>(cells[c], task_.real_bias);
    largest_of_each<Real>(best).store(found);
    for (int c = 0; c < count; ++c) task_.real[at[c]] = found[c];
    if (task_.n_marks == 0) return;
    if (task_.n_marks == 1) {
      for (int c = 0; c < count; ++c) task_.mark[at[c]] = cells[c][task_.only_mark];
      return;
    }
    for (int c = 0; c < W; ++c) best[c] = best_of_cell<false>(cells[c], task_.mark_bias);
    largest_of_each<Real>(best).store(found);
    for (int c = 0; c < count; ++c) task_.mark[at[c]] = found[c];
  }

  // A bias is 0 for the columns in question and -infinity for the others.
  template <bool check>
  TREEWRIGHT_INLINE Vector best_of_cell(const Real* cell, const Real* bias) {
    const Vector infinity = Vector::splat(std::numeric_limits<Real>::infinity());
    const int columns = task_.chart.columns;
    Vector best = Vector::impossible();
    if (columns < W) {
      Real padded[W];
      for (int l = 0; l < columns; ++l) {
        valid_ &= cell[l] < std::numeric_limits<Real>::infinity();
        padded[l] = cell[l] + bias[l];
      }
      for (int l = columns; l < W; ++l) padded[l] = -std::numeric_limits<Real>::infinity();
      return Vector::load(padded);
    }
    for (int l = 0; l < columns; l += W) {
      if (l + W > columns) l = columns - W;
      const Vector scores = Vector::load(cell + l);
      if (check) valid_ &= all_less(scores, infinity);
      best = max(best, scores + Vector::load(bias + l));
    }
    return best;
  }

  // So that whole vectors can be read past the splits that there are.
  void clear() {
    const Vector impossible = Vector::impossible();
    const std::ptrdiff_t size = task_.stride * (n_ + 1);
    for (std::ptrdiff_t x = 0; x < size; x += W) {
      impossible.store(task_.any + x);
      impossible.store(task_.full + x);
    }
  }

  void one_word() {
    for (int i = 0; i < n_; ++i) {
      const Real* cell = task_.chart.cell(i, i + 1);
      Real best = task_.real[diagonal(1) + i];
      for (int l = 0; l < task_.n_word_nulls; ++l) {
        const Real score = cell[task_.word_nulls[l]];
        best = score > best ? score : best;
      }
      any(i, i + 1) = full(i, i + 1) = best;
    }
  }

  // The spans of one length that start at i .. i + W.
  TREEWRIGHT_INLINE void many_words(int length, int i) {
    const int count = n_ - length + 1 - i < W ? n_ - length + 1 - i : W;
    Vector split[W];
    for (int c = 0; c < count; ++c) split[c] = best_split(i + c, i + c + length);
    for (int c = count; c < W; ++c) split[c] = Vector::impossible();
    const Vector best = largest_of_each<Real>(split);
    const Vector with_label = best + Vector::load(task_.real + diagonal(length) + i);
    Real found_full[W];
    Real found_any[W];
    with_label.store(found_full);
    if (task_.n_marks > 0) {
      max(with_label, best + Vector::load(task_.mark + diagonal(length) + i)).store(found_any);
    } else {
      with_label.store(found_any);
    }
    for (int c = 0; c < count; ++c) {
      full(i + c, i + c + length) = found_full[c];
      any(i + c, i + c + length) = found_any[c];
    }
  }

  TREEWRIGHT_INLINE Vector best_split(int i, int j) {
    const Real* left = task_.any + i * task_.stride;
    const Real* right = task_.full + j * task_.stride;
    Vector best = Vector::load(left + i + 1) + Vector::load(right + i + 1);
    for (int k = i + 1 + W; k < j; k += W) {
      best = max(best, Vector::load(left + k) + Vector::load(right + k));
    }
    return best;
  }

  Real find_split(int i, int j, int& k) {
    const Vector best = spread_largest(best_split(i, j));
    const Real* left = task_.any + i * task_.stride;
    const Real* right = task_.full + j * task_.stride;
    for (k = i + 1; k < j; k += W) {
      const int lane = first_equal(Vector::load(left + k) + Vector::load(right + k), best);
      if (lane == W) continue;
      k += lane;
      break;
    }
    return left[k] + right[k];
  }

  static Vector spread_largest(Vector x) {
    Real lanes[W];
    x.store(lanes);
    Real best = lanes[0];
    for (int c = 1; c < W; ++c) best = lanes[c] > best ? lanes[c] : best;
    return Vector::splat(best);
  }

  // The lowest label that may stand there (bias 0) and gives the score.
  int find_label(const FreeSpan& span, const Real* bias, Real split, Real target) {
    const Real* cell = task_.chart.cell(span.start, span.end);
    const int columns = task_.chart.columns;
    const Vector wanted = Vector::splat(target);
    int l = 0;
    for (; l + W <= columns; l += W) {
      const Vector score = Vector::load(cell + l) + Vector::load(bias + l) + Vector::splat(split);
      const int lane = first_equal(score, wanted);
      if (lane < W) return l + lane;
    }
    while (cell[l] + bias[l] + split != target) ++l;
    return l;
  }

  std::ptrdiff_t diagonal(int length) const {
    return static_cast<std::ptrdiff_t>(length - 1) * task_.stride;
  }

  const FreeTask<Real>& task_;
  const int n_;
  bool valid_ = true;
};

template <class Real>
bool run_free(const FreeTask<Real>& task) {
  FreePass<Real> pass(task);
  const bool valid = pass.run();
  if (valid && *task.score() > -std::numeric_limits<Real>::infinity()) pass.trace();
  return valid;
}

}  // namespace treewright::TREEWRIGHT_ISA
