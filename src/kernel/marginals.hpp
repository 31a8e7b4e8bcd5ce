// Marginals of a batch: groups of sentences for marginals_pass.hpp, the sharing out among threads,
// and log_marginals.hpp for the sentences that need it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "chart.hpp"
#include "decode.hpp"
#include "engine.hpp"
#include "grammar.hpp"
#include "layout.hpp"
#include "log_marginals.hpp"
#include "marginals_task.hpp"
#include "parallel.hpp"
#include "program.hpp"
#include "scratch.hpp"

namespace treewright {

// A grammar that licenses everything and has no rules: with it and a penalty of 0 the rule-based
// sums are the free ones.
inline Grammar free_grammar(const std::vector<Kind>& kinds) {
  const std::vector<std::uint8_t> all(kinds.size(), 1);
  return {kinds, {}, {}, {}, all, all};
}

template <class Real>
struct MarginalsRequest {
  const Engine* engine;
  const ChartView<Real>* charts;
  int count;
  const PreparedGrammar* grammar;
  double penalty;  // 0 .. infinity
  bool logs;       // take logs throughout
  int threads;
};

// One entry a sentence. `posteriors` holds the packed spans of one sentence after the other, those
// of sentence b from row first_cell[b] on.
struct MarginalsAnswer {
  double* posteriors;
  const std::int64_t* first_cell;
  double* log_partitions;
  std::int32_t* violations;  // of the derivations that count; 0 unless the penalty is infinite
  Status* statuses;
  bool* took_logs;
  double* rule_counts;  // (count, rules), zeros, or null: not wanted
};

template <class Real>
class Marginals {
 public:
  Marginals(const MarginalsRequest<Real>& request, const MarginalsAnswer& answer)
      : request_(request),
        answer_(answer),
        grammar_(request.grammar->grammar),
        program_(std::isfinite(request.penalty) ? request.grammar->soft : request.grammar->hard),
        kernels_(request.engine->template kernels<Real>()),
        impossible_row_(grammar_.columns(), -std::numeric_limits<Real>::infinity()) {
    weigh();
  }

  void run() {
    std::fill_n(answer_.statuses, request_.count, Status::undecided);
    run_parallel(request_.count, request_.threads, [&] { return [&](int task) { check(task); }; });
    if (in_range_ && !request_.logs) {
      const std::vector<int> sentences = undecided();
      const std::vector<Group> groups = make_groups(sentences);
      run_parallel(static_cast<int>(groups.size()), request_.threads, [&] {
        return [this, lease = std::make_unique<ArenaPool::Lease>(ArenaPool::shared()), &sentences,
                &groups](int task) { run_group(sentences, groups[task], **lease); };
      });
    }
    const std::vector<int> rest = undecided();
    run_parallel(static_cast<int>(rest.size()), request_.threads,
                 [&] { return [&](int task) { take_logs(rest[task]); }; });
  }

 private:
  struct Group {
    int first;
    int count;
    Layout layout;
    Layout cells;
  };

  // What steps weigh: exponentials of rule scores and penalties over the largest of them.
  void weigh() {
    const double infinity = std::numeric_limits<double>::infinity();
    const double penalty = request_.penalty;
    const bool soft = std::isfinite(penalty);
    const auto counts = [&](double score) { return score > -infinity && score >= -penalty; };
    double least = 0;
    top_ = soft ? -penalty : -infinity;
    for (const std::int32_t r : program_.rule_indices) {
      if (counts(grammar_.rule_score(r))) top_ = std::max(top_, grammar_.rule_score(r));
    }
    if (top_ == -infinity) top_ = 0;
    const double unlicensed = soft ? -penalty - top_ : -infinity;
    unlicensed_weight_ = std::exp(unlicensed);
    if (soft) least = std::min(unlicensed, -penalty);
    std::vector<std::uint8_t> seen(grammar_.rules.size(), 0);
    for (const std::int32_t r : program_.rule_indices) {
      const double score = grammar_.rule_score(r) - top_;
      const bool new_one = !seen[r] && counts(grammar_.rule_score(r));
      seen[r] = 1;  // gaps in the program are filled by repeating a rule
      if (new_one) least = std::min(least, score);
      full_weights_.push_back(new_one ? std::exp(score) : 0);
      // e^score - e^unlicensed, since the sum over all children has the rule's own too.
      rule_weights_.push_back(!new_one ? 0
                              : soft   ? -std::exp(score) * std::expm1(unlicensed - score)
                                       : std::exp(score));
    }
    in_range_ = least > -widest;
    const double violation = soft ? std::exp(-penalty) : 0;
    for (int l = 0; l < grammar_.columns(); ++l) {
      const double word = grammar_.words[l] ? 1 : violation;
      word_weights_.push_back(program_.over_one[l] ? word : 0);
      const bool root = fits_real_root(l);
      root_weights_.push_back(!root ? 0 : grammar_.roots[l] ? 1 : violation);
    }
  }

