// The dense rule-based pass: the best score of every label over every span, for a group of
// sentences at once. See layout.hpp for where the numbers lie and program.hpp for the blocks.
// Keeps no back-pointers; trace.hpp finds the tree again.
//
// Letters: W lanes of a vector, d words of the left child, q the q-th vector of a diagonal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "chart.hpp"
#include "inside_task.hpp"
#include "lanes.hpp"

namespace treewright::TREEWRIGHT_ISA {

// What is maximised: a score ...
template <class Real>
struct Scored {
  using Vector = Lanes<Real>;
  static constexpr int planes = 1;
  static constexpr int stars = TREEWRIGHT_STARS;  // of one block kept in registers at a time
  Vector score;

  static TREEWRIGHT_INLINE Scored impossible() { return {Vector::impossible()}; }
  static TREEWRIGHT_INLINE Scored of(Vector score) { return {score}; }
  static TREEWRIGHT_INLINE Scored load(const Real* from, std::ptrdiff_t) {
    return {Vector::load(from)};
  }
  TREEWRIGHT_INLINE void store(Real* to, std::ptrdiff_t) const { score.store(to); }
  TREEWRIGHT_INLINE Scored plus(Vector x) const { return {score + x}; }
  TREEWRIGHT_INLINE Scored plus_violation(Vector minus_penalty) const {
    return {score + minus_penalty};
  }
  friend TREEWRIGHT_INLINE Scored operator+(Scored a, Scored b) { return {a.score + b.score}; }
  friend TREEWRIGHT_INLINE Scored max(Scored a, Scored b) { return {max(a.score, b.score)}; }
};

// ... or, for an infinite penalty, first the violations (counted downwards from zero, so that
// more is better), then the score. What has a score of -infinity has a count of -infinity.
template <class Real>
struct Counted {
  using Vector = Lanes<Real>;
  static constexpr int planes = 2;
  static constexpr int stars = 1;  // two registers a number: a whole block would not fit
  Vector count;
  Vector score;

  static TREEWRIGHT_INLINE Counted impossible() {
    return {Vector::impossible(), Vector::impossible()};
  }
  static TREEWRIGHT_INLINE Counted of(Vector score) { return {count_of(score), score}; }
  static TREEWRIGHT_INLINE Counted load(const Real* from, std::ptrdiff_t plane) {
    return {Vector::load(from + plane), Vector::load(from)};
  }
  TREEWRIGHT_INLINE void store(Real* to, std::ptrdiff_t plane) const {
    score.store(to);
    count.store(to + plane);
  }
  TREEWRIGHT_INLINE Counted plus(Vector x) const {
    return {count + count_of(score + x), score + x};
  }
  TREEWRIGHT_INLINE Counted plus_violation(Vector) const {
    return {count + Vector::splat(-1), score};
  }
  friend TREEWRIGHT_INLINE Counted operator+(Counted a, Counted b) {
    return {a.count + b.count, a.score + b.score};
  }
  friend TREEWRIGHT_INLINE Counted max(Counted a, Counted b) {
    const Vector count = max(a.count, b.count);
    return {count, max(where_equal(a.count, count, a.score), where_equal(b.count, count, b.score))};
  }

 private:
  static TREEWRIGHT_INLINE Vector count_of(Vector score) {
    const Vector lowest = Vector::splat(std::numeric_limits<Real>::lowest());
    return where_equal(max(score, lowest), score, Vector::splat(0));
  }
};

template <class Value, class Real, bool soft, bool scored>
class InsidePass {
  using Vector = Lanes<Real>;
  static constexpr int W = Vector::width;
  static constexpr int stars = TREEWRIGHT_STARS;
  static constexpr int members = TREEWRIGHT_MEMBERS;

 public:
  explicit InsidePass(const InsideTask<Real>& task)
      : task_(task), minus_penalty_(Vector::splat(-task.penalty)) {}

  void run() {
    for (int length = 1; length <= task_.n; ++length) {
      const int vectors = (task_.n - length + 1) * task_.group;
      for (int q = 0; q * W < vectors; ++q) {
        load_scores(length, q);
        if (length == 1) {
          one_word(q);
        } else {
          point_at_children(length, q);
          best_pairs(length);
          many_words(length, q);
        }
      }
    }
  }

 private:
  // The chart's scores of one vector of spans, turned so that each label's lie side by side.
  TREEWRIGHT_INLINE void load_scores(int length, int q) {
    const Real* rows[W];
    int slot = q * W;
    int i = slot / task_.group;
    int b = slot - i * task_.group;
    for (int lane = 0; lane < W; ++lane) {
      const bool present = b < task_.count && i + length <= task_.sentences[b].n;
      rows[lane] = present ? task_.sentences[b].cell(i, i + length) : task_.impossible_row;
      if (++b == task_.group) b = 0, ++i;
    }
    const int columns = task_.columns;
    if (columns < W) {
      for (int l = 0; l < columns; ++l) {
        for (int lane = 0; lane < W; ++lane) task_.turned[l * W + lane] = rows[lane][l];
      }
      return;
    }
    for (int l = 0; l < columns; l += W) {
      if (l + W > columns) l = columns - W;
      Vector turned[W];
      load_transposed<Real>(rows, l, turned);
      for (int c = 0; c < W; ++c) turned[c].store(task_.turned + (l + c) * W);
    }
  }

  TREEWRIGHT_INLINE void put(Real* cell, int label, Value value) {
    value.store(cell + label * task_.label_stride, task_.plane);
  }

