// What the inside-outside pass is handed, and what it leaves: plain pointers only (see
// inside_task.hpp). The pass itself, and what its numbers mean, is in marginals_pass.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chart.hpp"
#include "grammar.hpp"
#include "program.hpp"

namespace treewright {

// One sentence's answer.
struct MarginalsSum {
  double mantissa;  // the partition is mantissa * 2^exponent, but for the weights' common factor
  double exponent;
  double lost;  // what share of all derivations underflow may have changed, at most; or NaN
};

template <class Real>
struct MarginalsTask {
  // The sentences; those beyond `count` and spans beyond a sentence are impossible.
  const ChartView<Real>* sentences;
  int count;
  const Real* impossible_row;  // `columns` times -infinity
  int n;
  int group;  // divides the width of a vector
  int columns;

  // The grammar.
  const Kind* kinds;
  const std::uint8_t* over_one;   // what has a weight over one word
  const std::uint8_t* over_many;  // `parents`
  int n_blocks;
  const Block* blocks;
  const std::uint32_t* hub_offsets;  // numbers from label 0 to the label
  const std::uint32_t* spoke_offsets;
  std::ptrdiff_t n_pairs;       // numbers in `pairs`
  std::ptrdiff_t any_children;  // offset into `pairs`, -1: every step is licensed
  int n_absent;
  const std::int32_t* absent;
  int n_runs;
  const ParentRun* runs;
  const std::int32_t* parents;
  const std::uint32_t* rule_offsets;  // into `pairs`
  const double* rule_weights;         // beside the weight of the same step without a licence
  const double* full_rule_weights;    // of a licensed step
  const std::int32_t* rule_indices;
  double unlicensed_weight;
  const double* word_weights;  // of labels over one word
  const double* root_weights;

  // The layout of `inside`, `outside` and `exponentials`, of columns + 2 rows; and that of
  // `exponents` and `shifts`, of one row.
  const std::ptrdiff_t* diagonal;
  std::ptrdiff_t label_stride;
  std::ptrdiff_t vector_stride;
  bool blocked;
  std::ptrdiff_t size;
  const std::ptrdiff_t* cell_diagonal;
  double* inside;
  double* outside;
  double* exponentials;
  double* exponents;
  double* shifts;

  // Work space.
  double* turned;         // columns * W
  double* pairs;          // n_pairs
  double* around_pairs;   // n_pairs
  double* splits;         // (n + 1) * W
  double* counts;         // W for each of the grammar's rules, or null: not wanted
  std::ptrdiff_t* left;   // n + 1
  std::ptrdiff_t* right;  // n + 1

  // The answer, one a sentence.
  double* const* posteriors;  // (n(n+1)/2, columns), packed
  MarginalsSum* sums;
};

}  // namespace treewright
