// What the dense pass is handed: plain pointers only, so that the units compiled for one
// instruction set share no code of the standard library with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chart.hpp"
#include "grammar.hpp"
#include "program.hpp"

namespace treewright {

enum class Rules {
  hard,              // a violation is impossible
  soft,              // a violation costs the penalty
  fewest_violations  // the fewest violations come first, then the score
};

template <class Real>
struct InsideTask {
  Rules rules;
  Real penalty;  // of soft rules, finite

  // The sentences; those beyond `count` and spans beyond a sentence are impossible.
  const ChartView<Real>* sentences;
  int count;
  const Real* impossible_row;  // `columns` times -infinity
  int n;
  int group;
  int columns;

  // The grammar.
  const Kind* kinds;
  const std::uint8_t* words;
  const std::uint8_t* over_one;
  int n_blocks;
  const Block* blocks;
  const std::uint32_t* hub_offsets;  // numbers from label 0 to the label
  const std::uint32_t* spoke_offsets;
  std::ptrdiff_t any_children;  // offset into `pairs`
  int n_sets;
  const std::int32_t* set_first;
  const std::uint32_t* set_offsets;  // numbers from label 0 to the member
  int n_absent;
  const std::int32_t* absent;
  int n_runs;
  const ParentRun* runs;
  const std::int32_t* parents;
  const std::uint32_t* rule_offsets;  // into `pairs`
  const Real* rule_scores;            // or null: all zero

  // The layout of `inside`; with counts, they lie `plane` numbers behind the scores.
  const std::ptrdiff_t* diagonal;
  std::ptrdiff_t label_stride;
  std::ptrdiff_t vector_stride;
  std::ptrdiff_t plane;
  Real* inside;

  // Work space.
  Real* turned;  // columns * W
  Real* pairs;   // slots * W, twice with counts
  std::ptrdiff_t pairs_plane;
  const Real** left;   // n + 1
  const Real** right;  // n + 1
};

}  // namespace treewright
