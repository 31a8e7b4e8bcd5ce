// Inside-outside in the domain of probabilities, for a group of sentences at once: what every
// label over every span weighs, below it and around it. Layout and blocks are those of the dense
// pass of best scores (layout.hpp, program.hpp), with sums of products for maxima of sums.
//
//     v[p][i, j]        = sum over splits of inside[i, k, a_p] * inside[k, j, b_p]
//     inside[i, j, l]   = exp(s[i, j, l]) * sum over rules l -> a b of weight * v[pair]
//     posterior         = inside * outside
//
// Numbers are kept in range by a power of two for each span, in `exponents`: the largest inside
// number of a span lies between 2^256 and 2^257 of its units. What falls short of that by a factor
// of about 2^700 would underflow. It does not vanish: to every number that is not truly impossible
// `speck` is added, which is more than whatever underflow can take from it. So inside numbers are
// never too small, and the derivations that pass through a speck weigh at least what is wrong.
// Their share, the sum over all spans and labels of speck * outside, is left in
// MarginalsSum::lost: the caller believes the answer if that is small, and takes logs if not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chart.hpp"
#include "lane_arithmetic.hpp"
#include "lanes.hpp"
#include "marginals_task.hpp"

namespace treewright::TREEWRIGHT_ISA {

template <class Real>
class MarginalsPass {
  using Vector = Doubles;
  static constexpr int W = Vector::width;

  // Numbers of a span reach 2^257, those of a split 2^-256, so a product lost to underflow is
  // below 2^(514 - 1022); a speck is more than the 2^60 of them that no sentence and grammar have.
  static constexpr double top_exponent = 256;
  static constexpr double speck = 0x1p-440;
  static constexpr double least_exponential = 0x1p-1000;
  static constexpr double impossible_exponent = -1e300;

 public:
  explicit MarginalsPass(const MarginalsTask<Real>& task) : task_(task) {}

  void run() {
    clear();
    for (int length = 1; length <= task_.n; ++length) {
      for (int q = 0; q * W < slots(length); ++q) {
        const Vector scale = load_exponentials(length, q);
        if (length == 1) {
          one_word(q, scale);
        } else {
          point_at_children(length, q);
          sum_pairs(length);
          many_words(length, q, scale);
        }
      }
    }
    start_outside();
    lost_ = Vector::splat(0);
    for (int length = task_.n; length >= 1; --length) {
      for (int q = 0; q * W < slots(length); ++q) {
        finish_cell(length, q);
        if (length > 1) {
          point_at_children(length, q);
          if (task_.counts != nullptr) count_rules(length);
          spread(length);
        }
      }
    }
    finish();
  }

 private:
  int slots(int length) const { return (task_.n - length + 1) * task_.group; }
  std::ptrdiff_t cell(int length, int q) const {
    return task_.diagonal[length] + q * task_.vector_stride;
  }
  std::ptrdiff_t scale_cell(int length, int q) const { return task_.cell_diagonal[length] + q * W; }
  std::ptrdiff_t row(int label) const { return label * task_.label_stride; }
  int left_row() const { return task_.columns; }
  int right_row() const { return task_.columns + 1; }

  // Vectors at the end of a diagonal are read beyond it, where nothing may be NaN.
  void clear() {
    const Vector zero = Vector::splat(0);
    for (std::ptrdiff_t x = 0; x < task_.size; x += W) zero.store(task_.outside + x);
    if (!task_.blocked) {
      for (std::ptrdiff_t x = 0; x < task_.size; x += W) zero.store(task_.inside + x);
    }
  }

  // The span under every lane of a vector: present, i, sentence.
  template <class Visit>
  TREEWRIGHT_INLINE void visit_lanes(int length, int q, Visit visit) {
    const int slot = q * W;
    int i = slot / task_.group;
    int b = slot - i * task_.group;
    for (int lane = 0; lane < W; ++lane) {
      const bool present = b < task_.count && i + length <= task_.sentences[b].n;
      visit(lane, present, i, b);
      if (++b == task_.group) b = 0, ++i;
    }
  }