  // Whether a word null is at the root of a single word is settled by its inside number.
  bool fits_real_root(int l) const { return grammar_.kinds[l] != Kind::mark; }

  bool check(int sentence) {
    if (kernels_.is_valid(request_.charts[sentence])) return true;
    answer_.statuses[sentence] = Status::invalid;
    answer_.log_partitions[sentence] = std::numeric_limits<double>::quiet_NaN();
    answer_.violations[sentence] = 0;
    answer_.took_logs[sentence] = false;
    std::fill_n(posteriors(sentence), size(sentence), 0.0);
    return false;
  }

  double* posteriors(int sentence) const {
    return answer_.posteriors + answer_.first_cell[sentence] * grammar_.columns();
  }
  std::int64_t size(int sentence) const {
    const std::int64_t n = request_.charts[sentence].n;
    return n * (n + 1) / 2 * grammar_.columns();
  }
  double* rule_counts(int sentence) const {
    if (answer_.rule_counts == nullptr) return nullptr;
    return answer_.rule_counts + sentence * static_cast<std::int64_t>(grammar_.rules.size());
  }

  // The longest first.
  std::vector<int> undecided() const {
    std::vector<int> rest;
    for (int s = 0; s < request_.count; ++s) {
      if (answer_.statuses[s] == Status::undecided) rest.push_back(s);
    }
    std::stable_sort(rest.begin(), rest.end(),
                     [&](int a, int b) { return request_.charts[a].n > request_.charts[b].n; });
    return rest;
  }

  std::vector<Group> make_groups(const std::vector<int>& sentences) const {
    const int width = request_.engine->twice.width;
    const int rows = grammar_.columns() + 2;
    const int total = static_cast<int>(sentences.size());
    std::vector<Group> groups;
    for (int first = 0; first < total;) {
      const int n = request_.charts[sentences[first]].n;
      const double sentence_bytes = 1.5 * n * (n + 1) * rows * sizeof(double);
      int group = 1;
      while (2 * group <= std::min(width, total - first) &&
             sentence_bytes * 2 * group <= group_bytes) {
        group *= 2;
      }
      const int count = std::min(group, total - first);
      groups.push_back(
          {first, count, make_layout(n, group, width, rows), make_layout(n, group, width, 1)});
      first += count;
    }
    return groups;
  }

  void run_group(const std::vector<int>& sentences, const Group& group, Arena& arena) {
    arena.reset();
    auto* charts = arena.take<ChartView<Real>>(group.count);
    auto** posterior_rows = arena.take<double*>(group.count);
    for (int b = 0; b < group.count; ++b) {
      charts[b] = request_.charts[sentences[group.first + b]];
      posterior_rows[b] = posteriors(sentences[group.first + b]);
    }
    auto* sums = arena.take<MarginalsSum>(group.count);
    MarginalsTask<Real> task = make_task(group, arena);
    task.sentences = charts;
    task.posteriors = posterior_rows;
    task.sums = sums;
    kernels_.run_marginals(task);
    for (int b = 0; b < group.count; ++b) {
      const int sentence = sentences[group.first + b];
      if (!(sums[b].lost <= most_lost)) continue;
      const bool possible = sums[b].mantissa > 0;
      if (!possible && program_.soft == false) continue;  // there are violations to be counted
      const int n = request_.charts[sentence].n;
      answer_.log_partitions[sentence] =
          std::log(sums[b].mantissa) + sums[b].exponent * std::log(2.0) + (n - 1) * top_;
      answer_.violations[sentence] = 0;
      answer_.took_logs[sentence] = false;
      answer_.statuses[sentence] = possible ? Status::found : Status::impossible;
      if (task.counts != nullptr) take_counts(task.counts, group.layout, b, rule_counts(sentence));
    }
  }

  // The counts of a group lie by rule, then lane.
  void take_counts(const double* counts, const Layout& layout, int b, double* to) const {
    for (std::size_t r = 0; r < grammar_.rules.size(); ++r) {
      to[r] = 0;
      for (int lane = b; lane < layout.width; lane += layout.group) {
        to[r] += counts[r * layout.width + lane];
      }
    }
  }

