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
  // `plane`: where the counts lie, see InsideTask. Nodes: room for 2n - 1.
  Trace(const Grammar& grammar, InsideView<Real> inside, std::ptrdiff_t plane,
        const ChartView<Real>& chart, Real penalty)
      : grammar_(grammar), inside_(inside), plane_(plane), chart_(chart), penalty_(penalty) {
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

  Worth<Real> worth(int label, int i, int j) const {
    const std::ptrdiff_t at = inside_.layout->at(label, i, j, inside_.sentence);
    return {mode == Rules::fewest_violations ? inside_.scores[at + plane_] : Real(0),
            inside_.scores[at]};
  }

  Worth<Real> violated(Worth<Real> worth) const {
    if (mode == Rules::soft) worth.score += -penalty_;
    if (mode == Rules::fewest_violations) worth.count -= 1;
    return worth;
  }

  Worth<Real> root_worth(int label) const {
    const Worth<Real> whole = worth(label, 0, inside_.n);
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
    const Worth<Real> target = worth(node.column, i, j);
    const Real score = chart_.cell(i, j)[node.column];
    const int first = grammar_.first_rule(node.column);
    const int end = grammar_.first_rule(node.column + 1);
    for (int k = i + 1; k < j; ++k) {
      Worth<Real> bound = worth(inside_.left_row(), i, k) + worth(inside_.right_row(), k, j);
      bound.score = score + (bound.score + top_);
      if (bound < target) continue;
      const Step licensed = find_licensed(node, k, score, target, first, end);
      if (mode == Rules::hard) {
        if (licensed.rule >= 0) return licensed;
        continue;
      }
      const Step unlicensed = find_unlicensed(node, k, score, target);
      if (licensed.rule < 0 && unlicensed.left < 0) continue;
      if (licensed.rule < 0) return unlicensed;
      const bool lower = unlicensed.left >= 0 &&
                         (unlicensed.left != licensed.left ? unlicensed.left < licensed.left
                                                           : unlicensed.right < licensed.right);
      return lower ? unlicensed : licensed;
    }
    return {j - 1, -1, -1, -1};  // not reached: some split gives the score
  }

  Step find_licensed(const Node& node, int k, Real score, const Worth<Real>& target, int first,
                     int end) const {
    for (int r = first; r < end; ++r) {
      const Pair& pair = grammar_.pairs[grammar_.rules[r].pair];
      if (grammar_.kinds[pair.right] == Kind::mark) continue;
      Worth<Real> value = worth(pair.left, node.start, k) + worth(pair.right, k, node.end);
      if (grammar_.scored()) value.score += static_cast<Real>(grammar_.rule_scores[r]);
      value.score += score;
      if (value == target) return {k, pair.left, pair.right, r};
    }
    return {k, -1, -1, -1};
  }

  // The lowest labels such that the children, taken without a rule, give the score.
  Step find_unlicensed(const Node& node, int k, Real score, const Worth<Real>& target) const {
    const auto gives = [&](const Worth<Real>& left, const Worth<Real>& right) {
      Worth<Real> value = violated(left + right);
      value.score += score;
      return value == target;
    };
    const Worth<Real> best_right = worth(inside_.right_row(), k, node.end);
    for (int a = 0; a < grammar_.columns(); ++a) {
      if (!fits_left(grammar_.kinds[a], k - node.start)) continue;
      const Worth<Real> left = worth(a, node.start, k);
      if (!gives(left, best_right)) continue;
      for (int b = 0; b < grammar_.columns(); ++b) {
        if (!fits_right(grammar_.kinds[b], node.end - k)) continue;
        if (gives(left, worth(b, k, node.end))) return {k, a, b, -1};
      }
    }
    return {k, -1, -1, -1};
  }

  const Grammar& grammar_;
  const InsideView<Real> inside_;
  const std::ptrdiff_t plane_;
  const ChartView<Real>& chart_;
  const Real penalty_;
  Real top_ = 0;  // the most that a step adds to its children and its own span
  std::vector<Node> pending_;
};

}  // namespace treewright