  // exp(score) of every label that may stand there, over a power of two, which is returned.
  Vector load_exponentials(int length, int q) {
    const Real* rows[W];
    visit_lanes(length, q, [&](int lane, bool present, int i, int b) {
      rows[lane] = present ? task_.sentences[b].cell(i, i + length) : task_.impossible_row;
    });
    const int columns = task_.columns;
    const Vector log2_e = Vector::splat(1.4426950408889634);
    Vector largest = Vector::impossible();
    if (columns < W) {
      for (int l = 0; l < columns; ++l) {
        double lanes[W];
        for (int lane = 0; lane < W; ++lane) lanes[lane] = rows[lane][l];
        const Vector x = Vector::load(lanes) * log2_e;
        x.store(task_.turned + l * W);
      }
    } else {
      for (int l = 0; l < columns; l += W) {
        if (l + W > columns) l = columns - W;
        Vector x[W];
        TREEWRIGHT_UNROLL
        for (int c = 0; c < W; ++c) x[c] = load_doubles(rows[c] + l);
        turn(x);
        TREEWRIGHT_UNROLL
        for (int c = 0; c < W; ++c) (x[c] * log2_e).store(task_.turned + (l + c) * W);
      }
    }
    const std::uint8_t* stands = length == 1 ? task_.over_one : task_.over_many;
    for (int l = 0; l < columns; ++l) {
      if (stands[l]) largest = max(largest, Vector::load(task_.turned + l * W));
    }
    // Out of these bounds nothing is exact any more, and specks will show that.
    const Vector bound = Vector::splat(0x1p50);
    const Vector zero = Vector::splat(0);
    Vector scale = nearest(max(largest, zero - bound));
    scale = where_above(largest, bound, bound, scale);
    double* out = task_.exponentials + cell(length, q);
    for (int l = 0; l < columns; ++l) {
      if (!stands[l]) continue;
      const Vector x = Vector::load(task_.turned + l * W);
      const Vector possible = max(exp2(x - scale), Vector::splat(least_exponential));
      where_above(x, Vector::impossible(), possible, zero).store(out + row(l));
    }
    return scale;
  }

  void one_word(int q, Vector scale) {
    const double* exponentials = task_.exponentials + cell(1, q);
    double* inside = task_.inside + cell(1, q);
    const Vector zero = Vector::splat(0);
    Vector largest = zero;
    for (int l = 0; l < task_.columns; ++l) {
      Vector value = zero;
      if (task_.word_weights[l] > 0) {
        const Vector x = Vector::load(exponentials + row(l));
        value = multiply_add(x, Vector::splat(task_.word_weights[l] * 0x1p256),
                             where_above(x, zero, Vector::splat(speck), zero));
      }
      value.store(inside + row(l));
      largest = max(largest, value);
    }
    normalize(1, q, largest, scale - Vector::splat(top_exponent));
  }

  // Where the children of a vector of spans lie, and 2^-256 times the units of the split's two
  // over those of the best split's, whose exponent is kept in base_.
  TREEWRIGHT_INLINE void point_at_children(int length, int q) {
    const std::ptrdiff_t right_step =
        task_.blocked ? task_.group / W * task_.vector_stride : task_.group;
    std::ptrdiff_t right = q * task_.vector_stride;
    std::ptrdiff_t right_scale = q * W;
    base_ = Vector::splat(impossible_exponent);
    for (int d = 1; d < length; ++d) {
      right += right_step;
      right_scale += task_.group;
      task_.left[d] = task_.diagonal[d] + q * task_.vector_stride;
      task_.right[d] = task_.diagonal[length - d] + right;
      const Vector sum =
          Vector::load(task_.exponents + scale_cell(d, q)) +
          Vector::load(task_.exponents + task_.cell_diagonal[length - d] + right_scale);
      sum.store(task_.splits + d * W);
      base_ = max(base_, sum);
    }
    const Vector offset = base_ + Vector::splat(top_exponent);
    for (int d = 1; d < length; ++d) {
      double* split = task_.splits + d * W;
      power_of_two(max(Vector::load(split) - offset, Vector::splat(-1023))).store(split);
    }
  }

  template <class Work>
  TREEWRIGHT_INLINE void for_each_block(int length, Work& work) {
    for (int b = 0; b < task_.n_blocks; ++b) {
      const Block& block = task_.blocks[b];
      const std::ptrdiff_t* hubs = block.hubs_left ? task_.left : task_.right;
      const std::ptrdiff_t* spokes = block.hubs_left ? task_.right : task_.left;
      const int first = block.reach.first(length);
      const int last = block.reach.last(length);
      std::int32_t hub = block.first_hub;
      std::int32_t slot = block.first_slot;
      for (int units = block.units; units > 0;) {
        const int taken = block.loose || units < Work::most_stars ? 1 : Work::most_stars;
        if (block.loose) {
          work.template run<unit, 1>(hubs, spokes, first, last, hub, slot);
        } else if (taken == 1) {
          work.template run<1, unit>(hubs, spokes, first, last, hub, slot);
        } else {
          work.template run<Work::most_stars, unit>(hubs, spokes, first, last, hub, slot);
        }
        units -= taken;
        hub += block.loose ? unit : taken;
        slot += taken * unit;
      }
    }
  }