  MarginalsTask<Real> make_task(const Group& group, Arena& arena) const {
    const Layout& layout = group.layout;
    const int width = layout.width;
    MarginalsTask<Real> task{};
    task.count = group.count;
    task.impossible_row = impossible_row_.data();
    task.n = layout.n;
    task.group = layout.group;
    task.columns = grammar_.columns();
    set_grammar(task, layout, arena);

    task.diagonal = layout.diagonal.data();
    task.label_stride = layout.label_stride;
    task.vector_stride = layout.vector_stride;
    task.blocked = layout.blocked;
    task.size = layout.size;
    task.cell_diagonal = group.cells.diagonal.data();
    task.inside = arena.take<double>(layout.size);
    task.outside = arena.take<double>(layout.size);
    task.exponentials = arena.take<double>(layout.size);
    task.exponents = arena.take<double>(group.cells.size);
    task.shifts = arena.take<double>(group.cells.size);
    std::fill_n(task.exponents, group.cells.size, 0.0);

    task.turned = arena.take<double>(static_cast<std::ptrdiff_t>(task.columns) * width);
    task.pairs = arena.take<double>(task.n_pairs);
    task.around_pairs = arena.take<double>(task.n_pairs);
    task.splits = arena.take<double>(static_cast<std::ptrdiff_t>(layout.n + 1) * width);
    if (answer_.rule_counts != nullptr) {
      const auto size = static_cast<std::ptrdiff_t>(grammar_.rules.size()) * width;
      task.counts = arena.take<double>(size);
      std::fill_n(task.counts, size, 0.0);
    }
    task.left = arena.take<std::ptrdiff_t>(layout.n + 1);
    task.right = arena.take<std::ptrdiff_t>(layout.n + 1);
    return task;
  }

  void set_grammar(MarginalsTask<Real>& task, const Layout& layout, Arena& arena) const {
    task.kinds = grammar_.kinds.data();
    task.over_one = program_.over_one.data();
    task.over_many = program_.over_many.data();
    task.n_blocks = static_cast<int>(program_.blocks.size());
    task.blocks = program_.blocks.data();
    task.hub_offsets = offsets(program_.hubs, layout.label_stride, arena);
    task.spoke_offsets = offsets(program_.spokes, layout.label_stride, arena);
    task.n_pairs = static_cast<std::ptrdiff_t>(program_.slots()) * layout.width;
    task.any_children =
        program_.any_children < 0 ? -1 : std::ptrdiff_t{program_.any_children} * layout.width;
    task.n_absent = static_cast<int>(program_.absent.size());
    task.absent = program_.absent.data();
    task.n_runs = static_cast<int>(program_.runs.size());
    task.runs = program_.runs.data();
    task.parents = program_.parents.data();
    task.rule_offsets = offsets(program_.rule_slots, layout.width, arena);
    task.rule_weights = rule_weights_.data();
    task.full_rule_weights = full_weights_.data();
    task.rule_indices = program_.rule_indices.data();
    task.unlicensed_weight = unlicensed_weight_;
    task.word_weights = word_weights_.data();
    task.root_weights = root_weights_.data();
  }

  static const std::uint32_t* offsets(const std::vector<std::int32_t>& places,
                                      std::ptrdiff_t stride, Arena& arena) {
    auto* found = arena.take<std::uint32_t>(static_cast<std::ptrdiff_t>(places.size()));
    for (std::size_t x = 0; x < places.size(); ++x) {
      found[x] = static_cast<std::uint32_t>(places[x] * stride);
    }
    return found;
  }

  void take_logs(int sentence) {
    double* counts = rule_counts(sentence);
    if (counts != nullptr) std::fill_n(counts, grammar_.rules.size(), 0.0);
    LogMarginals<Real> logs(grammar_, request_.charts[sentence], request_.penalty);
    const LogWeight total = logs.run(posteriors(sentence), counts);
    answer_.log_partitions[sentence] = total.log;
    answer_.violations[sentence] = -total.rank;
    answer_.took_logs[sentence] = true;
    answer_.statuses[sentence] = total.possible() ? Status::found : Status::impossible;
  }

  static constexpr double most_lost = 1e-12;  // share of the derivations
  static constexpr double widest = 600;       // of the logs of weights; e^-600 > 2^-1000
  static constexpr double group_bytes = 8e6;

  const MarginalsRequest<Real>& request_;
  const MarginalsAnswer& answer_;
  const Grammar& grammar_;
  const RuleProgram& program_;
  const Kernels<Real>& kernels_;
  const std::vector<Real> impossible_row_;
  std::vector<double> word_weights_;
  std::vector<double> root_weights_;
  std::vector<double> rule_weights_;
  std::vector<double> full_weights_;
  double unlicensed_weight_ = 0;
  double top_ = 0;
  bool in_range_ = true;
};

}  // namespace treewright
