// Inside-outside in logs, one number after the other: slow, and safe whatever the scores. For
// sentences that are out of the range of marginals_pass.hpp, and, under an infinite penalty, for
// those without a legal tree: only the derivations with the fewest violations weigh anything then.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "chart.hpp"
#include "grammar.hpp"

namespace treewright {

// The log of a weight, or nothing (-infinity); of two ranks, minus the violations, only the higher
// one counts.
struct LogWeight {
  double log;
  std::int32_t rank;

  bool possible() const { return log > -std::numeric_limits<double>::infinity(); }
  LogWeight operator+(const LogWeight& other) const { return {log + other.log, rank + other.rank}; }
};

constexpr LogWeight no_weight = {-std::numeric_limits<double>::infinity(), 0};

// Adds up weights as they come.
class LogSum {
 public:
  void add(LogWeight x) {
    if (!x.possible() || (sum_ > 0 && x.rank < rank_)) return;
    if (sum_ == 0 || x.rank > rank_) {
      *this = LogSum(x);
    } else if (x.log > top_) {
      sum_ = sum_ * std::exp(top_ - x.log) + 1;
      top_ = x.log;
    } else if (x.log > top_ - negligible) {
      sum_ += std::exp(x.log - top_);
    }
  }
  LogWeight total() const { return sum_ > 0 ? LogWeight{top_ + std::log(sum_), rank_} : no_weight; }

  LogSum() = default;

 private:
  explicit LogSum(LogWeight x) : top_(x.log), sum_(1), rank_(x.rank) {}

  static constexpr double negligible = 50;  // e^-50 is beyond the last place even a million times

