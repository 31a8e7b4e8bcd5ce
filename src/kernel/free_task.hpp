// What free decoding is handed, and what it leaves: plain pointers only (see inside_task.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "chart.hpp"

namespace treewright {

// One node of a derivation; a sentence of n words has 2n - 1, written in preorder. `rule` is an
// index of the grammar's rules; over one word 0 if the label is licensed there; -1 if not licensed.
struct Node {
  std::int32_t start;
  std::int32_t end;
  std::int32_t column;
  std::int32_t rule;
};

struct FreeSpan {
  std::int32_t start;
  std::int32_t end;
  bool left;  // a left child, which may be a mark
};

template <class Real>
struct FreeTask {
  ChartView<Real> chart;

  // One number a column: 0 where such a label may stand, -infinity elsewhere.
  const Real* real_bias;      // real labels
  const Real* mark_bias;      // marks
  const Real* any_bias;       // either
  const Real* one_word_bias;  // real labels and word null
  int n_marks;
  int only_mark;  // its column, if n_marks is 1
  int n_word_nulls;
  const std::int32_t* word_nulls;

  // Work space. A row is `stride` numbers, n + 1 and some more to read over; n + 1 rows each.
  std::ptrdiff_t stride;
  Real* any;   // any[i, k] at i * stride + k
  Real* full;  // full[k, j] at j * stride + k
  Real* real;  // the best real label of (i, i + length) at (length - 1) * stride + i
  Real* mark;
  Real* as_left;    // only for run_outside: of (i, j) at i * stride + j
  Real* as_right;   // only for run_outside: of (i, j) at j * stride + i
  FreeSpan* stack;  // 2n
  Node* nodes;      // 2n - 1: the answer

  Real* score() const { return full + chart.n * stride; }  // full[0, n]: the best score
};

}  // namespace treewright
