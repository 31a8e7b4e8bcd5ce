// The obvious decoder: one loop inside the other, no vectors, no shortcuts. What the kernel is
// compared with; it adds the same numbers in the same order, so that equality is exact.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "chart.hpp"
#include "decode.hpp"
#include "grammar.hpp"
#include "trace.hpp"

namespace treewright::testing {

enum class Mode { free, hard, soft, fewest_violations };

template <class Real>
class Oracle {
 public:
  Oracle(const Grammar& grammar, const ChartView<Real>& chart, Mode mode, Real penalty)
      : grammar_(grammar), chart_(chart), mode_(mode), penalty_(penalty), L_(grammar.columns()) {
    rule_of_.assign(L_ * L_ * L_, -1);
    for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
      const Pair& pair = grammar.pairs[grammar.rules[r].pair];
      rule_of_[(grammar.rules[r].parent * L_ + pair.left) * L_ + pair.right] = static_cast<int>(r);
    }
    best_.assign((chart.n + 1) * (chart.n + 1) * L_, impossible());
    for (int length = 1; length <= chart.n; ++length) {
      for (int i = 0; i + length <= chart.n; ++i) fill(i, i + length);
    }
  }

  Found<Real> run(std::vector<Node>& nodes) const {
    int root = -1;
    for (int l = 0; l < L_; ++l) {
      if (!at_root(l).possible()) continue;
      if (root < 0 || at_root(root) < at_root(l)) root = l;
    }
    if (root < 0) return {impossible().score, false, false};
    trace(0, chart_.n, root, nodes);
    return {at_root(root).score, true, grammar_.roots[root] != 0};
  }

 private:
  static Worth<Real> impossible() {
    const Real infinity = std::numeric_limits<Real>::infinity();
    return {-infinity, -infinity};
  }

  // A step that the grammar has or has not.
  Worth<Real> step(Worth<Real> value, bool licensed) const {
    if (licensed || mode_ == Mode::free) return value;
    if (mode_ == Mode::hard) return impossible();
    if (mode_ == Mode::soft) value.score -= penalty_;
    if (mode_ == Mode::fewest_violations) value.count -= 1;
    return value;
  }

  static Worth<Real> plus(Worth<Real> value, Real score) {
    value.score += score;
    return value.possible() ? value : impossible();
  }

  Worth<Real> at_root(int l) const {
    if (!fits_root(grammar_.kinds[l], chart_.n)) return impossible();
    return step(best(0, chart_.n, l), grammar_.roots[l] != 0);
  }

  const Worth<Real>& best(int i, int j, int l) const {
    return best_[(i * (chart_.n + 1) + j) * L_ + l];
  }

  // Of l -> a b with the split at k, as a rule (if there is one) or against the rules.
  Worth<Real> combine(int i, int k, int j, int l, int a, int b, int& rule) const {
    rule = -1;
    if (!fits_left(grammar_.kinds[a], k - i) || !fits_right(grammar_.kinds[b], j - k)) {
      return impossible();
    }
    const Worth<Real> children = best(i, k, a) + best(k, j, b);
    if (!children.possible()) return impossible();
    const int known = rule_of_[(l * L_ + a) * L_ + b];
    Worth<Real> value = step(children, false);
    if (mode_ == Mode::free) {
      rule = known;
    } else if (known >= 0) {
      Worth<Real> with_rule = children;
      if (grammar_.scored()) with_rule.score += static_cast<Real>(grammar_.rule_scores[known]);
      if (!with_rule.possible()) with_rule = impossible();
      if (!(with_rule < value)) {
        value = with_rule;
        rule = known;
      }
    }
    return plus(value, chart_.cell(i, j)[l]);
  }

  void fill(int i, int j) {
    for (int l = 0; l < L_; ++l) {
      Worth<Real>& found = best_[(i * (chart_.n + 1) + j) * L_ + l];
      if (j - i == 1) {
        if (!fits_one_word(grammar_.kinds[l])) continue;
        found = plus(step({0, chart_.cell(i, j)[l]}, grammar_.words[l] != 0), 0);
        continue;
      }
      if (!fits_many_words(grammar_.kinds[l])) continue;
      int rule;
      for (int k = i + 1; k < j; ++k) {
        for (int a = 0; a < L_; ++a) {
          if (!best(i, k, a).possible()) continue;
          for (int b = 0; b < L_; ++b) found = std::max(found, combine(i, k, j, l, a, b, rule));
        }
      }
    }
  }

  void trace(int i, int j, int l, std::vector<Node>& nodes) const {
    nodes.push_back({i, j, l, -1});
    if (j - i == 1) {
      nodes.back().rule = grammar_.words[l] ? 0 : -1;
      return;
    }
    int rule;
    for (int k = i + 1; k < j; ++k) {
      for (int a = 0; a < L_; ++a) {
        for (int b = 0; b < L_; ++b) {
          if (!(combine(i, k, j, l, a, b, rule) == best(i, j, l))) continue;
          nodes.back().rule = rule;
          trace(i, k, a, nodes);
          trace(k, j, b, nodes);
          return;
        }
      }
    }
  }

  const Grammar& grammar_;
  const ChartView<Real>& chart_;
  const Mode mode_;
  const Real penalty_;
  const int L_;
  std::vector<int> rule_of_;
  std::vector<Worth<Real>> best_;
};

}  // namespace treewright::testing
