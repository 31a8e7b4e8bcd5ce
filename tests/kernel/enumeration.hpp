// Every derivation of a small sentence, one by one: the oracle of k best and of marginals. And
// small random grammars and charts to try them on.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "chart.hpp"
#include "free_task.hpp"
#include "grammar.hpp"

namespace treewright::testing {

using Random = std::mt19937;

inline int below(Random& random, int limit) {
  return std::uniform_int_distribution<int>(0, limit - 1)(random);
}
inline bool chance(Random& random, double p) { return std::bernoulli_distribution(p)(random); }

struct Derivation {
  int violations;
  double score;             // penalties taken off, if they are finite
  std::vector<Node> nodes;  // in preorder, with rules
};

// Before all others comes what is best; then the order of ties from the root down. Nodes in
// preorder spell it: label, split (where the left child ends), labels of the children, left
// subtree, right subtree.
inline std::vector<int> spelled(const std::vector<Node>& nodes) {
  std::vector<int> spelling{nodes[0].column};
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (nodes[at].end - nodes[at].start == 1) continue;
    const Node& left = nodes[at + 1];
    const Node& right = nodes[at + 2 * (left.end - left.start)];
    spelling.insert(spelling.end(), {left.end, left.column, right.column});
  }
  return spelling;
}

class Enumeration {
 public:
  // `penalty` may be infinite: violations are then only counted.
  template <class Real>
  Enumeration(const Grammar& grammar, const ChartView<Real>& chart, double penalty)
      : grammar_(grammar), n_(chart.n), penalty_(penalty) {
    lists_.resize((n_ + 1) * (n_ + 1) * grammar.columns());
    for (int length = 1; length <= n_; ++length) {
      for (int i = 0; i + length <= n_; ++i) {
        for (int l = 0; l < grammar.columns(); ++l) {
          fill(i, i + length, l, static_cast<double>(chart.cell(i, i + length)[l]));
        }
      }
    }
  }

  std::vector<Derivation> derivations() const {
    std::vector<Derivation> all;
    for (int l = 0; l < grammar_.columns(); ++l) {
      if (!fits_root(grammar_.kinds[l], n_)) continue;
      for (Derivation derivation : list(0, n_, l)) {
        if (!grammar_.roots[l]) violate(derivation);
        if (derivation.score > -std::numeric_limits<double>::infinity()) all.push_back(derivation);
      }
    }
    return all;
  }

 private:
  std::vector<Derivation>& list(int i, int j, int l) {
    return lists_[(i * (n_ + 1) + j) * grammar_.columns() + l];
  }
  const std::vector<Derivation>& list(int i, int j, int l) const {
    return const_cast<Enumeration*>(this)->list(i, j, l);
  }

  void violate(Derivation& derivation) const {
    ++derivation.violations;
    if (std::isfinite(penalty_)) derivation.score -= penalty_;
  }

  void fill(int i, int j, int l, double score) {
    const Kind kind = grammar_.kinds[l];
    if (!fits_left(kind, j - i) || score == -std::numeric_limits<double>::infinity()) return;
    if (j - i == 1) {
      const bool licensed = grammar_.words[l];
      list(i, j, l).push_back({0, score, {{i, j, l, licensed ? 0 : -1}}});
      if (!licensed) violate(list(i, j, l).back());
      return;
    }
    for (int k = i + 1; k < j; ++k) {
      for (int a = 0; a < grammar_.columns(); ++a) {
        for (int b = 0; b < grammar_.columns(); ++b) {
          if (fits_right(grammar_.kinds[b], j - k)) combine(i, k, j, l, a, b, score);
        }
      }
    }
  }

  void combine(int i, int k, int j, int l, int a, int b, double score) {
    int rule = grammar_.find_rule(l, a, b);
    if (rule >= 0 && !(grammar_.rule_score(rule) >= -penalty_ &&
                       grammar_.rule_score(rule) > -std::numeric_limits<double>::infinity())) {
      rule = -1;
    }
    for (const Derivation& left : list(i, k, a)) {
      for (const Derivation& right : list(k, j, b)) {
        Derivation whole{left.violations + right.violations,
                         left.score + right.score + score,
                         {{i, j, l, rule}}};
        whole.nodes.insert(whole.nodes.end(), left.nodes.begin(), left.nodes.end());
        whole.nodes.insert(whole.nodes.end(), right.nodes.begin(), right.nodes.end());
        if (rule >= 0) {
          whole.score += grammar_.rule_score(rule);
        } else {
          violate(whole);
        }
        list(i, j, l).push_back(std::move(whole));
      }
    }
  }

  const Grammar& grammar_;
  const int n_;
  const double penalty_;
  std::vector<std::vector<Derivation>> lists_;
};

inline Grammar small_grammar(Random& random, int most_columns) {
  Grammar grammar;
  const int columns = 1 + below(random, most_columns);
  for (int l = 0; l < columns; ++l) {
    grammar.kinds.push_back(static_cast<Kind>(chance(random, 0.5) ? 0 : below(random, 3)));
    grammar.words.push_back(chance(random, 0.7));
    grammar.roots.push_back(chance(random, 0.6));
  }
  for (int a = 0; a < columns; ++a) {
    for (int b = 0; b < columns; ++b) {
      if (chance(random, 0.6)) grammar.pairs.push_back({a, b});
    }
  }
  for (int l = 0; l < columns; ++l) {
    for (int p = 0; p < static_cast<int>(grammar.pairs.size()); ++p) {
      if (chance(random, 0.6)) grammar.rules.push_back({l, p});
    }
  }
  if (chance(random, 0.5)) {
    for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
      grammar.rule_scores.push_back(below(random, 5) - 2);
    }
  }
  return grammar;
}

enum class Scores { normal, whole, holes, wide };

template <class Real>
std::vector<Real> random_scores(Random& random, std::size_t size, Scores kind) {
  std::normal_distribution<double> normal;
  const double hole = kind == Scores::holes ? std::uniform_real_distribution<>(0, 0.8)(random) : 0;
  std::vector<Real> scores(size);
  for (Real& score : scores) {
    double x = normal(random);
    if (kind == Scores::whole || (kind == Scores::holes && chance(random, 0.5))) {
      x = below(random, 3) - 1;
    }
    if (kind == Scores::wide) x *= 400;
    score = static_cast<Real>(chance(random, hole) ? -std::numeric_limits<double>::infinity() : x);
  }
  return scores;
}

// Packed charts of some sentences, one after the other in memory.
template <class Real>
struct Charts {
  std::vector<std::vector<Real>> scores;
  std::vector<ChartView<Real>> views;
  std::vector<std::int64_t> first_cell;

  Charts(Random& random, const std::vector<int>& lengths, int columns, Scores kind)
      : first_cell{0} {
    for (const int n : lengths) {
      const std::size_t cells = static_cast<std::size_t>(n) * (n + 1) / 2;
      scores.push_back(random_scores<Real>(random, cells * columns, kind));
      views.push_back(ChartView<Real>::packed(scores.back().data(), n, columns));
      first_cell.push_back(first_cell.back() + static_cast<std::int64_t>(cells));
    }
  }
};

}  // namespace treewright::testing
