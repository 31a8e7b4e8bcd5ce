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

// Accumulators take most of the registers: 24 of 32, or 12 of 16.
#if defined(TREEWRIGHT_AVX512) || defined(TREEWRIGHT_NEON)
constexpr int max_units = 6;
#else
constexpr int max_units = 3;
#endif

// What is maximised: a score ...
template <class Real>
struct Scored {
  using Vector = Lanes<Real>;
  static constexpr int planes = 1;
  static constexpr int registers = 1;
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
  static constexpr int registers = 2;
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

 public:
  explicit InsidePass(const InsideTask<Real>& task)
      : task_(task), minus_penalty_(Vector::splat(-task.penalty)) {}

  // False if a score is NaN or +infinity; then the rest has no meaning.
  //
  // Children first, row after row from the last: a chart is then read in its own order, and the
  // children of one span are mostly those of the next, still in the cache. Where lanes run along
  // the diagonal, a row is as many rows as a vector holds; the lanes of their shorter spans that
  // would begin beyond the sentence hold anything, which nothing reads.
  bool run() {
    if (task_.group % W == 0) {
      const int vectors = task_.group / W;  // of one span
      for (int i = task_.n - 1; i >= 0; --i) {
        for (int length = 1; i + length <= task_.n; ++length) {
          for (int q = i * vectors; q < (i + 1) * vectors; ++q) do_vector(length, q);
        }
      }
    } else {
      for (int q = (task_.n * task_.group - 1) / W; q >= 0; --q) {
        for (int length = 1; q * W < (task_.n - length + 1) * task_.group; ++length) {
          do_vector(length, q);
        }
      }
    }
    return valid_;
  }

 private:
  TREEWRIGHT_INLINE void do_vector(int length, int q) {
    load_scores(length, q);
    if (length == 1) {
      one_word(q);
    } else {
      point_at_children(length, q);
      best_pairs(length);
      many_words(length, q);
    }
  }

  // The chart's scores of one vector of spans, turned so that each label's lie side by side.
  TREEWRIGHT_INLINE void load_scores(int length, int q) {
    const Real* rows[W];
    const Real* next[W];  // what is wanted next, mostly; only to be fetched ahead
    int slot = q * W;
    int i = slot / task_.group;
    int b = slot - i * task_.group;
    for (int lane = 0; lane < W; ++lane) {
      const bool present = b < task_.count && i + length <= task_.sentences[b].n;
      rows[lane] = present ? task_.sentences[b].cell(i, i + length) : task_.impossible_row;
      next[lane] = present ? rows[lane] + task_.sentences[b].end_stride : task_.impossible_row;
      if (++b == task_.group) b = 0, ++i;
    }
    const int columns = task_.columns;
    const Vector infinity = Vector::splat(std::numeric_limits<Real>::infinity());
    if (columns < W) {
      for (int l = 0; l < columns; ++l) {
        for (int lane = 0; lane < W; ++lane) task_.turned[l * W + lane] = rows[lane][l];
        valid_ &= all_less(Vector::load(task_.turned + l * W), infinity);
      }
      return;
    }
    for (int l = 0; l < columns; l += W) {
      if (l + W > columns) l = columns - W;
      for (int lane = 0; lane < W; ++lane) TREEWRIGHT_PREFETCH(next[lane] + l);
      Vector turned[W];
      load_transposed<Real>(rows, l, turned);
      TREEWRIGHT_UNROLL
      for (int c = 0; c < W; ++c) {
        valid_ &= all_less(turned[c], infinity);
        turned[c].store(task_.turned + (l + c) * W);
      }
    }
  }

  TREEWRIGHT_INLINE void put(Real* cell, int label, Value value) {
    value.store(cell + label * task_.label_stride, task_.plane);
  }

  TREEWRIGHT_INLINE void put_sets(Real* cell) {
    const std::ptrdiff_t plane = task_.plane;
    const std::uint32_t* member = task_.set_offsets;
    for (int set = 0; set < task_.n_sets; ++set) {
      const std::uint32_t* end = task_.set_offsets + task_.set_first[set + 1];
      Value best = max(Value::load(cell + member[0], plane), Value::load(cell + member[1], plane));
      for (member += 2; member < end; ++member)
        best = max(best, Value::load(cell + *member, plane));
      put(cell, task_.columns + 2 + set, best);
    }
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
    put_sets(cell);
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
    for (int b = 0; b < task_.n_blocks; ++b) {
      const Block& block = task_.blocks[b];
      int units = block.units;
      std::int32_t hub = block.first_hub;
      std::int32_t slot = block.first_slot;
      for (; units * Value::registers > max_units; --units) {  // what the registers do not hold
        accumulate(block, 1, length, hub, slot);
        hub += block.loose ? unit : 1;
        slot += unit;
      }
      accumulate(block, units, length, hub, slot);
    }
  }

