// K best of a batch: best scores by the decoder's own passes, then a search a sentence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "decode.hpp"
#include "kbest.hpp"
#include "marginals.hpp"

namespace treewright {

// The trees of one sentence, the best first, and the 2n - 1 nodes of each.
struct KBestAnswer {
  Status status;
  std::vector<KBestTree> trees;
  std::vector<Node> nodes;
};

template <class Real>
class KBest : private Decoder<Real> {
  using Base = Decoder<Real>;

 public:
  // Shortcuts are of no use here. `answers`: one a sentence.
  KBest(const Request<Real>& request, int k, bool distinct, std::vector<KBestAnswer>& answers)
      : Base(request, unused),
        k_(k),
        distinct_(distinct && has_marks(*request.kinds)),
        answers_(answers),
        free_tables_(free_grammar(*request.kinds)),
        free_grammar_(free_tables_, Rules::soft, 0) {}

  void run() {
    const Request<Real>& request = this->request_;
    answers_.assign(request.count, {Status::undecided, {}, {}});
    std::vector<int> sentences(request.count);
    std::iota(sentences.begin(), sentences.end(), 0);
    std::stable_sort(sentences.begin(), sentences.end(),
                     [&](int a, int b) { return this->words(a) > this->words(b); });
    if (request.grammar == nullptr || request.free) {
      run_parallel(request.count, request.threads, [&] {
        return [this, work = std::make_shared<Work>(this->kernels_), &sentences](int task) {
          decode_freely(sentences[task], *work);
        };
      });
      return;
    }
    const bool finite = std::isfinite(request.penalty);
    decode_groups(sentences, finite ? Rules::soft : Rules::hard);
    if (!finite) decode_groups(undecided(sentences), Rules::fewest_violations);
  }

 private:
  struct Work {
    explicit Work(const Kernels<Real>& kernels) : lease(ArenaPool::shared()), search(kernels) {}
    ArenaPool::Lease lease;
    KBestSearch<Real> search;
  };

  // Two derivations can only be one tree if there are marks to choose from.
  static bool has_marks(const std::vector<Kind>& kinds) {
    return std::count(kinds.begin(), kinds.end(), Kind::mark) > 1;
  }

  std::vector<int> undecided(const std::vector<int>& sentences) const {
    std::vector<int> rest;
    for (const int s : sentences) {
      if (answers_[s].status == Status::undecided) rest.push_back(s);
    }
    return rest;
  }

  void decode_freely(int sentence, Work& work) {
    const ChartView<Real>& chart = this->request_.charts[sentence];
    KBestAnswer& answer = answers_[sentence];
    if (!this->kernels_.is_valid(chart)) {
      answer.status = Status::invalid;
      return;
    }
    Arena& arena = *work.lease;
    arena.reset();
    const Real* cells = free_cells(chart, arena);
    work.search.run(free_grammar_, chart, cells, nullptr, k_, distinct_, arena, answer.trees,
                    answer.nodes);
    const int size = 2 * chart.n - 1;
    for (std::size_t t = 0; t < answer.trees.size(); ++t) {
      Node* nodes = answer.nodes.data() + t * size;
      answer.trees[t].violations = 0;
      answer.trees[t].root_licensed = false;
      for (int x = 0; x < size; ++x) nodes[x].rule = -1;
      if (this->request_.grammar == nullptr) continue;
      this->license(nodes, chart.n, answer.trees[t].root_licensed);
      answer.trees[t].violations = !answer.trees[t].root_licensed;
      for (int x = 0; x < size; ++x) answer.trees[t].violations += nodes[x].rule < 0;
    }
    finish(answer, chart.n);
  }

  // The best score of every label over every span, of any left child and of any right one, if any
  // label may have any children.
  const Real* free_cells(const ChartView<Real>& chart, Arena& arena) const {
    const std::vector<Kind>& kinds = *this->request_.kinds;
    const int columns = this->columns();
    const std::ptrdiff_t rows = columns + 2;
    const std::ptrdiff_t n = chart.n;
    const Real impossible = -std::numeric_limits<Real>::infinity();
    Real* cells = arena.take<Real>(n * (n + 1) / 2 * rows);
    const auto at = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
      return cells + (i * n - i * (i - 1) / 2 + (j - i) - 1) * rows;
    };
    for (int i = chart.n - 1; i >= 0; --i) {
      for (int j = i + 1; j <= chart.n; ++j) {
        Real split = j - i == 1 ? Real(0) : impossible;
        for (int k = i + 1; k < j; ++k) {
          split = std::max(split, at(i, k)[columns] + at(k, j)[columns + 1]);
        }
        Real* cell = at(i, j);
        cell[columns] = cell[columns + 1] = impossible;
        for (int l = 0; l < columns; ++l) {
          const bool stands = fits_left(kinds[l], j - i);
          cell[l] = stands ? chart.cell(i, j)[l] + split : impossible;
          cell[columns] = std::max(cell[columns], cell[l]);
          if (kinds[l] != Kind::mark) cell[columns + 1] = std::max(cell[columns + 1], cell[l]);
        }
      }
    }
    return cells;
  }

