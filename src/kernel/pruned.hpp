// The rule-based pass over those spans and labels alone that a good tree can use. Exact.
//
// The free scores inside and outside a span bound every derivation through it. Given a threshold,
// whatever is bounded below it is left out; if the best tree of the rest reaches the threshold, no
// tree that was left out can be better, nor as good. The threshold is first set so that a few
// spans for each word remain; if the tree that comes out is worse, its score is the next
// threshold, which is then certain to do. Where that keeps too much, the dense pass is quicker.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "chart.hpp"
#include "free_task.hpp"
#include "grammar.hpp"
#include "trace.hpp"

namespace treewright {

// The rules by child pair, for going from children to parents.
struct PairIndex {
  static constexpr int most_columns = 1024;

  struct Upward {
    std::int32_t parent;
    std::int32_t rule;
  };

  std::vector<std::int32_t> pair_of;  // left * columns + right: a pair or -1; empty: too many
  std::vector<std::int32_t> first;    // pairs + 1
  std::vector<Upward> upward;
  double most = 0;  // the largest rule score

  explicit PairIndex(const Grammar& grammar) {
    const int columns = grammar.columns();
    if (columns > most_columns) return;
    pair_of.assign(static_cast<std::size_t>(columns) * columns, -1);
    first.assign(grammar.pairs.size() + 1, 0);
    for (std::size_t p = 0; p < grammar.pairs.size(); ++p) {
      const Pair& pair = grammar.pairs[p];
      pair_of[static_cast<std::size_t>(pair.left) * columns + pair.right] =
          static_cast<std::int32_t>(p);
    }
    for (const Rule& rule : grammar.rules) ++first[rule.pair + 1];
    for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
    upward.resize(grammar.rules.size());
    std::vector<std::int32_t> next(first.begin(), first.end());
    for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
      const Rule& rule = grammar.rules[r];
      upward[next[rule.pair]++] = {rule.parent, static_cast<std::int32_t>(r)};
    }
    if (grammar.scored()) {
      most = *std::max_element(grammar.rule_scores.begin(), grammar.rule_scores.end());
    }
  }
};

template <class Real>
class PrunedPass {
 public:
  // `free`: after run_free and run_outside. `penalty`: infinite for hard rules.
  PrunedPass(const Grammar& grammar, const PairIndex& index, const FreeTask<Real>& free,
             double penalty)
      : grammar_(grammar),
        index_(index),
        free_(free),
        n_(free.chart.n),
        soft_(std::isfinite(penalty)),
        penalty_(soft_ ? static_cast<Real>(penalty) : Real(0)),
        slot_of_label_(grammar.columns(), -1) {
    double step = index.most;
    if (soft_) step = std::max(step, -penalty);
    all_steps_ = static_cast<Real>((n_ - 1) * step);
  }

  // `known`: the score of some tree that the rules allow, or -infinity.
  // False if the dense pass should do it; otherwise the best tree is in `nodes`.
  bool run(Real known, Node* nodes, Found<Real>& found) {
    bound_spans();
    work_ = static_cast<std::int64_t>(n_) * n_ * n_ / 6 + 100;
    for (int rank = 2 * n_; rank < most * n_; rank += rank / 4 + 1) {
      Real threshold = std::max(known, bound_of_rank(rank));
      bool certain = threshold == known;
      if (!keep(threshold) || !fill()) return false;
      found = find_root();
      if (found.possible && found.score < threshold && !certain) {
        threshold = found.score;  // no guess: all that is better is now kept
        certain = true;
        if (!keep(threshold) || !fill()) return false;
        found = find_root();
      }
      if (found.possible && found.score >= threshold) {
        trace(nodes);
        return true;
      }
      if (certain) known = std::max(known, found.score);
    }
    return false;
  }

 private:
  // With more spans a word the dense pass is quicker, as with more work, in all attempts together,
  // than a pair of items for each split of a span. Keeping a span is as much work as some pairs.
  static constexpr int most = 24;
  static constexpr int span_work = 5;

  struct Item {
    std::int32_t label;
    Real own;    // the chart's score
    Real score;  // the best derivation's
  };
  struct Span {
    std::int32_t start;
    std::int32_t end;
    std::int32_t first;  // items_[first .. last)
    std::int32_t last;
  };

  Real any(int i, int k) const { return free_.any[i * free_.stride + k]; }
  Real full(int k, int j) const { return free_.full[j * free_.stride + k]; }
  Real as_left(int i, int j) const { return free_.as_left[i * free_.stride + j]; }
  Real as_right(int i, int j) const { return free_.as_right[j * free_.stride + i]; }
  std::int32_t& span_at(int i, int j) { return span_at_[i * (n_ + 1) + j]; }