  TREEWRIGHT_INLINE void accumulate(const Block& block, int units, int length, std::int32_t hub,
                                    std::int32_t slot) {
    const Real* const* hubs = block.hubs_left ? task_.left : task_.right;
    const Real* const* spokes = block.hubs_left ? task_.right : task_.left;
    const int first = block.reach.first(length);
    const int last = block.reach.last(length);
    switch (block.loose ? units + max_units : units) {
#define TREEWRIGHT_CASE(units)                                                  \
  case units:                                                                   \
    return accumulate_units<units, unit>(hubs, spokes, first, last, hub, slot); \
  case units + max_units:                                                       \
    return accumulate_units<units * unit, 1>(hubs, spokes, first, last, hub, slot);
      TREEWRIGHT_CASE(1)
      TREEWRIGHT_CASE(2)
      TREEWRIGHT_CASE(3)
#if defined(TREEWRIGHT_AVX512) || defined(TREEWRIGHT_NEON)
      TREEWRIGHT_CASE(4)
      TREEWRIGHT_CASE(5)
      TREEWRIGHT_CASE(6)
#endif
#undef TREEWRIGHT_CASE
    }
  }

  template <int n_hubs, int n_spokes>
  void accumulate_units(const Real* const* hubs, const Real* const* spokes, int first, int last,
                        std::int32_t hub, std::int32_t slot) {
    constexpr int P = n_hubs * n_spokes;
    const std::uint32_t* hub_offsets = task_.hub_offsets + hub;
    const std::uint32_t* spoke_offsets = task_.spoke_offsets + slot;
    const std::ptrdiff_t plane = task_.plane;
    Value best[P];
    TREEWRIGHT_UNROLL
    for (int p = 0; p < P; ++p) best[p] = Value::impossible();
    for (int d = first; d <= last; ++d) {
      TREEWRIGHT_UNROLL
      for (int h = 0; h < n_hubs; ++h) {
        const Value shared = Value::load(hubs[d] + hub_offsets[h], plane);
        TREEWRIGHT_UNROLL
        for (int s = 0; s < n_spokes; ++s) {
          const int p = h * n_spokes + s;
          best[p] = max(best[p], Value::load(spokes[d] + spoke_offsets[p], plane) + shared);
        }
      }
    }
    Real* out = task_.pairs + static_cast<std::ptrdiff_t>(slot) * W;
    TREEWRIGHT_UNROLL
    for (int p = 0; p < P; ++p) best[p].store(out + p * W, task_.pairs_plane);
  }

  TREEWRIGHT_INLINE Value rule_value(std::ptrdiff_t rule) {
    const Value value = Value::load(task_.pairs + task_.rule_offsets[rule], task_.pairs_plane);
    return scored ? value.plus(Vector::splat(task_.rule_scores[rule])) : value;
  }

  TREEWRIGHT_INLINE Value best_rule(std::ptrdiff_t rule, int count, Value unlicensed) {
    Value best = unlicensed;
    if (count < 4) {
      for (int r = 0; r < count; ++r) best = max(best, rule_value(rule + r));
      return best;
    }
    Value others[4] = {best, rule_value(rule + 1), rule_value(rule + 2), rule_value(rule + 3)};
    others[0] = max(others[0], rule_value(rule));
    for (int r = 4; r < count; r += 4) {
      TREEWRIGHT_UNROLL
      for (int x = 0; x < 4; ++x) others[x] = max(others[x], rule_value(rule + r + x));
    }
    return max(max(others[0], others[1]), max(others[2], others[3]));
  }

  void many_words(int length, int q) {
    Real* cell = task_.inside + task_.diagonal[length] + q * task_.vector_stride;
    Value unlicensed = Value::impossible();
    if (soft) {
      unlicensed = Value::load(task_.pairs + task_.any_children, task_.pairs_plane)
                       .plus_violation(minus_penalty_);
    }
    for (int l = 0; l < task_.n_absent; ++l) put(cell, task_.absent[l], Value::impossible());
    Value best_left = Value::impossible();
    Value best_right = Value::impossible();
    const std::int32_t* parent = task_.parents;
    std::ptrdiff_t rule = 0;
    for (int run = 0; run < task_.n_runs; ++run) {
      const int rules = task_.runs[run].rules;
      for (int p = task_.runs[run].parents; p > 0; --p, ++parent, rule += rules) {
        const Value best =
            best_rule(rule, rules, unlicensed).plus(Vector::load(task_.turned + *parent * W));
        put(cell, *parent, best);
        best_left = max(best_left, best);
        if (task_.kinds[*parent] != Kind::mark) best_right = max(best_right, best);
      }
    }
    put(cell, task_.columns, best_left);
    put(cell, task_.columns + 1, best_right);
    put_sets(cell);
  }

  const InsideTask<Real>& task_;
  const Vector minus_penalty_;
  bool valid_ = true;
};

template <class Real>
bool run_inside(const InsideTask<Real>& task) {
  const bool scored = task.rule_scores != nullptr;
  if (task.rules == Rules::hard) {
    return scored ? InsidePass<Scored<Real>, Real, false, true>(task).run()
                  : InsidePass<Scored<Real>, Real, false, false>(task).run();
  }
  if (task.rules == Rules::soft) {
    return scored ? InsidePass<Scored<Real>, Real, true, true>(task).run()
                  : InsidePass<Scored<Real>, Real, true, false>(task).run();
  }
  return scored ? InsidePass<Counted<Real>, Real, true, true>(task).run()
                : InsidePass<Counted<Real>, Real, true, false>(task).run();
}

}  // namespace treewright::TREEWRIGHT_ISA
