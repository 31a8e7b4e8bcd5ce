// Decoding a batch: free, rule-based, soft, or with the fewest violations; the shortcuts; the
// sharing out among threads. The passes themselves are in free.hpp, inside.hpp, pruned.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "chart.hpp"
#include "engine.hpp"
#include "free_task.hpp"
#include "grammar.hpp"
#include "inside_task.hpp"
#include "layout.hpp"
#include "parallel.hpp"
#include "program.hpp"
#include "pruned.hpp"
#include "scratch.hpp"
#include "trace.hpp"

namespace treewright {

// A grammar made ready for one engine's vectors.
struct PreparedGrammar {
  Grammar grammar;
  RuleProgram hard;  // a slot for every pair, for what needs them one by one
  RuleProgram soft;
  RuleProgram best_hard;  // products, where they will do
  RuleProgram best_soft;
  PairIndex index;
  std::vector<std::int32_t> next_left;

  PreparedGrammar(Grammar tables, const Engine& engine)
      : grammar(std::move(tables)),
        hard(make_program(grammar, false, engine.max_units, false)),
        soft(make_program(grammar, true, engine.max_units, false)),
        best_hard(make_program(grammar, false, engine.max_units, !grammar.scored())),
        best_soft(make_program(grammar, true, engine.max_units, !grammar.scored())),
        index(grammar),
        next_left(grammar.next_left()) {}

  int rows() const { return std::max(best_hard.rows(), best_soft.rows()); }
};

enum class Pass : std::int8_t { none, free, pruned, dense, fewest_violations };

template <class Real>
struct Request {
  const Engine* engine;
  const ChartView<Real>* charts;
  int count;
  const std::vector<Kind>* kinds;
  const PreparedGrammar* grammar;  // null: free, and nothing is known of licences
  bool free;                       // ignore the rules, but say what is licensed
  double penalty;                  // 0 .. infinity
  bool shortcuts;
  int threads;
};

enum class Status : std::int8_t {
  found,
  impossible,  // every tree has a score of -infinity; no nodes are written
  invalid,     // the chart holds NaN or +infinity; the same
  undecided,   // while decoding
};

// One entry a sentence; `nodes` holds 2n - 1 for each, from nodes[first_node[b]] on.
struct Answer {
  Node* nodes;
  const std::int64_t* first_node;
  double* scores;
  Status* statuses;
  std::uint8_t* roots_licensed;
  Pass* passes;  // which pass decided
};

template <class Real>
class Decoder {
 public:
  Decoder(const Request<Real>& request, const Answer& answer)
      : request_(request), answer_(answer), kernels_(request.engine->template kernels<Real>()) {
    const std::vector<Kind>& kinds = *request.kinds;
    const Real impossible = -std::numeric_limits<Real>::infinity();
    const auto bias = [&](auto fits) {
      std::vector<Real> biases;
      for (const Kind kind : kinds) biases.push_back(fits(kind) ? Real(0) : impossible);
      return biases;
    };
    real_bias_ = bias([](Kind kind) { return kind == Kind::real; });
    mark_bias_ = bias([](Kind kind) { return kind == Kind::mark; });
    any_bias_ = bias(fits_many_words);
    one_word_bias_ = bias(fits_one_word);
    impossible_row_.assign(kinds.size(), impossible);
    for (int l = 0; l < columns(); ++l) {
      if (kinds[l] == Kind::word_null) word_nulls_.push_back(l);
      if (kinds[l] == Kind::mark) marks_.push_back(l);
    }
  }

  void run() {
    std::vector<int> sentences(request_.count);
    std::iota(sentences.begin(), sentences.end(), 0);
    std::stable_sort(sentences.begin(), sentences.end(),
                     [&](int a, int b) { return words(a) > words(b); });
    std::fill_n(answer_.statuses, request_.count, Status::undecided);

    const bool free_only = request_.grammar == nullptr || request_.free;
    if (free_only || request_.shortcuts) {
      run_parallel(request_.count, request_.threads, [&] {
        return [this, lease = std::make_unique<ArenaPool::Lease>(ArenaPool::shared()), &sentences,
                free_only](int task) { decode_free(sentences[task], free_only, **lease); };
      });
    }
    if (free_only) return;
    const bool finite = std::isfinite(request_.penalty);
    decode_dense(undecided(sentences), finite ? Rules::soft : Rules::hard);
    if (!finite) decode_dense(undecided(sentences), Rules::fewest_violations);
  }