  Real bound_of(int i, int j) const {
    return std::max(full(i, j) + as_right(i, j), any(i, j) + as_left(i, j)) + all_steps_;
  }

  // The bound of every span, and how wrong it may be: it adds up fewer than 4n numbers.
  void bound_spans() {
    bounds_.clear();
    Real largest = 0;
    const auto measure = [&](Real x) {
      if (x > -std::numeric_limits<Real>::infinity()) largest = std::max(largest, std::abs(x));
    };
    for (int i = 0; i < n_; ++i) {
      for (int j = i + 1; j <= n_; ++j) {
        bounds_.push_back(bound_of(i, j));
        measure(any(i, j));
        measure(full(i, j));
        measure(as_left(i, j));
        measure(as_right(i, j));
      }
    }
    largest += std::abs(all_steps_) + n_ * std::abs(penalty_);
    slack_ = 16 * n_ * std::numeric_limits<Real>::epsilon() * largest;
  }

  Real bound_of_rank(int rank) {
    if (rank >= static_cast<int>(bounds_.size())) return -std::numeric_limits<Real>::infinity();
    ranked_ = bounds_;
    std::nth_element(ranked_.begin(), ranked_.begin() + rank, ranked_.end(), std::greater<>());
    return ranked_[rank];
  }

  // The spans and labels that may reach the threshold, shortest spans first; false: too many.
  bool keep(Real threshold) {
    const Real least = threshold - slack_;
    spans_.clear();
    std::size_t at = 0;
    for (int i = 0; i < n_; ++i) {
      for (int j = i + 1; j <= n_; ++j) {
        if (bounds_[at++] >= least) spans_.push_back({i, j, 0, 0});
      }
    }
    work_ -= span_work * static_cast<std::int64_t>(spans_.size());
    if (work_ < 0 || spans_.size() > static_cast<std::size_t>(most) * n_) return false;
    std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
      const int longer = (a.end - a.start) - (b.end - b.start);
      return longer != 0 ? longer < 0 : a.start < b.start;
    });
    span_at_.assign(static_cast<std::size_t>(n_ + 1) * (n_ + 1), -1);
    items_.clear();
    for (std::size_t s = 0; s < spans_.size(); ++s) {
      Span& span = spans_[s];
      span_at(span.start, span.end) = static_cast<std::int32_t>(s);
      span.first = static_cast<std::int32_t>(items_.size());
      keep_labels(span, least);
      span.last = static_cast<std::int32_t>(items_.size());
    }
    return true;
  }

  void keep_labels(const Span& span, Real least) {
    const int words = span.end - span.start;
    const Real* own = free_.chart.cell(span.start, span.end);
    const Real left = as_left(span.start, span.end);
    const Real right = std::max(left, as_right(span.start, span.end));
    const Real below = (words == 1 ? Real(0) : best_split(span)) + all_steps_;
    const Real impossible = -std::numeric_limits<Real>::infinity();
    for (int l = 0; l < grammar_.columns(); ++l) {
      const Kind kind = grammar_.kinds[l];
      const Real around = kind == Kind::mark ? left : right;
      if (!(own[l] + below + around >= least) || own[l] == impossible) continue;
      if (!fits_left(kind, words)) continue;
      items_.push_back({l, own[l], impossible});
    }
  }

  Real best_split(const Span& span) const {
    Real best = -std::numeric_limits<Real>::infinity();
    for (int k = span.start + 1; k < span.end; ++k) {
      best = std::max(best, any(span.start, k) + full(k, span.end));
    }
    return best;
  }

  // False: too much work.
  bool fill() {
    for (const Span& span : spans_) {
      if (work_ < 0) return false;
      if (span.end - span.start == 1) {
        for (int x = span.first; x < span.last; ++x) {
          Item& item = items_[x];
          if (grammar_.words[item.label]) {
            item.score = item.own;
          } else if (soft_) {
            item.score = item.own + -penalty_;
          }
        }
      } else {
        fill_many(span);
      }
    }
    return true;
  }

  void fill_many(const Span& span) {
    for (int x = span.first; x < span.last; ++x) slot_of_label_[items_[x].label] = x;
    Real best_children = -std::numeric_limits<Real>::infinity();
    for (int k = span.start + 1; k < span.end; ++k) {
      const std::int32_t left = span_at(span.start, k);
      const std::int32_t right = span_at(k, span.end);
      if (left < 0 || right < 0) continue;
      best_children = std::max(best_children, combine(spans_[left], spans_[right]));
    }
    for (int x = span.first; x < span.last; ++x) {
      Item& item = items_[x];
      slot_of_label_[item.label] = -1;
      if (soft_) item.score = std::max(item.score, best_children + -penalty_);
      item.score += item.own;
    }
  }

  // Raises the parents' scores, as yet without their own; answers the best of any two children.
  Real combine(const Span& left, const Span& right) {
    work_ -= static_cast<std::int64_t>(left.last - left.first) * (right.last - right.first);
    const int columns = grammar_.columns();
    Real best = -std::numeric_limits<Real>::infinity();
    for (int b = right.first; b < right.last; ++b) {
      if (grammar_.kinds[items_[b].label] == Kind::mark) continue;
      for (int a = left.first; a < left.last; ++a) {
        const Real children = items_[a].score + items_[b].score;
        best = std::max(best, children);
        const std::int32_t pair =
            index_.pair_of[static_cast<std::size_t>(items_[a].label) * columns + items_[b].label];
        if (pair < 0) continue;
        for (int u = index_.first[pair]; u < index_.first[pair + 1]; ++u) {
          const PairIndex::Upward& up = index_.upward[u];
          const std::int32_t slot = slot_of_label_[up.parent];
          if (slot >= 0)
            items_[slot].score = std::max(items_[slot].score, ruled(children, up.rule));
        }
      }
    }
    return best;
  }

  Real ruled(Real children, int rule) const {
    return grammar_.scored() ? children + static_cast<Real>(grammar_.rule_scores[rule]) : children;
  }

  Found<Real> find_root() {
    Found<Real> found{-std::numeric_limits<Real>::infinity(), false, false};
    const std::int32_t whole = span_at(0, n_);
    if (whole < 0) return found;
    for (int x = spans_[whole].first; x < spans_[whole].last; ++x) {
      const Item& item = items_[x];
      const bool licensed = grammar_.roots[item.label];
      if (!fits_root(grammar_.kinds[item.label], n_) || (!licensed && !soft_)) continue;
      const Real score = licensed ? item.score : item.score + -penalty_;
      if (!(score > found.score)) continue;
      found = {score, true, licensed};
      root_ = x;
    }
    return found;
  }

  void trace(Node* nodes) {
    struct Pending {
      std::int32_t span;
      std::int32_t item;
    };
    std::vector<Pending> pending{{span_at(0, n_), root_}};
    while (!pending.empty()) {
      const Span& span = spans_[pending.back().span];
      const Item& item = items_[pending.back().item];
      pending.pop_back();
      Node& node = *nodes++;
      node = {span.start, span.end, item.label, -1};
      if (span.end - span.start == 1) {
        node.rule = grammar_.words[item.label] ? 0 : -1;
        continue;
      }
      const Step step = find_step(span, item);
      node.rule = step.rule;
      pending.push_back({span_at(step.split, span.end), step.right});
      pending.push_back({span_at(span.start, step.split), step.left});
    }
  }

  struct Step {
    std::int32_t split;
    std::int32_t left;  // items
    std::int32_t right;
    std::int32_t rule;
  };

  Step find_step(const Span& span, const Item& item) {
    for (int k = span.start + 1; k < span.end; ++k) {
      const std::int32_t left = span_at(span.start, k);
      const std::int32_t right = span_at(k, span.end);
      if (left < 0 || right < 0) continue;
      for (int a = spans_[left].first; a < spans_[left].last; ++a) {
        for (int b = spans_[right].first; b < spans_[right].last; ++b) {
          int rule;
          if (gives(item, items_[a], items_[b], rule)) return {k, a, b, rule};
        }
      }
    }
    return {span.start + 1, 0, 0, -1};  // not reached: some split gives the score
  }

  bool gives(const Item& item, const Item& left, const Item& right, int& rule) const {
    if (grammar_.kinds[right.label] == Kind::mark) return false;
    const Real children = left.score + right.score;
    rule = grammar_.find_rule(item.label, left.label, right.label);
    if (rule >= 0 && item.own + ruled(children, rule) == item.score) return true;
    rule = -1;
    return soft_ && item.own + (children + -penalty_) == item.score;
  }

  const Grammar& grammar_;
  const PairIndex& index_;
  const FreeTask<Real>& free_;
  const int n_;
  const bool soft_;
  const Real penalty_;
  Real all_steps_;  // the most that the steps of a whole tree add
  Real slack_ = 0;
  std::vector<Real> bounds_;
  std::vector<Real> ranked_;
  std::vector<Span> spans_;
  std::vector<Item> items_;
  std::vector<std::int32_t> span_at_;
  std::vector<std::int32_t> slot_of_label_;
  std::int32_t root_ = -1;
  std::int64_t work_ = 0;  // that is left: pairs of items, or as much
};

}  // namespace treewright
