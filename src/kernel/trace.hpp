// Finds the tree of the dense pass again from its inside scores, without back-pointers: at each
// node the lowest split, then the lowest left and right label whose score is the node's, by the
// same additions in the same order, so that equality is exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "chart.hpp"
#include "free_task.hpp"
#include "grammar.hpp"
#include "inside_task.hpp"
#include "layout.hpp"

namespace treewright {

// A derivation's worth: with Rules::fewest_violations the count (violations, downwards from 0)
// comes first; otherwise it is 0 throughout.
template <class Real>
struct Worth {
  Real count;
  Real score;

  bool possible() const { return score > -std::numeric_limits<Real>::infinity(); }
  bool operator==(const Worth&) const = default;
  bool operator<(const Worth& other) const {
    return count != other.count ? count < other.count : score < other.score;
  }
  Worth operator+(const Worth& other) const { return {count + other.count, score + other.score}; }
};

template <class Real>
struct Found {
  Real score;
  bool possible;
  bool root_licensed;
};

template <class Real, Rules mode>
class Trace {
 public:
  // `next_left`: see Grammar::next_left. `plane`: where the counts lie, see InsideTask. Nodes: room
  // for 2n - 1.
  Trace(const Grammar& grammar, const std::vector<std::int32_t>& next_left, InsideView<Real> inside,
        std::ptrdiff_t plane, const ChartView<Real>& chart, Real penalty)
      : grammar_(grammar),
        next_left_(next_left),
        inside_(inside),
        plane_(plane),
        chart_(chart),
        penalty_(penalty) {
    if (grammar.scored()) {
      const auto& scores = grammar.rule_scores;
      top_ = static_cast<Real>(*std::max_element(scores.begin(), scores.end()));
    }
    if (mode == Rules::soft) top_ = std::max(top_, -penalty);
    if (mode == Rules::fewest_violations) top_ = std::max(top_, Real(0));
  }

  Found<Real> run(Node* nodes) {
    const int n = inside_.n;
    bool licensed = false;
    const int root = find_root(licensed);
    if (root < 0) return {-std::numeric_limits<Real>::infinity(), false, false};
    const Real score = root_worth(root).score;

    std::vector<Node>& pending = pending_;
    pending.assign(1, {0, n, root, -1});
    while (!pending.empty()) {
      Node node = pending.back();
      pending.pop_back();
      if (node.end - node.start == 1) {
        node.rule = grammar_.words[node.column] ? 0 : -1;
      } else {
        const Step step = find_step(node);
        node.rule = step.rule;
        pending.push_back({step.split, node.end, step.right, -1});
        pending.push_back({node.start, step.split, step.left, -1});
      }
      *nodes++ = node;
    }
    return {score, true, licensed};
  }

 private:
  struct Step {
    std::int32_t split;
    std::int32_t left;
    std::int32_t right;
    std::int32_t rule;
  };

  // What is looked for at a node.
  struct Target {
    Worth<Real> worth;
    Real own;  // the chart's score of the node itself
    int first_rule;
    int end_rule;
  };

  int left_row() const { return grammar_.columns(); }
  int right_row() const { return grammar_.columns() + 1; }

  // Label 0 of a span; finding it takes a division.
  const Real* cell(int i, int j) const {
    return inside_.scores + inside_.layout->at(0, i, j, inside_.sentence);
  }
  Worth<Real> worth(const Real* cell, int label) const {
    const Real* at = cell + label * inside_.layout->label_stride;
    return {mode == Rules::fewest_violations ? at[plane_] : Real(0), *at};
  }

  Worth<Real> violated(Worth<Real> worth) const {
    if (mode == Rules::soft) worth.score += -penalty_;
    if (mode == Rules::fewest_violations) worth.count -= 1;
    return worth;
  }

  Worth<Real> root_worth(int label) const {
    const Worth<Real> whole = worth(cell(0, inside_.n), label);
    return grammar_.roots[label] ? whole : violated(whole);
  }