 protected:
  int columns() const { return static_cast<int>(request_.kinds->size()); }
  int words(int sentence) const { return request_.charts[sentence].n; }
  Node* nodes(int sentence) const { return answer_.nodes + answer_.first_node[sentence]; }

  std::vector<int> undecided(const std::vector<int>& sentences) const {
    std::vector<int> rest;
    for (const int s : sentences) {
      if (answer_.statuses[s] == Status::undecided) rest.push_back(s);
    }
    return rest;
  }

  // Free decoding. As a shortcut: a free tree without a violation is the best tree of all, unless
  // rules have scores; and the free scores bound what rules allow.
  void decode_free(int sentence, bool free_only, Arena& arena) {
    arena.reset();
    const ChartView<Real>& chart = request_.charts[sentence];
    FreeTask<Real> task = free_task(chart, nodes(sentence), arena);
    if (!kernels_.run_free(task)) return refuse(sentence);
    const Real score = *task.score();
    Found<Real> found{score, score > -std::numeric_limits<Real>::infinity(), false};
    int violations = 0;
    if (found.possible) violations = license(nodes(sentence), chart.n, found.root_licensed);
    const bool scored = !free_only && request_.grammar->grammar.scored();
    // What is impossible here is impossible under any rules.
    if (free_only || !found.possible || (violations == 0 && !scored)) {
      return settle(sentence, found, Pass::free);
    }
    if (decode_pruned(sentence, task, violations, found, arena)) {
      settle(sentence, found, Pass::pruned);
    }
  }

  bool decode_pruned(int sentence, FreeTask<Real>& task, int violations, Found<Real>& found,
                     Arena& arena) {
    const Grammar& grammar = request_.grammar->grammar;
    const PairIndex& index = request_.grammar->index;
    if (index.pair_of.empty()) return false;
    const std::ptrdiff_t size = task.stride * (task.chart.n + 1) + kernels_.width;
    task.as_left = arena.take<Real>(size);
    task.as_right = arena.take<Real>(size);
    kernels_.run_outside(task);
    Real known = -std::numeric_limits<Real>::infinity();
    if (std::isfinite(request_.penalty) && !grammar.scored()) {
      known = found.score - violations * static_cast<Real>(request_.penalty);
    }
    return PrunedPass<Real>(grammar, index, task, request_.penalty)
        .run(known, nodes(sentence), found);
  }

  void refuse(int sentence) {
    settle(sentence, {std::numeric_limits<Real>::quiet_NaN(), false, false}, Pass::none);
    answer_.statuses[sentence] = Status::invalid;
  }

  void settle(int sentence, const Found<Real>& found, Pass pass) {
    answer_.scores[sentence] = static_cast<double>(found.score);
    answer_.statuses[sentence] = found.possible ? Status::found : Status::impossible;
    answer_.roots_licensed[sentence] = found.root_licensed;
    answer_.passes[sentence] = pass;
  }

  // Fills in the nodes' rules and counts the violations.
  int license(Node* nodes, int n, bool& root_licensed) const {
    if (request_.grammar == nullptr) return 0;
    const Grammar& grammar = request_.grammar->grammar;
    root_licensed = grammar.roots[nodes[0].column];
    int violations = root_licensed ? 0 : 1;
    // Backwards through the preorder, the stack holds the labels of the subtrees to the right.
    std::vector<std::int32_t> labels;
    for (int at = 2 * n - 2; at >= 0; --at) {
      Node& node = nodes[at];
      if (node.end - node.start == 1) {
        node.rule = grammar.words[node.column] ? 0 : -1;
      } else {
        const std::int32_t left = labels.back();
        labels.pop_back();
        const std::int32_t right = labels.back();
        labels.pop_back();
        node.rule = grammar.find_rule(node.column, left, right);
      }
      if (node.rule < 0) ++violations;
      labels.push_back(node.column);
    }
    return violations;
  }

