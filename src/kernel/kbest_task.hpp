// What the vector code of k best is handed: plain pointers only (see inside_task.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout.hpp"

namespace treewright {

// The inside scores of a group, to be sorted by sentence: cell (i, j) of sentence b, which has
// lengths[b] words, to cells[b] + packed(i, j) * rows.
template <class Real>
struct UnlaceTask {
  const Real* inside;
  const std::ptrdiff_t* diagonal;
  std::ptrdiff_t label_stride;
  std::ptrdiff_t vector_stride;
  int n;
  int group;
  int rows;
  int count;
  const int* lengths;
  Real* const* cells;
};

// Rows of numbers to be turned into columns: to[a * stride + r] = rows[r][a]. Both numbers are
// multiples of a vector's width, or rows end `width` numbers before what they may not read.
template <class Real>
struct TurnTask {
  const Real* const* rows;
  int n_rows;
  int columns;
  Real* to;
  std::ptrdiff_t stride;
};

struct ScannedRule {
  std::int32_t left;
  std::int32_t right;
  std::int32_t rule;
};

// One way to make a node of two children: the split, and a number among the scanned rules.
template <class Real>
struct Edge {
  Real count;  // of violations, downwards from zero
  Real score;
  std::int32_t split;
  std::int32_t rule;

  bool before(const Edge& other) const {
    if (count != other.count) return count > other.count;
    if (score != other.score) return score > other.score;
    return split != other.split ? split < other.split : rule < other.rule;
  }
};

// The best edges of a node that come after a given one. Numbers `split` = 0, 1, ... of the left
// child's label a lie at left + a * left_stride, those of the right one at right + b *
// right_stride; past the last split a whole vector is read, which is -infinity on the right.
template <class Real>
struct ScanTask {
  const Real* left;
  std::ptrdiff_t left_stride;
  const Real* right;
  std::ptrdiff_t right_stride;
  int splits;
  const ScannedRule* rules;
  const Real* rule_scores;  // or null: all zero
  int n_rules;
  Edge<Real> after;
  Edge<Real>* found;  // in order
  int room;
};

}  // namespace treewright