  // v[p] of a block.
  struct SumPairs {
#if defined(TREEWRIGHT_AVX512) || defined(TREEWRIGHT_NEON)
    static constexpr int most_stars = 6;
#else
    static constexpr int most_stars = 3;
#endif
    const MarginalsTask<Real>& task;

    template <int n_hubs, int n_spokes>
    void run(const std::ptrdiff_t* hubs, const std::ptrdiff_t* spokes, int first, int last,
             std::int32_t hub, std::int32_t slot) {
      constexpr int P = n_hubs * n_spokes;
      const std::uint32_t* hub_offsets = task.hub_offsets + hub;
      const std::uint32_t* spoke_offsets = task.spoke_offsets + slot;
      Vector sums[P];
      TREEWRIGHT_UNROLL
      for (int p = 0; p < P; ++p) sums[p] = Vector::splat(0);
      for (int d = first; d <= last; ++d) {
        const Vector split = Vector::load(task.splits + d * W);
        const double* from = task.inside + hubs[d];
        const double* to = task.inside + spokes[d];
        TREEWRIGHT_UNROLL
        for (int h = 0; h < n_hubs; ++h) {
          const Vector shared = Vector::load(from + hub_offsets[h]) * split;
          TREEWRIGHT_UNROLL
          for (int s = 0; s < n_spokes; ++s) {
            const int p = h * n_spokes + s;
            sums[p] = multiply_add(Vector::load(to + spoke_offsets[p]), shared, sums[p]);
          }
        }
      }
      double* out = task.pairs + static_cast<std::ptrdiff_t>(slot) * W;
      TREEWRIGHT_UNROLL
      for (int p = 0; p < P; ++p) sums[p].store(out + p * W);
    }
  };

  // What is around a span goes to its children: what is around the pair, times the other child.
  struct SpreadPairs {
#if defined(TREEWRIGHT_AVX512) || defined(TREEWRIGHT_NEON)
    static constexpr int most_stars = 5;
#else
    static constexpr int most_stars = 2;
#endif
    const MarginalsTask<Real>& task;

    template <int n_hubs, int n_spokes>
    void run(const std::ptrdiff_t* hubs, const std::ptrdiff_t* spokes, int first, int last,
             std::int32_t hub, std::int32_t slot) {
      constexpr int P = n_hubs * n_spokes;
      const std::uint32_t* hub_offsets = task.hub_offsets + hub;
      const std::uint32_t* spoke_offsets = task.spoke_offsets + slot;
      const double* around_pairs = task.around_pairs + static_cast<std::ptrdiff_t>(slot) * W;
      Vector around[P];
      TREEWRIGHT_UNROLL
      for (int p = 0; p < P; ++p) around[p] = Vector::load(around_pairs + p * W);
      for (int d = first; d <= last; ++d) {
        const Vector split = Vector::load(task.splits + d * W);
        TREEWRIGHT_UNROLL
        for (int h = 0; h < n_hubs; ++h) {
          const std::ptrdiff_t hub_at = hubs[d] + hub_offsets[h];
          const Vector shared = Vector::load(task.inside + hub_at) * split;
          Vector around_hub = Vector::splat(0);
          // One after the other, as gaps in a block repeat a pair (with nothing around it).
          TREEWRIGHT_UNROLL
          for (int s = 0; s < n_spokes; ++s) {
            const int p = h * n_spokes + s;
            const std::ptrdiff_t at = spokes[d] + spoke_offsets[p];
            around_hub = multiply_add(around[p], Vector::load(task.inside + at), around_hub);
            multiply_add(around[p], shared, Vector::load(task.outside + at))
                .store(task.outside + at);
          }
          multiply_add(around_hub, split, Vector::load(task.outside + hub_at))
              .store(task.outside + hub_at);
        }
      }
    }
  };

  TREEWRIGHT_INLINE void sum_pairs(int length) {
    SumPairs work{task_};
    for_each_block(length, work);
  }