  void decode_groups(const std::vector<int>& sentences, Rules rules) {
    if (sentences.empty()) return;
    const ScannedGrammar<Real> scanned(this->request_.grammar->grammar, rules,
                                       this->request_.penalty);
    const auto groups = this->make_groups(sentences);
    run_parallel(static_cast<int>(groups.size()), this->request_.threads, [&] {
      return [this, work = std::make_shared<Work>(this->kernels_), &sentences, &groups, &scanned,
              rules](int task) { decode_group(sentences, groups[task], scanned, rules, *work); };
    });
  }

  void decode_group(const std::vector<int>& sentences, const typename Base::Group& group,
                    const ScannedGrammar<Real>& scanned, Rules rules, Work& work) {
    Arena& arena = *work.lease;
    arena.reset();
    auto* charts = arena.take<ChartView<Real>>(group.count);
    for (int b = 0; b < group.count; ++b) {
      charts[b] = this->request_.charts[sentences[group.first + b]];
      if (this->kernels_.is_valid(charts[b])) continue;
      answers_[sentences[group.first + b]].status = Status::invalid;
      charts[b].n = 0;
    }
    const InsideTask<Real> task = this->inside_task(charts, group, rules, arena);
    this->kernels_.run_inside(task);
    Real** cells = unlaced(task, task.inside, group.layout, charts, arena);
    Real** counts = rules != Rules::fewest_violations
                        ? nullptr
                        : unlaced(task, task.inside + task.plane, group.layout, charts, arena);
    for (int b = 0; b < group.count; ++b) {
      KBestAnswer& answer = answers_[sentences[group.first + b]];
      if (charts[b].n == 0) continue;
      answer.trees.clear();
      answer.nodes.clear();
      work.search.run(scanned, charts[b], cells[b], counts == nullptr ? nullptr : counts[b], k_,
                      distinct_, arena, answer.trees, answer.nodes);
      // After all legal trees come those with violations.
      const bool enough = static_cast<int>(answer.trees.size()) == k_;
      if (rules != Rules::hard || enough) finish(answer, charts[b].n);
    }
  }

  Real** unlaced(const InsideTask<Real>& task, const Real* inside, const Layout& layout,
                 const ChartView<Real>* charts, Arena& arena) const {
    UnlaceTask<Real> unlace{};
    unlace.inside = inside;
    unlace.diagonal = task.diagonal;
    unlace.label_stride = task.label_stride;
    unlace.vector_stride = task.vector_stride;
    unlace.n = task.n;
    unlace.group = task.group;
    unlace.rows = this->columns() + 2;
    unlace.count = task.count;
    int* lengths = arena.take<int>(task.count);
    Real** cells = arena.take<Real*>(task.count);
    for (int b = 0; b < task.count; ++b) {
      const std::ptrdiff_t n = lengths[b] = charts[b].n;
      cells[b] = arena.take<Real>(n * (n + 1) / 2 * unlace.rows);
    }
    unlace.lengths = lengths;
    unlace.cells = cells;
    this->kernels_.unlace(unlace);
    return cells;
  }

  // Scores have been summed once more, in another order and in double precision, which may put
  // two trees the other way round that are almost equal: what is given out is in order.
  void finish(KBestAnswer& answer, int n) const {
    answer.status = answer.trees.empty() ? Status::impossible : Status::found;
    const bool fewest_first = std::isinf(this->request_.penalty) && !this->request_.free;
    const auto better = [&](int a, int b) {
      const KBestTree& x = answer.trees[a];
      const KBestTree& y = answer.trees[b];
      if (fewest_first && x.violations != y.violations) return x.violations < y.violations;
      return x.score > y.score;
    };
    std::vector<int> order(answer.trees.size());
    std::iota(order.begin(), order.end(), 0);
    if (std::is_sorted(order.begin(), order.end(), better)) return;
    std::stable_sort(order.begin(), order.end(), better);
    const KBestAnswer before = answer;
    const std::size_t size = 2 * n - 1;
    for (std::size_t t = 0; t < order.size(); ++t) {
      answer.trees[t] = before.trees[order[t]];
      std::copy_n(before.nodes.begin() + order[t] * size, size, answer.nodes.begin() + t * size);
    }
  }

  static inline const Answer unused{};

  const int k_;
  const bool distinct_;
  std::vector<KBestAnswer>& answers_;
  const Grammar free_tables_;
  const ScannedGrammar<Real> free_grammar_;
};

}  // namespace treewright