  FreeTask<Real> free_task(const ChartView<Real>& chart, Node* nodes, Arena& arena) const {
    const std::ptrdiff_t width = kernels_.width;
    const std::ptrdiff_t stride = (chart.n + 1 + 2 * width - 1) / width * width;
    const std::ptrdiff_t size = stride * (chart.n + 1) + width;
    FreeTask<Real> task{};
    task.chart = chart;
    task.real_bias = real_bias_.data();
    task.mark_bias = mark_bias_.data();
    task.any_bias = any_bias_.data();
    task.one_word_bias = one_word_bias_.data();
    task.n_marks = static_cast<int>(marks_.size());
    task.only_mark = marks_.empty() ? -1 : marks_[0];
    task.n_word_nulls = static_cast<int>(word_nulls_.size());
    task.word_nulls = word_nulls_.data();
    task.stride = stride;
    task.any = arena.take<Real>(size);
    task.full = arena.take<Real>(size);
    task.real = arena.take<Real>(size);
    task.mark = arena.take<Real>(size);
    task.stack = arena.take<FreeSpan>(2 * chart.n);
    task.nodes = nodes;
    return task;
  }

  struct Group {
    int first;  // in the sorted list
    int count;
    Layout layout;
  };

  // Neighbours in the sorted list decode together. Whole vectors of sentences, if there are
  // enough of them and the scores stay in the cache; otherwise lanes run along the diagonal.
  std::vector<Group> make_groups(const std::vector<int>& sentences) const {
    const int width = kernels_.width;
    const int rows = request_.grammar->rows();
    std::vector<Group> groups;
    int first = 0;
    const int total = static_cast<int>(sentences.size());
    while (first < total) {
      const int n = words(sentences[first]);
      const double sentence_bytes = 0.5 * n * (n + 1) * rows * sizeof(Real);
      int group = width;
      if (2 * (total - first) < width || sentence_bytes * width > blocked_bytes) {
        group = 1;
        while (2 * group <= std::min(width / 2, total - first) &&
               sentence_bytes * group * 2 <= plane_bytes) {
          group *= 2;
        }
      }
      const int count = std::min(group, total - first);
      groups.push_back({first, count, make_layout(n, group, width, rows)});
      first += count;
    }
    return groups;
  }

  void decode_dense(const std::vector<int>& sentences, Rules rules) {
    if (sentences.empty()) return;
    const std::vector<Group> groups = make_groups(sentences);
    run_parallel(static_cast<int>(groups.size()), request_.threads, [&] {
      return [this, lease = std::make_unique<ArenaPool::Lease>(ArenaPool::shared()), &sentences,
              &groups, rules](int task) { decode_group(sentences, groups[task], rules, **lease); };
    });
  }

  void decode_group(const std::vector<int>& sentences, const Group& group, Rules rules,
                    Arena& arena) {
    arena.reset();
    auto* charts = arena.take<ChartView<Real>>(group.count);
    for (int b = 0; b < group.count; ++b) {
      charts[b] = request_.charts[sentences[group.first + b]];
    }
    const InsideTask<Real> task = inside_task(charts, group, rules, arena);
    if (!kernels_.run_inside(task)) {
      for (int b = 0; b < group.count; ++b) {
        if (!kernels_.is_valid(charts[b])) charts[b].n = 0;
      }
      kernels_.run_inside(task);
    }
    for (int b = 0; b < group.count; ++b) {
      const int sentence = sentences[group.first + b];
      if (charts[b].n == 0) {
        refuse(sentence);
        continue;
      }
      const InsideView<Real> inside{task.inside, &group.layout, b, words(sentence)};
      const Found<Real> found = trace(inside, task, charts[b], nodes(sentence));
      if (!found.possible && rules == Rules::hard) continue;
      settle(sentence, found,
             rules == Rules::fewest_violations ? Pass::fewest_violations : Pass::dense);
    }
  }

  Found<Real> trace(const InsideView<Real>& inside, const InsideTask<Real>& task,
                    const ChartView<Real>& chart, Node* nodes) const {
    const auto run = [&]<Rules mode>(std::integral_constant<Rules, mode>, Real penalty) {
      const PreparedGrammar& prepared = *request_.grammar;
      return Trace<Real, mode>(prepared.grammar, prepared.next_left, inside, task.plane, chart,
                               penalty)
          .run(nodes);
    };
    switch (task.rules) {
      case Rules::hard:
        return run(std::integral_constant<Rules, Rules::hard>{}, task.penalty);
      case Rules::soft:
        return run(std::integral_constant<Rules, Rules::soft>{}, task.penalty);
      default:
        return run(std::integral_constant<Rules, Rules::fewest_violations>{}, 0);
    }
  }

