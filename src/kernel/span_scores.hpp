// The last step of a model: fenceposts in, packed charts out. A span's hidden numbers are
// ReLU(norm(f_j - f_i + bias)), and its scores a linear map of them. Made a few spans at a time,
// hidden numbers never leave the nearest cache; nothing depends on which spans those are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace treewright {

// The parameters, laid out for the widest vectors: rows are padded with zeros to a multiple of
// `padding`, so that what lies beyond their ends adds nothing.
struct SpanWeights {
  static constexpr int padding = 64;

  int hidden = 0;   // as given
  int columns = 0;  // as given
  int depth = 0;    // hidden, padded
  int width = 0;    // columns, padded
  float epsilon = 0;
  std::vector<float> bias, scale, shift;  // (depth)
  std::vector<float> weight;              // (width / padding, hidden, padding)
  std::vector<float> offset;              // (width)

  static int padded(int size) { return (size + padding - 1) / padding * padding; }
};

// One sentence of n words.
struct SpanTask {
  const SpanWeights* weights;
  const float* posts;  // (n + 1, hidden), of no mean
  int n;
  float* rows;  // (n (n + 1) / 2, columns)
};

// `sentences` on so many threads.
template <class Run>
void score_spans(const std::vector<SpanTask>& sentences, int threads, Run run) {
  run_parallel(static_cast<int>(sentences.size()), threads,
               [&] { return [&](int b) { run(sentences[b]); }; });
}

}  // namespace treewright