  int find_root(bool& licensed) const {
    int best = -1;
    for (int l = 0; l < grammar_.columns(); ++l) {
      if (!fits_root(grammar_.kinds[l], inside_.n)) continue;
      if (mode == Rules::hard && !grammar_.roots[l]) continue;
      if (!root_worth(l).possible()) continue;
      if (best < 0 || root_worth(best) < root_worth(l)) best = l;
    }
    licensed = best >= 0 && grammar_.roots[best];
    return best;
  }

  Step find_step(const Node& node) const {
    const int i = node.start;
    const int j = node.end;
    const Target target{worth(cell(i, j), node.column), chart_.cell(i, j)[node.column],
                        grammar_.first_rule(node.column), grammar_.first_rule(node.column + 1)};
    for (int k = i + 1; k < j; ++k) {
      const Real* left = cell(i, k);
      const Real* right = cell(k, j);
      Worth<Real> bound = worth(left, left_row()) + worth(right, right_row());
      bound.score = target.own + (bound.score + top_);
      if (bound < target.worth) continue;
      Step step = find_licensed(left, right, target);
      if (mode != Rules::hard) {
        const Step unlicensed = find_unlicensed(left, right, k - i, j - k, target);
        const bool lower = unlicensed.left != step.left ? unlicensed.left < step.left
                                                        : unlicensed.right < step.right;
        if (unlicensed.left >= 0 && (step.left < 0 || lower)) step = unlicensed;
      }
      if (step.left < 0) continue;
      step.split = k;
      return step;
    }
    return {i + 1, 0, 0, -1};  // not reached: some split gives the score
  }

  // The lowest pair of a rule that gives the score. Left children that would not do with the best
  // of all right ones are passed over with all their rules.
  Step find_licensed(const Real* left, const Real* right, const Target& target) const {
    const Worth<Real> best_right = worth(right, right_row());
    int next = target.first_rule;
    for (int r = next; r < target.end_rule; ++r) {
      const Pair& pair = grammar_.pairs[grammar_.rules[r].pair];
      if (r == next) {
        next = next_left_[r];
        Worth<Real> bound = worth(left, pair.left) + best_right;
        bound.score = target.own + (bound.score + top_);
        if (bound < target.worth) {
          r = next - 1;
          continue;
        }
      }
      Worth<Real> value = worth(left, pair.left) + worth(right, pair.right);
      if (grammar_.scored()) value.score += static_cast<Real>(grammar_.rule_scores[r]);
      value.score += target.own;
      if (!(value == target.worth) || grammar_.kinds[pair.right] == Kind::mark) continue;
      return {-1, pair.left, pair.right, r};
    }
    return {-1, -1, -1, -1};
  }

  // The lowest labels such that the children, taken without a rule, give the score.
  Step find_unlicensed(const Real* left, const Real* right, int left_words, int right_words,
                       const Target& target) const {
    const auto gives = [&](const Worth<Real>& a, const Worth<Real>& b) {
      Worth<Real> value = violated(a + b);
      value.score += target.own;
      return value == target.worth;
    };
    const Worth<Real> best_left = worth(left, left_row());
    const Worth<Real> best_right = worth(right, right_row());
    if (!gives(best_left, best_right)) return {-1, -1, -1, -1};
    for (int a = 0; a < grammar_.columns(); ++a) {
      if (!fits_left(grammar_.kinds[a], left_words)) continue;
      if (!gives(worth(left, a), best_right)) continue;
      for (int b = 0; b < grammar_.columns(); ++b) {
        if (!fits_right(grammar_.kinds[b], right_words)) continue;
        if (gives(worth(left, a), worth(right, b))) return {-1, a, b, -1};
      }
    }
    return {-1, -1, -1, -1};
  }

  const Grammar& grammar_;
  const std::vector<std::int32_t>& next_left_;
  const InsideView<Real> inside_;
  const std::ptrdiff_t plane_;
  const ChartView<Real>& chart_;
  const Real penalty_;
  Real top_ = 0;  // the most that a step adds to its children and its own span
  std::vector<Node> pending_;
};

}  // namespace treewright