  TREEWRIGHT_INLINE Vector sum_rules(std::ptrdiff_t rule, int count, Vector sum) {
    Vector other = Vector::splat(0);
    int r = 0;
    for (; r + 1 < count; r += 2) {
      sum = multiply_add(weight(rule + r), pair(rule + r), sum);
      other = multiply_add(weight(rule + r + 1), pair(rule + r + 1), other);
    }
    if (r < count) sum = multiply_add(weight(rule + r), pair(rule + r), sum);
    return sum + other;
  }
  TREEWRIGHT_INLINE Vector weight(std::ptrdiff_t rule) {
    return Vector::splat(task_.rule_weights[rule]);
  }
  TREEWRIGHT_INLINE Vector pair(std::ptrdiff_t rule) {
    return Vector::load(task_.pairs + task_.rule_offsets[rule]);
  }

  // Calls visit(label, first rule, number of rules) for all that stand over two words or more.
  template <class Visit>
  TREEWRIGHT_INLINE void visit_parents(Visit visit) {
    const std::int32_t* parent = task_.parents;
    std::ptrdiff_t rule = 0;
    for (int run = 0; run < task_.n_runs; ++run) {
      const int rules = task_.runs[run].rules;
      for (int p = task_.runs[run].parents; p > 0; --p, ++parent, rule += rules) {
        visit(*parent, rule, rules);
      }
    }
  }

  void many_words(int length, int q, Vector scale) {
    const double* exponentials = task_.exponentials + cell(length, q);
    double* inside = task_.inside + cell(length, q);
    const Vector zero = Vector::splat(0);
    Vector unlicensed = zero;
    if (task_.any_children >= 0) {
      unlicensed =
          Vector::load(task_.pairs + task_.any_children) * Vector::splat(task_.unlicensed_weight);
    }
    for (int l = 0; l < task_.n_absent; ++l) zero.store(inside + row(task_.absent[l]));
    Vector largest = zero;
    visit_parents([&](int l, std::ptrdiff_t rule, int rules) {
      const Vector x = Vector::load(exponentials + row(l));
      const Vector below =
          multiply_add(x, sum_rules(rule, rules, unlicensed), Vector::splat(speck));
      const Vector value = where_above(x, zero, below, zero);
      value.store(inside + row(l));
      largest = max(largest, value);
    });
    normalize(length, q, largest, base_ + Vector::splat(top_exponent) + scale);
  }

  // Brings the largest number up to 2^256, and adds up the two rows of all children.
  TREEWRIGHT_INLINE void normalize(int length, int q, Vector largest, Vector exponent) {
    double* inside = task_.inside + cell(length, q);
    const Vector zero = Vector::splat(0);
    const Vector shift =
        where_above(largest, zero, Vector::splat(top_exponent) - exponent_of(largest), zero);
    const Vector factor = power_of_two(shift);
    factor.store(task_.shifts + scale_cell(length, q));
    where_above(largest, zero, exponent - shift, Vector::splat(impossible_exponent))
        .store(task_.exponents + scale_cell(length, q));
    Vector left = zero;
    Vector right = zero;
    for (int l = 0; l < task_.columns; ++l) {
      const Vector value = Vector::load(inside + row(l)) * factor;
      value.store(inside + row(l));
      left = left + value;
      if (task_.kinds[l] != Kind::mark) right = right + value;
    }
    left.store(inside + row(left_row()));
    right.store(inside + row(right_row()));
  }

  // Around the whole sentence there is what its root weighs, over the sum of all derivations.
  void start_outside() {
    for (int b = 0; b < task_.count; ++b) {
      const int n = task_.sentences[b].n;
      const std::ptrdiff_t whole = cell(n, 0) + b;
      double sum = 0;
      for (int l = 0; l < task_.columns; ++l) {
        sum += task_.root_weights[l] * task_.inside[whole + row(l)];
      }
      const double exponent = task_.exponents[scale_cell(n, 0) + b];
      task_.sums[b] = {sum, exponent, 0};
      if (!(sum > 0)) continue;
      for (int l = 0; l < task_.columns; ++l) {
        if (task_.inside[whole + row(l)] > 0) {
          task_.outside[whole + row(l)] += task_.root_weights[l] / sum;
        }
      }
    }
  }