  double top_ = 0;
  double sum_ = 0;
  std::int32_t rank_ = 0;
};

template <class Real>
class LogMarginals {
 public:
  // `penalty` may be infinite. Answers are in posteriors(n(n+1)/2, columns) and, unless null,
  // counts(rules), which must be zero.
  LogMarginals(const Grammar& grammar, const ChartView<Real>& chart, double penalty)
      : grammar_(grammar),
        chart_(chart),
        n_(chart.n),
        columns_(grammar.columns()),
        rows_(columns_ + 2),
        unlicensed_(std::isfinite(penalty) ? LogWeight{-penalty, 0} : LogWeight{0, -1}) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
      const double score = grammar.rule_score(static_cast<int>(r));
      const bool stands = grammar.kinds[grammar.pairs[grammar.rules[r].pair].right] != Kind::mark;
      const bool better = stands && score > -infinity && score >= -penalty;
      full_.push_back(better ? score : -infinity);
      // Beside the same step without a licence, which the sum over all children already holds.
      surplus_.push_back(better && std::isfinite(penalty)
                             ? score + std::log(-std::expm1(-penalty - score))
                             : full_.back());
    }
  }

  LogWeight run(double* posteriors, double* counts) {
    const std::size_t cells = static_cast<std::size_t>(n_) * (n_ + 1) / 2;
    std::fill_n(posteriors, cells * columns_, 0.0);
    inside_.assign(cells * rows_, no_weight);
    for (int length = 1; length <= n_; ++length) {
      for (int i = 0; i + length <= n_; ++i) fill_inside(i, i + length);
    }
    LogSum sum;
    for (int l = 0; l < columns_; ++l) sum.add(root(l) + inside(0, n_)[l]);
    total_ = sum.total();
    if (!total_.possible()) return total_;

    outside_.assign(cells * rows_, LogSum());
    for (int l = 0; l < columns_; ++l) outside(0, n_)[l].add(root(l));
    for (int length = n_; length >= 1; --length) {
      for (int i = 0; i + length <= n_; ++i) {
        const std::size_t cell = at(i, i + length);
        finish_cell(i, i + length, posteriors + cell * columns_, counts);
      }
    }
    return total_;
  }

 private:
  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * n_ - static_cast<std::size_t>(i) * (i - 1) / 2 + (j - i) -
           1;
  }
  LogWeight* inside(int i, int j) { return inside_.data() + at(i, j) * rows_; }
  LogSum* outside(int i, int j) { return outside_.data() + at(i, j) * rows_; }
  int left_row() const { return columns_; }
  int right_row() const { return columns_ + 1; }
  LogWeight score(int i, int j, int l) const {
    return {static_cast<double>(chart_.cell(i, j)[l]), 0};
  }
  LogWeight root(int l) const {
    if (!fits_root(grammar_.kinds[l], n_)) return no_weight;
    return grammar_.roots[l] ? LogWeight{0, 0} : unlicensed_;
  }

  void sum_pairs(int i, int j) {
    pairs_.assign(grammar_.pairs.size() + 1, LogSum());
    for (int k = i + 1; k < j; ++k) {
      const LogWeight* left = inside(i, k);
      const LogWeight* right = inside(k, j);
      for (std::size_t p = 0; p < grammar_.pairs.size(); ++p) {
        pairs_[p].add(left[grammar_.pairs[p].left] + right[grammar_.pairs[p].right]);
      }
      pairs_.back().add(left[left_row()] + right[right_row()]);
    }
    for (std::size_t p = 0; p < grammar_.pairs.size(); ++p) below_[p] = pairs_[p].total();
    below_any_ = pairs_.back().total();
  }

  void fill_inside(int i, int j) {
    LogWeight* cell = inside(i, j);
    LogSum left;
    LogSum right;
    if (j - i > 1) {
      below_.resize(grammar_.pairs.size());
      sum_pairs(i, j);
    }
    for (int l = 0; l < columns_; ++l) {
      if (!fits_left(grammar_.kinds[l], j - i)) continue;
      LogSum below;
      if (j - i == 1) {
        below.add(grammar_.words[l] ? LogWeight{0, 0} : unlicensed_);
      } else {
        below.add(below_any_ + unlicensed_);
        const int end = grammar_.first_rule(l + 1);
        for (int r = grammar_.first_rule(l); r < end; ++r) {
          below.add(below_[grammar_.rules[r].pair] + LogWeight{surplus_[r], 0});
        }
      }
      cell[l] = score(i, j, l) + below.total();
      left.add(cell[l]);
      if (fits_right(grammar_.kinds[l], j - i)) right.add(cell[l]);
    }
    cell[left_row()] = left.total();
    cell[right_row()] = right.total();
  }

  bool matters(LogWeight derivations) const {
    return derivations.rank == total_.rank && derivations.log > total_.log - negligible;
  }

  void finish_cell(int i, int j, double* posteriors, double* counts) {
    const LogWeight* cell = inside(i, j);
    LogSum* around = outside(i, j);
    around_pairs_.assign(grammar_.pairs.size() + 1, LogSum());
    if (j - i > 1 && counts != nullptr) sum_pairs(i, j);
    const LogWeight as_left = around[left_row()].total();
    const LogWeight as_right = around[right_row()].total();
    for (int l = 0; l < columns_; ++l) {
      if (!cell[l].possible()) continue;
      around[l].add(as_left);
      if (fits_right(grammar_.kinds[l], j - i)) around[l].add(as_right);
      const LogWeight here = around[l].total();
      if (!here.possible() || !matters(here + cell[l])) continue;
      posteriors[l] = std::exp(here.log + cell[l].log - total_.log);
      if (j - i == 1) continue;
      const LogWeight step = here + score(i, j, l);
      around_pairs_.back().add(step + unlicensed_);
      const int end = grammar_.first_rule(l + 1);
      for (int r = grammar_.first_rule(l); r < end; ++r) {
        const int pair = grammar_.rules[r].pair;
        around_pairs_[pair].add(step + LogWeight{surplus_[r], 0});
        if (counts == nullptr) continue;
        const LogWeight use = step + LogWeight{full_[r], 0} + below_[pair];
        if (use.possible() && matters(use)) counts[r] += std::exp(use.log - total_.log);
      }
    }
    if (j - i > 1) spread(i, j);
  }

  void spread(int i, int j) {
    const auto to_children = [&](LogWeight around, int a, int b) {
      if (!around.possible()) return;
      for (int k = i + 1; k < j; ++k) {
        const LogWeight left = inside(i, k)[a];
        const LogWeight right = inside(k, j)[b];
        const LogWeight all = around + left + right;
        if (!all.possible() || !matters(all)) continue;
        outside(i, k)[a].add(around + right);
        outside(k, j)[b].add(around + left);
      }
    };
    for (std::size_t p = 0; p < grammar_.pairs.size(); ++p) {
      to_children(around_pairs_[p].total(), grammar_.pairs[p].left, grammar_.pairs[p].right);
    }
    to_children(around_pairs_.back().total(), left_row(), right_row());
  }

  static constexpr double negligible = 70;

  const Grammar& grammar_;
  const ChartView<Real>& chart_;
  const int n_;
  const int columns_;
  const int rows_;
  const LogWeight unlicensed_;
  std::vector<double> full_;
  std::vector<double> surplus_;
  std::vector<LogWeight> inside_;
  std::vector<LogSum> outside_;
  std::vector<LogSum> pairs_;
  std::vector<LogSum> around_pairs_;
  std::vector<LogWeight> below_;
  LogWeight below_any_ = no_weight;
  LogWeight total_ = no_weight;
};

}  // namespace treewright