  InsideTask<Real> inside_task(const ChartView<Real>* charts, const Group& group, Rules rules,
                               Arena& arena) const {
    const Grammar& grammar = request_.grammar->grammar;
    const RuleProgram& program =
        rules == Rules::hard ? request_.grammar->best_hard : request_.grammar->best_soft;
    const Layout& layout = group.layout;
    const int planes = rules == Rules::fewest_violations ? 2 : 1;
    const int width = layout.width;
    const std::ptrdiff_t slots = static_cast<std::ptrdiff_t>(program.slots()) * width;

    InsideTask<Real> task{};
    task.rules = rules;
    task.penalty = rules == Rules::soft ? static_cast<Real>(request_.penalty) : Real(0);
    task.sentences = charts;
    task.count = group.count;
    task.impossible_row = impossible_row_.data();
    task.n = layout.n;
    task.group = layout.group;
    task.columns = columns();
    task.kinds = grammar.kinds.data();
    task.words = grammar.words.data();
    task.over_one = program.over_one.data();
    task.n_blocks = static_cast<int>(program.blocks.size());
    task.blocks = program.blocks.data();
    task.hub_offsets = offsets(program.hubs, layout.label_stride, arena);
    task.spoke_offsets = offsets(program.spokes, layout.label_stride, arena);
    task.any_children = static_cast<std::ptrdiff_t>(program.any_children) * width;
    task.n_sets = program.sets();
    task.set_first = program.set_first.data();
    task.set_offsets = offsets(program.set_members, layout.label_stride, arena);
    task.n_absent = static_cast<int>(program.absent.size());
    task.absent = program.absent.data();
    task.n_runs = static_cast<int>(program.runs.size());
    task.runs = program.runs.data();
    task.parents = program.parents.data();
    task.rule_offsets = offsets(program.rule_slots, width, arena);
    task.rule_scores = rule_scores(program, arena);
    task.diagonal = layout.diagonal.data();
    task.label_stride = layout.label_stride;
    task.vector_stride = layout.vector_stride;
    task.plane = layout.size;
    task.inside = arena.take<Real>(layout.size * planes);
    task.turned = arena.take<Real>(static_cast<std::ptrdiff_t>(columns()) * width);
    task.pairs = arena.take<Real>(slots * planes);
    task.pairs_plane = slots;
    task.left = arena.take<const Real*>(layout.n + 1);
    task.right = arena.take<const Real*>(layout.n + 1);
    return task;
  }

  static const std::uint32_t* offsets(const std::vector<std::int32_t>& places,
                                      std::ptrdiff_t stride, Arena& arena) {
    auto* found = arena.take<std::uint32_t>(static_cast<std::ptrdiff_t>(places.size()));
    for (std::size_t x = 0; x < places.size(); ++x) {
      found[x] = static_cast<std::uint32_t>(places[x] * stride);
    }
    return found;
  }

  const Real* rule_scores(const RuleProgram& program, Arena& arena) const {
    const Grammar& grammar = request_.grammar->grammar;
    if (!grammar.scored()) return nullptr;
    auto* scores = arena.take<Real>(static_cast<std::ptrdiff_t>(program.rule_indices.size()));
    for (std::size_t r = 0; r < program.rule_indices.size(); ++r) {
      scores[r] = static_cast<Real>(grammar.rule_scores[program.rule_indices[r]]);
    }
    return scores;
  }

  static constexpr double blocked_bytes = 8e6;
  static constexpr double plane_bytes = 4e6;

  const Request<Real>& request_;
  const Answer& answer_;
  const Kernels<Real>& kernels_;
  std::vector<Real> real_bias_;
  std::vector<Real> mark_bias_;
  std::vector<Real> any_bias_;
  std::vector<Real> one_word_bias_;
  std::vector<Real> impossible_row_;
  std::vector<std::int32_t> word_nulls_;
  std::vector<std::int32_t> marks_;
};

}  // namespace treewright