  // All that is around these spans has been added up: finds the posteriors, and what is around
  // the pairs of children.
  void finish_cell(int length, int q) {
    const double* inside = task_.inside + cell(length, q);
    const double* exponentials = task_.exponentials + cell(length, q);
    double* outside = task_.outside + cell(length, q);
    const Vector zero = Vector::splat(0);
    const Vector factor = Vector::load(task_.shifts + scale_cell(length, q));
    const Vector as_left = Vector::load(outside + row(left_row()));
    const Vector as_right = Vector::load(outside + row(right_row()));
    const Vector as_either = as_left + as_right;
    Vector total = zero;
    for (int l = 0; l < task_.columns; ++l) {
      const Vector below = Vector::load(inside + row(l));
      const Vector role = task_.kinds[l] == Kind::mark ? as_left : as_either;
      // What is impossible has nothing around it, lest it be infinitely much.
      const Vector around = where_above(below, zero, Vector::load(outside + row(l)) + role, zero);
      around.store(outside + row(l));
      (below * around).store(task_.turned + l * W);
      total = total + around;
    }
    lost_ = multiply_add(total * factor, Vector::splat(2 * speck), lost_);
    write_posteriors(length, q);
    if (length == 1) return;

    for (std::ptrdiff_t p = 0; p < task_.n_pairs; p += W) zero.store(task_.around_pairs + p);
    Vector around_any = zero;
    visit_parents([&](int l, std::ptrdiff_t rule, int rules) {
      const Vector around =
          Vector::load(outside + row(l)) * Vector::load(exponentials + row(l)) * factor;
      around_any = around_any + around;
      around.store(task_.turned + l * W);
      for (int r = 0; r < rules; ++r) {
        double* at = task_.around_pairs + task_.rule_offsets[rule + r];
        multiply_add(weight(rule + r), around, Vector::load(at)).store(at);
      }
    });
    if (task_.any_children >= 0) {
      double* at = task_.around_pairs + task_.any_children;
      multiply_add(Vector::splat(task_.unlicensed_weight), around_any, Vector::load(at)).store(at);
    }
  }

  void write_posteriors(int length, int q) {
    double* rows[W];
    visit_lanes(length, q, [&](int lane, bool present, int i, int b) {
      const std::ptrdiff_t n = task_.count > b ? task_.sentences[b].n : 0;
      const std::ptrdiff_t span = i * n - static_cast<std::ptrdiff_t>(i) * (i - 1) / 2 + length - 1;
      rows[lane] = present ? task_.posteriors[b] + span * task_.columns : nullptr;
    });
    const int columns = task_.columns;
    if (columns < W) {
      for (int lane = 0; lane < W; ++lane) {
        if (rows[lane] == nullptr) continue;
        for (int l = 0; l < columns; ++l) rows[lane][l] = task_.turned[l * W + lane];
      }
      return;
    }
    for (int l = 0; l < columns; l += W) {
      if (l + W > columns) l = columns - W;
      Vector x[W];
      TREEWRIGHT_UNROLL
      for (int c = 0; c < W; ++c) x[c] = Vector::load(task_.turned + (l + c) * W);
      turn(x);
      TREEWRIGHT_UNROLL
      for (int lane = 0; lane < W; ++lane) {
        if (rows[lane] != nullptr) x[lane].store(rows[lane] + l);
      }
    }
  }

  // How often each rule is used as a licensed step; finish_cell() has left what is around each
  // label's children in `turned`.
  void count_rules(int length) {
    sum_pairs(length);
    visit_parents([&](int l, std::ptrdiff_t rule, int rules) {
      const Vector around = Vector::load(task_.turned + l * W);
      for (int r = 0; r < rules; ++r) {
        double* count =
            task_.counts + static_cast<std::ptrdiff_t>(task_.rule_indices[rule + r]) * W;
        const Vector full = Vector::splat(task_.full_rule_weights[rule + r]);
        multiply_add(full * around, pair(rule + r), Vector::load(count)).store(count);
      }
    });
  }

  TREEWRIGHT_INLINE void spread(int length) {
    SpreadPairs work{task_};
    for_each_block(length, work);
  }

  void finish() {
    double lanes[W];
    lost_.store(lanes);
    for (int lane = 0; lane < W; ++lane) {
      const int b = lane % task_.group;
      if (b < task_.count) task_.sums[b].lost += lanes[lane];
    }
  }

  const MarginalsTask<Real>& task_;
  Vector base_ = Vector::splat(0);
  Vector lost_ = Vector::splat(0);
};

template <class Real>
void run_marginals(const MarginalsTask<Real>& task) {
  MarginalsPass<Real>(task).run();
}

}  // namespace treewright::TREEWRIGHT_ISA
