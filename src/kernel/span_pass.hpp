// The spans of one sentence scored in vectors; see span_scores.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lane_arithmetic.hpp"
#include "scratch.hpp"
#include "span_scores.hpp"

namespace treewright::TREEWRIGHT_ISA {

using Floats = Lanes<float>;

// Spans made together, and vectors of columns: as many sums as there are registers for.
constexpr int span_rows = 6;
constexpr int span_vectors = Floats::width == 16 ? 4 : 2;

TREEWRIGHT_INLINE float sum_of(Floats x) {
  constexpr int W = Floats::width;
  float parts[W];
  x.store(parts);
  for (int half = W / 2; half > 0; half /= 2) {
    for (int at = 0; at < half; ++at) parts[at] += parts[at + half];
  }
  return parts[0];
}

// hidden = max(0, norm(post + begin) * scale + shift), `depth` numbers.
TREEWRIGHT_INLINE void hidden_of(const SpanWeights& weights, const float* post, const float* begin,
                                 float* hidden) {
  constexpr int W = Floats::width;
  Floats squares = Floats::splat(0), more = Floats::splat(0);
  for (int h = 0; h < weights.depth; h += 2 * W) {
    const Floats x = Floats::load(post + h) + Floats::load(begin + h);
    const Floats y = Floats::load(post + h + W) + Floats::load(begin + h + W);
    x.store(hidden + h);
    y.store(hidden + h + W);
    squares = multiply_add(x, x, squares);
    more = multiply_add(y, y, more);
  }
  const float variance = sum_of(squares + more) / static_cast<float>(weights.hidden);
  const Floats norm = Floats::splat(1 / std::sqrt(variance + weights.epsilon));
  for (int h = 0; h < weights.depth; h += W) {
    const Floats scale = Floats::load(weights.scale.data() + h) * norm;
    const Floats shift = Floats::load(weights.shift.data() + h);
    max(multiply_add(Floats::load(hidden + h), scale, shift), Floats::splat(0)).store(hidden + h);
  }
}

// `span_rows` spans by `span_vectors` vectors of columns, from `hidden` rows of `depth` numbers.
TREEWRIGHT_INLINE void multiply_tile(const SpanWeights& weights, const float* hidden,
                                     const float* weight, const float* offset, float* tile) {
  constexpr int W = Floats::width, C = span_vectors, R = span_rows;
  Floats sums[R][C];
  TREEWRIGHT_UNROLL
  for (int c = 0; c < C; ++c) {
    const Floats first = Floats::load(offset + c * W);
    TREEWRIGHT_UNROLL
    for (int r = 0; r < R; ++r) sums[r][c] = first;
  }
  for (int h = 0; h < weights.hidden; ++h) {
    Floats row[C];
    TREEWRIGHT_UNROLL
    for (int c = 0; c < C; ++c) {
      row[c] = Floats::load(weight + std::ptrdiff_t{h} * SpanWeights::padding + c * W);
    }
    TREEWRIGHT_UNROLL
    for (int r = 0; r < R; ++r) {
      const Floats x = Floats::splat(hidden[std::ptrdiff_t{r} * weights.depth + h]);
      TREEWRIGHT_UNROLL
      for (int c = 0; c < C; ++c) sums[r][c] = multiply_add(x, row[c], sums[r][c]);
    }
  }
  TREEWRIGHT_UNROLL
  for (int r = 0; r < R; ++r) {
    TREEWRIGHT_UNROLL
    for (int c = 0; c < C; ++c) sums[r][c].store(tile + r * C * W + c * W);
  }
}

inline void score_sentence(const SpanTask& task) {
  constexpr int step = Floats::width * span_vectors;
  static_assert(SpanWeights::padding % step == 0 &&
                SpanWeights::padding % (2 * Floats::width) == 0);
  const SpanWeights& weights = *task.weights;
  const int n = task.n, depth = weights.depth;
  const ArenaPool::Lease lease(ArenaPool::shared());
  Arena& arena = *lease;
  float* posts = arena.take<float>(std::ptrdiff_t{n + 1} * depth);
  for (int k = 0; k <= n; ++k) {
    float* post = posts + std::ptrdiff_t{k} * depth;
    const float* given = task.posts + std::ptrdiff_t{k} * weights.hidden;
    std::fill(std::copy(given, given + weights.hidden, post), post + depth, 0.0f);
  }
  float* begin = arena.take<float>(depth);
  float* hidden = arena.take<float>(std::ptrdiff_t{span_rows} * depth);
  float* tile = arena.take<float>(std::ptrdiff_t{span_rows} * step);
  std::fill(hidden, hidden + std::ptrdiff_t{span_rows} * depth, 0.0f);
  float* rows = task.rows;
  int made = 0;  // spans whose hidden numbers are there
  const auto multiply = [&] {
    for (int at = 0; at < weights.columns; at += step) {
      const int block = at / SpanWeights::padding, within = at % SpanWeights::padding;
      const float* weight = weights.weight.data() +
                            std::ptrdiff_t{block} * weights.hidden * SpanWeights::padding + within;
      multiply_tile(weights, hidden, weight, weights.offset.data() + at, tile);
      const auto bytes =
          sizeof(float) * static_cast<std::size_t>(std::min(step, weights.columns - at));
      for (int r = 0; r < made; ++r) {
        std::memcpy(rows + std::ptrdiff_t{r} * weights.columns + at, tile + r * step, bytes);
      }
    }
    rows += std::ptrdiff_t{made} * weights.columns;
    made = 0;
  };
  for (int i = 0; i < n; ++i) {
    const float* first = posts + std::ptrdiff_t{i} * depth;
    for (int h = 0; h < depth; ++h) begin[h] = weights.bias[static_cast<std::size_t>(h)] - first[h];
    for (int j = i + 1; j <= n; ++j) {
      hidden_of(weights, posts + std::ptrdiff_t{j} * depth, begin,
                hidden + std::ptrdiff_t{made} * depth);
      if (++made == span_rows) multiply();
    }
  }
  if (made > 0) multiply();
}

}  // namespace treewright::TREEWRIGHT_ISA