  void one_word(int q) {
    Real* cell = task_.inside + task_.diagonal[1] + q * task_.vector_stride;
    Value best_left = Value::impossible();
    Value best_right = Value::impossible();
    for (int l = 0; l < task_.columns; ++l) {
      Value value = Value::impossible();
      if (task_.over_one[l]) {
        value = Value::of(Vector::load(task_.turned + l * W));
        if (soft && !task_.words[l]) value = value.plus_violation(minus_penalty_);
        best_left = max(best_left, value);
        best_right = max(best_right, value);
      }
      put(cell, l, value);
    }
    put(cell, task_.columns, best_left);
    put(cell, task_.columns + 1, best_right);
  }

  TREEWRIGHT_INLINE void point_at_children(int length, int q) {
    const Real* inside = task_.inside;
    const std::ptrdiff_t right_step =
        task_.group % W == 0 ? task_.group / W * task_.vector_stride : task_.group;
    std::ptrdiff_t right = q * task_.vector_stride;
    for (int d = 1; d < length; ++d) {
      right += right_step;
      task_.left[d] = inside + task_.diagonal[d] + q * task_.vector_stride;
      task_.right[d] = inside + task_.diagonal[length - d] + right;
    }
  }

  // v[p] for every pair, into task_.pairs.
  TREEWRIGHT_INLINE void best_pairs(int length) {
    for (int block = 0; block < task_.n_blocks; ++block) {
      const Block& shape = task_.blocks[block];
      const int first = shape.reach.first(length);
      const int last = shape.reach.last(length);
      const Real* const* hub = shape.shares_left ? task_.left : task_.right;
      const Real* const* spoke = shape.shares_left ? task_.right : task_.left;
      for (int star = 0; star < stars; star += Value::stars) {
        accumulate(hub, spoke, first, last, task_.shared_offsets + block * stars + star,
                   task_.member_offsets + (block * stars + star) * members,
                   task_.pairs + static_cast<std::ptrdiff_t>(block * stars + star) * members * W);
      }
    }
  }

  TREEWRIGHT_INLINE void accumulate(const Real* const* hub, const Real* const* spoke, int first,
                                    int last, const std::uint32_t* hub_offsets,
                                    const std::uint32_t* spoke_offsets, Real* out) {
    constexpr int S = Value::stars;
    Value best[S * members];
    for (int p = 0; p < S * members; ++p) best[p] = Value::impossible();
    for (int d = first; d <= last; ++d) {
      const Real* from = hub[d];
      const Real* to = spoke[d];
      for (int s = 0; s < S; ++s) {
        const Value shared = Value::load(from + hub_offsets[s], task_.plane);
        for (int m = 0; m < members; ++m) {
          const int p = s * members + m;
          best[p] = max(best[p], Value::load(to + spoke_offsets[p], task_.plane) + shared);
        }
      }
    }
    for (int p = 0; p < S * members; ++p) best[p].store(out + p * W, task_.pairs_plane);
  }

  TREEWRIGHT_INLINE Value rule_value(int rule) {
    const Value value = Value::load(task_.pairs + task_.rule_offsets[rule], task_.pairs_plane);
    return scored ? value.plus(Vector::splat(task_.rule_scores[rule])) : value;
  }

  void many_words(int length, int q) {
    Real* cell = task_.inside + task_.diagonal[length] + q * task_.vector_stride;
    Value unlicensed = Value::impossible();
    if (soft) {
      unlicensed = Value::load(task_.pairs + task_.any_children, task_.pairs_plane)
                       .plus_violation(minus_penalty_);
    }
    Value best_left = Value::impossible();
    Value best_right = Value::impossible();
    int label = 0;
    for (int parent = 0; parent < task_.n_parents; ++parent) {
      for (; label < task_.parents[parent]; ++label) put(cell, label, Value::impossible());
      Value best = unlicensed;
      Value other = Value::impossible();
      int rule = task_.first[parent];
      const int end = task_.first[parent + 1];
      for (; rule + 1 < end; rule += 2) {
        best = max(best, rule_value(rule));
        other = max(other, rule_value(rule + 1));
      }
      if (rule < end) best = max(best, rule_value(rule));
      best = max(best, other).plus(Vector::load(task_.turned + label * W));
      put(cell, label, best);
      best_left = max(best_left, best);
      if (task_.kinds[label] != Kind::mark) best_right = max(best_right, best);
      ++label;
    }
    for (; label < task_.columns; ++label) put(cell, label, Value::impossible());
    put(cell, task_.columns, best_left);
    put(cell, task_.columns + 1, best_right);
  }

  const InsideTask<Real>& task_;
  const Vector minus_penalty_;
};

template <class Real>
void run_inside(const InsideTask<Real>& task) {
  const bool scored = task.rule_scores != nullptr;
  switch (task.rules) {
    case Rules::hard:
      return scored ? InsidePass<Scored<Real>, Real, false, true>(task).run()
                    : InsidePass<Scored<Real>, Real, false, false>(task).run();
    case Rules::soft:
      return scored ? InsidePass<Scored<Real>, Real, true, true>(task).run()
                    : InsidePass<Scored<Real>, Real, true, false>(task).run();
    case Rules::fewest_violations:
      return scored ? InsidePass<Counted<Real>, Real, true, true>(task).run()
                    : InsidePass<Counted<Real>, Real, true, false>(task).run();
  }
}

}  // namespace treewright::TREEWRIGHT_ISA
