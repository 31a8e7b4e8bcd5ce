// The k best derivations of one sentence, lazily, from the best scores of all labels over all spans
// (Huang and Chiang 2005, algorithm 3): the next best derivation of a span is looked for only when
// the next best of a larger one needs it.
//
// The search knows these *vertices*, each with its derivations in order, as far as they are known:
//
//     label      (i, j, l): a node with label l; its children are joined by a rule, or freely
//     split      (i, j): any two children side by side, for steps that the grammar lacks
//     any_left   (i, j): any left child, any_right: any right child
//     root       the whole sentence, the root's licence included
//
// Order: the worth, then the rule for ties from the root down: label, split, labels of the
// children, left subtree, right subtree. Every derivation is found once: a step is the unlicensed
// one only where no rule licenses it.
//
// Two children of one edge, at ranks x and y of their own lists, are followed by (x + 1, y) and, if
// x is 0, by (x, y + 1): each pair of ranks has one pair before it, which is no worse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "chart.hpp"
#include "engine.hpp"
#include "free_task.hpp"
#include "grammar.hpp"
#include "inside_task.hpp"
#include "kbest_task.hpp"
#include "scratch.hpp"
#include "trace.hpp"

namespace treewright {

// A grammar's rules by parent, as the search scans them.
template <class Real>
struct ScannedGrammar {
  const Grammar* grammar;
  Rules rules;
  double cost;   // of a violation, under soft rules
  Real penalty;  // the same, to be added to scores
  std::vector<ScannedRule> scanned;
  std::vector<Real> scores;             // empty: all zero
  std::vector<std::int32_t> first;      // columns + 1
  std::vector<std::uint8_t> licensing;  // one a rule: not worse than the penalty

  ScannedGrammar(const Grammar& tables, Rules mode, double cost_of_violation)
      : grammar(&tables),
        rules(mode),
        cost(mode == Rules::soft ? cost_of_violation : 0),
        penalty(static_cast<Real>(cost)) {
    first.push_back(0);
    for (int l = 0, r = 0; l < tables.columns(); ++l) {
      for (const int end = tables.first_rule(l + 1); r < end; ++r) {
        const double score = tables.rule_score(r);
        licensing.push_back(score > -std::numeric_limits<double>::infinity() &&
                            (mode != Rules::soft || score >= -cost));
        const Pair& pair = tables.pairs[tables.rules[r].pair];
        if (!licensing.back() || tables.kinds[pair.right] == Kind::mark) continue;
        scanned.push_back({pair.left, pair.right, r});
        if (tables.scored()) scores.push_back(static_cast<Real>(score));
      }
      first.push_back(static_cast<std::int32_t>(scanned.size()));
    }
  }

  bool licenses(int parent, int left, int right) const {
    const int rule = grammar->find_rule(parent, left, right);
    return rule >= 0 && licensing[rule];
  }
};

// One derivation of a sentence.
struct KBestTree {
  double score;
  std::int32_t violations;  // 0 without a grammar
  bool root_licensed;
};

template <class Real>
class KBestSearch {
 public:
  explicit KBestSearch(const Kernels<Real>& kernels) : kernels_(kernels) {}

  // `cells`: for every packed span the best score of each label, then that of any left child and of
  // any right one. `counts`: the same for minus the violations, if they come first, else null.
  // Appends to `trees`, and 2n - 1 nodes for each to `nodes`.
  void run(const ScannedGrammar<Real>& grammar, const ChartView<Real>& chart, const Real* cells,
           const Real* counts, int k, bool distinct, Arena& arena, std::vector<KBestTree>& trees,
           std::vector<Node>& nodes) {
    grammar_ = &grammar;
    tables_ = grammar.grammar;
    chart_ = &chart;
    n_ = chart.n;
    columns_ = tables_->columns();
    rows_ = columns_ + 2;
    cells_ = cells;
    counts_ = counts;
    distinct_ = distinct;
    arena_ = &arena;
    used_ = 0;
    cells_vertices_.assign(static_cast<std::size_t>(n_) * (n_ + 1) / 2, none);
    left_blocks_.assign(n_ + 1, nullptr);
    right_blocks_.assign(n_ + 1, nullptr);
    collect(k, trees, nodes);
  }

 private:
  static constexpr std::int32_t none = -1;
  // What stands in the place of a vertex's label.
  static constexpr std::int32_t any_left = -2;
  static constexpr std::int32_t any_right = -3;
  static constexpr std::int32_t split_ = -4;
  static constexpr std::int32_t root = -5;

  struct Entry {
    Worth<Real> worth;
    std::uint64_t signature;  // of the tree after undoing binarisation; if distinct
    std::int32_t split;
    std::int32_t rule;   // that licenses the step, or none
    std::int32_t left;   // vertices; of any_left, any_right and root the only one
    std::int32_t right;  // or none
    std::int32_t left_rank;
    std::int32_t right_rank;
    bool free;  // a label's children come from the split's list
  };

  enum class State : std::int8_t { choosing, accepting, expanding };

  struct Vertex {
    std::int32_t i;
    std::int32_t j;
    std::int32_t label;
    std::int32_t next;  // of the same span
    std::vector<Entry> entries;
    std::vector<Entry> heap;        // opened edges
    std::vector<Edge<Real>> edges;  // unopened edges in order, as far as they are known
    std::size_t next_edge;
    bool edges_end;
    std::int32_t splits;  // the split's vertex, for steps that the grammar lacks, or none
    std::int32_t splits_rank;
    Entry last;  // chosen last
    State state;
    bool end;  // there are no more
  };

  struct Need {
    std::int32_t vertex;  // none: nothing is needed
    std::int32_t rank;
  };

  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * n_ - static_cast<std::size_t>(i) * (i - 1) / 2 + (j - i) -
           1;
  }
  Worth<Real> cell(int i, int j, int row) const {
    const std::size_t x = at(i, j) * rows_ + row;
    return {counts_ != nullptr ? counts_[x] : Real(0), cells_[x]};
  }
  int left_row() const { return columns_; }
  int right_row() const { return columns_ + 1; }

  Worth<Real> violated(Worth<Real> worth) const {
    if (counts_ != nullptr) {
      worth.count -= 1;
    } else {
      worth.score += -grammar_->penalty;
    }
    return worth;
  }

  std::int32_t vertex(int i, int j, int label) {
    std::int32_t& first = cells_vertices_[at(i, j)];
    for (std::int32_t v = first; v != none; v = vertices_[v].next) {
      if (vertices_[v].label == label) return v;
    }
    const auto made = static_cast<std::int32_t>(used_++);
    if (used_ > vertices_.size()) vertices_.emplace_back();
    Vertex& v = vertices_[made];
    v.i = i;
    v.j = j;
    v.label = label;
    v.next = first;
    first = made;
    v.entries.clear();
    v.heap.clear();
    v.edges.clear();
    v.next_edge = 0;
    v.edges_end = false;
    v.splits = none;
    v.splits_rank = 0;
    v.state = State::choosing;
    v.end = false;
    if (label < 0) return made;
    if (j - i == 1) {
      const Worth<Real> worth = cell(i, j, label);
      if (worth.possible()) {
        v.entries.push_back({worth, mix(i, j, label), none, none, none, none, 0, 0, false});
      }
      v.end = true;
    } else if (grammar_->rules != Rules::hard) {
      v.splits = vertex(i, j, split_);
    }
    return made;
  }

  // What is best of a vertex needs no search; that of a split is not asked for.
  Worth<Real> worth(std::int32_t v, int rank) const {
    const Vertex& vertex = vertices_[v];
    if (rank > 0) return vertex.entries[rank].worth;
    const int row = vertex.label >= 0          ? vertex.label
                    : vertex.label == any_left ? left_row()
                                               : right_row();
    return cell(vertex.i, vertex.j, row);
  }

  bool settled(std::int32_t v, int rank) const { return vertices_[v].end || has(v, rank); }
  bool has(std::int32_t v, int rank) const {
    return static_cast<int>(vertices_[v].entries.size()) > rank;
  }

  // Finds the derivations of a vertex up to a rank, if there are so many. Not recursive: what is
  // needed first is stacked.
  void settle(std::int32_t v, int rank) {
    const std::size_t bottom = needs_.size();
    needs_.push_back({v, rank});
    while (needs_.size() > bottom) {
      const Need need = needs_.back();
      if (settled(need.vertex, need.rank)) {
        needs_.pop_back();
        continue;
      }
      const Need first = advance(vertices_[need.vertex]);
      if (first.vertex != none) needs_.push_back(first);
    }
  }

  // One step towards the next derivation of a vertex, or what is needed before.
  Need advance(Vertex& vertex) {
    switch (vertex.state) {
      case State::choosing:
        return choose(vertex);
      case State::accepting:
        return accept(vertex);
      default:
        return expand(vertex);
    }
  }

  Need choose(Vertex& vertex) {
    if (vertex.next_edge == vertex.edges.size() && !vertex.edges_end) scan(vertex);
    const Entry* best = vertex.heap.empty() ? nullptr : &vertex.heap.front();
    const Entry* const top = best;
    Entry edge;
    if (vertex.next_edge < vertex.edges.size()) {
      edge = open(vertex, vertex.edges[vertex.next_edge]);
      if (best == nullptr || edge_order(vertex, edge, *best) < 0) best = &edge;
    }
    Entry free;
    while (vertex.splits != none) {
      if (!settled(vertex.splits, vertex.splits_rank)) return {vertex.splits, vertex.splits_rank};
      if (!has(vertex.splits, vertex.splits_rank)) {
        vertex.splits = none;
        break;
      }
      free = next_free(vertex);
      if (best != nullptr && !before(vertex, free, *best)) break;
      if (!grammar_->licenses(vertex.label, vertices_[free.left].label,
                              vertices_[free.right].label)) {
        best = &free;
        break;
      }
      // As a rule's edge the same is worth no less, so it has been chosen before: this ends soon.
      ++vertex.splits_rank;
    }
    if (best == nullptr) {
      vertex.end = true;
      return {none, 0};
    }
    vertex.last = *best;
    if (best == &edge) {
      ++vertex.next_edge;
      make_children(vertex, vertex.last);
    } else if (best == top) {
      std::pop_heap(vertex.heap.begin(), vertex.heap.end(), worse(vertex));
      vertex.heap.pop_back();
    }
    vertex.state = State::accepting;
    return {none, 0};
  }

  // The next of any two children, taken without a rule.
  Entry next_free(const Vertex& vertex) const {
    const Entry& two = vertices_[vertex.splits].entries[vertex.splits_rank];
    const Entry& left = vertices_[two.left].entries[two.left_rank];
    const Entry& right = vertices_[two.right].entries[two.right_rank];
    Entry free{violated(two.worth), 0,   two.split, none, left.left, right.left, left.left_rank,
               right.left_rank,     true};
    free.worth.score += chart_->cell(vertex.i, vertex.j)[vertex.label];
    return free;
  }

  // With distinct trees, the derivation is dropped if its tree is there already.
  Need accept(Vertex& vertex) {
    Entry& last = vertex.last;
    if (vertex.label == split_) {  // must name its children's labels
      if (!settled(last.left, last.left_rank)) return {last.left, last.left_rank};
      if (!settled(last.right, last.right_rank)) return {last.right, last.right_rank};
    }
    bool keep = true;
    if (distinct_) {
      if (!settled(last.left, last.left_rank)) return {last.left, last.left_rank};
      last.signature = vertices_[last.left].entries[last.left_rank].signature;
      if (last.right != none) {
        if (!settled(last.right, last.right_rank)) return {last.right, last.right_rank};
        last.signature += vertices_[last.right].entries[last.right_rank].signature;
      }
      if (vertex.label >= 0 && tables_->kinds[vertex.label] != Kind::mark) {
        last.signature += mix(vertex.i, vertex.j, vertex.label);
      }
      keep = vertex.label == split_ || is_new(vertex);
    }
    if (keep) vertex.entries.push_back(last);
    vertex.state = State::expanding;
    return {none, 0};
  }

  // Puts what follows the last choice in the heap.
  Need expand(Vertex& vertex) {
    const Entry last = vertex.last;
    if (last.free) {
      ++vertex.splits_rank;
    } else {
      if (!settled(last.left, last.left_rank + 1)) return {last.left, last.left_rank + 1};
      const bool both = last.right != none && last.left_rank == 0;
      if (both && !settled(last.right, last.right_rank + 1)) {
        return {last.right, last.right_rank + 1};
      }
      if (has(last.left, last.left_rank + 1)) push(vertex, last, 1, 0);
      if (both && has(last.right, last.right_rank + 1)) push(vertex, last, 0, 1);
    }
    vertex.state = State::choosing;
    return {none, 0};
  }

  void push(Vertex& vertex, Entry entry, int left_step, int right_step) {
    entry.left_rank += left_step;
    entry.right_rank += right_step;
    entry.worth = worth(entry.left, entry.left_rank);
    if (entry.right != none) entry.worth = entry.worth + worth(entry.right, entry.right_rank);
    entry.worth = with_step(vertex, entry.worth, entry.rule,
                            vertex.label == root ? vertices_[entry.left].label : none);
    vertex.heap.push_back(entry);
    std::push_heap(vertex.heap.begin(), vertex.heap.end(), worse(vertex));
  }

  // What a node adds to its children.
  Worth<Real> with_step(const Vertex& vertex, Worth<Real> below, int rule, int root_label) const {
    if (vertex.label == root) return tables_->roots[root_label] ? below : violated(below);
    if (vertex.label < 0) return below;
    if (tables_->scored()) below.score += static_cast<Real>(tables_->rule_scores[rule]);
    below.score += chart_->cell(vertex.i, vertex.j)[vertex.label];
    return below;
  }

  // An edge between the best of its children, which need not be vertices yet.
  Entry open(const Vertex& vertex, const Edge<Real>& edge) const {
    Entry entry{{edge.count, edge.score}, 0, edge.split, none, none, none, 0, 0, false};
    if (vertex.label >= 0) {
      entry.worth.score += chart_->cell(vertex.i, vertex.j)[vertex.label];
      entry.rule = scanned(vertex)[edge.rule].rule;
    } else if (vertex.label != split_) {
      entry.rule = edge.rule;  // the label, until there is a child
    }
    return entry;
  }
  void make_children(const Vertex& vertex, Entry& entry) {
    if (vertex.label >= 0) {
      const Pair& pair = tables_->pairs[tables_->rules[entry.rule].pair];
      entry.left = this->vertex(vertex.i, entry.split, pair.left);
      entry.right = this->vertex(entry.split, vertex.j, pair.right);
    } else if (vertex.label == split_) {
      entry.left = this->vertex(vertex.i, entry.split, any_left);
      entry.right = this->vertex(entry.split, vertex.j, any_right);
    } else {
      entry.left = this->vertex(vertex.i, vertex.j, entry.rule);
      entry.rule = none;
    }
  }
  const ScannedRule* scanned(const Vertex& vertex) const {
    return grammar_->scanned.data() + grammar_->first[vertex.label];
  }

  // The next of the vertex's edges that are not opened yet.
  void scan(Vertex& vertex) {
    const std::size_t known = vertex.edges.size();
    const std::size_t room = known == 0 ? first_edges : next_edges;
    vertex.edges.resize(known + room);
    const Real infinity = std::numeric_limits<Real>::infinity();
    const Edge<Real> after = known == 0 ? Edge<Real>{0, infinity, -1, -1} : vertex.edges[known - 1];
    Edge<Real>* found = vertex.edges.data() + known;
    const int count = vertex.label >= 0 || vertex.label == split_
                          ? scan_splits(vertex, after, found, static_cast<int>(room))
                          : scan_labels(vertex, after, found, static_cast<int>(room));
    vertex.edges.resize(known + count);
    vertex.edges_end = count < static_cast<int>(room);
  }

  static void insert(const Edge<Real>& edge, Edge<Real>* found, int& count, int room) {
    int at = count < room ? count++ : room;
    if (at == room && !edge.before(found[--at])) return;
    for (; at > 0 && edge.before(found[at - 1]); --at) found[at] = found[at - 1];
    found[at] = edge;
  }

  int scan_labels(const Vertex& vertex, const Edge<Real>& after, Edge<Real>* found, int room) {
    int count = 0;
    for (int l = 0; l < columns_; ++l) {
      if (vertex.label != any_left && tables_->kinds[l] == Kind::mark) continue;
      if (vertex.label == root && grammar_->rules == Rules::hard && !tables_->roots[l]) continue;
      Worth<Real> worth = cell(vertex.i, vertex.j, l);
      if (!worth.possible()) continue;
      if (vertex.label == root && !tables_->roots[l]) worth = violated(worth);
      const Edge<Real> edge{worth.count, worth.score, 0, l};
      if (after.before(edge)) insert(edge, found, count, room);
    }
    return count;
  }

  int scan_splits(const Vertex& vertex, Edge<Real> after, Edge<Real>* found, int room) {
    const ScannedRule any{left_row(), right_row(), none};
    const bool all = vertex.label == split_;
    const ScannedRule* rules = all ? &any : scanned(vertex);
    const int n_rules = all ? 1 : grammar_->first[vertex.label + 1] - grammar_->first[vertex.label];
    const Real* scores = all || grammar_->scores.empty()
                             ? nullptr
                             : grammar_->scores.data() + grammar_->first[vertex.label];
    if (n_rules == 0) return 0;
    if (counts_ != nullptr) return scan_counts(vertex, rules, scores, n_rules, after, found, room);
    const int i = vertex.i;
    const int j = vertex.j;
    after.split -= i + 1;
    const int count =
        kernels_.scan_edges({left_block(i), left_stride(i), right_block(j) + i + 1, right_stride(j),
                             j - i - 1, rules, scores, n_rules, after, found, room});
    for (int x = 0; x < count; ++x) found[x].split += i + 1;
    return count;
  }

  int scan_counts(const Vertex& vertex, const ScannedRule* rules, const Real* scores, int n_rules,
                  const Edge<Real>& after, Edge<Real>* found, int room) const {
    int count = 0;
    for (int k = vertex.i + 1; k < vertex.j; ++k) {
      for (int r = 0; r < n_rules; ++r) {
        Worth<Real> worth = cell(vertex.i, k, rules[r].left) + cell(k, vertex.j, rules[r].right);
        if (!worth.possible()) continue;
        if (scores != nullptr) worth.score += scores[r];
        const Edge<Real> edge{worth.count, worth.score, k, r};
        if (after.before(edge)) insert(edge, found, count, room);
      }
    }
    return count;
  }

  // The spans that begin at i, or end at j, with each label's numbers side by side.
  std::ptrdiff_t whole_vectors(std::ptrdiff_t numbers) const {
    return (numbers + kernels_.width - 1) / kernels_.width * kernels_.width;
  }
  std::ptrdiff_t left_stride(int i) const { return whole_vectors(n_ - i); }
  std::ptrdiff_t right_stride(int j) const { return whole_vectors(j) + kernels_.width; }

  const Real* left_block(int i) {
    if (left_blocks_[i] == nullptr) {
      turned_rows_.clear();
      for (int k = i + 1; k <= n_; ++k) turned_rows_.push_back(cells_ + at(i, k) * rows_);
      left_blocks_[i] = turn(left_stride(i));
    }
    return left_blocks_[i];
  }
  const Real* right_block(int j) {
    if (right_blocks_[j] == nullptr) {
      turned_rows_.clear();
      for (int k = 0; k < j; ++k) turned_rows_.push_back(cells_ + at(k, j) * rows_);
      right_blocks_[j] = turn(right_stride(j));
    }
    return right_blocks_[j];
  }
  const Real* turn(std::ptrdiff_t stride) {
    impossible_.assign(rows_, -std::numeric_limits<Real>::infinity());
    turned_rows_.resize(stride, impossible_.data());
    Real* to = arena_->template take<Real>(stride * rows_);
    kernels_.turn_rows({turned_rows_.data(), static_cast<int>(stride), rows_, to, stride});
    return to;
  }

  // --- Order --------------------------------------------------------------------------------

  auto worse(const Vertex& vertex) {
    return [this, &vertex](const Entry& x, const Entry& y) { return before(vertex, y, x); };
  }

  // Negative if an unopened edge comes before another entry: it does so if it only differs in that
  // its children are the best. Zero only against itself, taken without its rule.
  int edge_order(const Vertex& vertex, const Entry& edge, const Entry& other) const {
    if (!(edge.worth == other.worth)) return other.worth < edge.worth ? -1 : 1;
    if (vertex.label < 0 && vertex.label != split_) {
      return edge.rule - vertices_[other.left].label;
    }
    if (edge.split != other.split || vertex.label == split_) return edge.split - other.split;
    const Pair& pair = tables_->pairs[tables_->rules[edge.rule].pair];
    const int left = pair.left - vertices_[other.left].label;
    if (left != 0) return left;
    const int right = pair.right - vertices_[other.right].label;
    return right != 0 ? right : -(other.left_rank + other.right_rank);
  }

  bool before(const Vertex& vertex, const Entry& x, const Entry& y) {
    if (y.left == none) return edge_order(vertex, y, x) > 0;
    if (!(x.worth == y.worth)) return y.worth < x.worth;
    if (vertex.label >= 0) return order(x, y) < 0;
    if (vertex.label == split_) {
      return x.split != y.split ? x.split < y.split : order(children(x), children(y)) < 0;
    }
    const int left = vertices_[x.left].label;
    const int right = vertices_[y.left].label;
    return left != right ? left < right : x.left_rank < y.left_rank;
  }

  // A split's entry with the label vertices in place of any_left and any_right.
  Entry children(Entry entry) {
    settle(entry.left, entry.left_rank);
    settle(entry.right, entry.right_rank);
    const Entry& left = vertices_[entry.left].entries[entry.left_rank];
    const Entry& right = vertices_[entry.right].entries[entry.right_rank];
    entry.left = left.left;
    entry.left_rank = left.left_rank;
    entry.right = right.left;
    entry.right_rank = right.left_rank;
    return entry;
  }

  // Which of two derivations of a span with the same label comes first by the rule for ties,
  // whatever their worth.
  int order(Entry x, Entry y) {
    for (;;) {
      if (x.split != y.split) return x.split < y.split ? -1 : 1;
      const int left = vertices_[x.left].label - vertices_[y.left].label;
      if (left != 0) return left;
      const int right = vertices_[x.right].label - vertices_[y.right].label;
      if (right != 0) return right;
      const bool goes_left = x.left_rank != y.left_rank;
      const std::int32_t below = goes_left ? x.left : x.right;
      const int x_rank = goes_left ? x.left_rank : x.right_rank;
      const int y_rank = goes_left ? y.left_rank : y.right_rank;
      if (worth(below, x_rank) == worth(below, y_rank)) return x_rank - y_rank;
      settle(below, x_rank);
      settle(below, y_rank);
      x = vertices_[below].entries[x_rank];
      y = vertices_[below].entries[y_rank];
    }
  }

  // --- Distinct trees -----------------------------------------------------------------------

  struct Bracket {
    std::int32_t i;
    std::int32_t j;
    std::int32_t label;
    bool operator==(const Bracket&) const = default;
  };

  // Signatures of the brackets of a tree add up to the tree's.
  static std::uint64_t mix(int i, int j, int label) {
    std::uint64_t x = (static_cast<std::uint64_t>(i) << 42) ^
                      (static_cast<std::uint64_t>(j) << 21) ^ static_cast<std::uint64_t>(label);
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  bool is_new(const Vertex& vertex) {
    for (const Entry& entry : vertex.entries) {
      if (entry.signature != vertex.last.signature) continue;
      if (brackets(vertex, entry) == brackets(vertex, vertex.last)) return false;
    }
    return true;
  }

  // Of a derivation of a label or of any child, in preorder; marks are no brackets. Two
  // derivations of one vertex are the same tree if all these are the same.
  std::vector<Bracket> brackets(const Vertex& vertex, const Entry& entry) {
    std::vector<Bracket> found;
    std::vector<std::pair<const Vertex*, const Entry*>> pending{{&vertex, &entry}};
    while (!pending.empty()) {
      const auto [above, tree] = pending.back();
      pending.pop_back();
      if (above->label >= 0 && tables_->kinds[above->label] != Kind::mark) {
        found.push_back({above->i, above->j, above->label});
      }
      for (const bool left : {false, true}) {
        const std::int32_t below = left ? tree->left : tree->right;
        if (below == none) continue;
        const int rank = left ? tree->left_rank : tree->right_rank;
        pending.emplace_back(&vertices_[below], &vertices_[below].entries[rank]);
      }
    }
    return found;
  }

  // --- The answer ---------------------------------------------------------------------------

  void collect(int k, std::vector<KBestTree>& trees, std::vector<Node>& nodes) {
    const std::int32_t whole = vertex(0, n_, root);
    for (int rank = 0; rank < k; ++rank) {
      settle(whole, rank);
      if (!has(whole, rank)) break;
      const Entry& best = vertices_[whole].entries[rank];
      trees.push_back(write(best.left, best.left_rank, nodes));
    }
  }

  // The nodes in preorder; the score once more, as the sum of what is added, in double precision.
  KBestTree write(std::int32_t top, int rank, std::vector<Node>& nodes) {
    KBestTree tree{0, 0, tables_->roots[vertices_[top].label] != 0};
    tree.violations = !tree.root_licensed;
    pending_.assign(1, {top, rank});
    while (!pending_.empty()) {
      const Need next = pending_.back();
      pending_.pop_back();
      settle(next.vertex, next.rank);
      const Vertex& vertex = vertices_[next.vertex];
      const Entry& entry = vertex.entries[next.rank];
      Node node{vertex.i, vertex.j, vertex.label, entry.rule};
      tree.score += static_cast<double>(chart_->cell(vertex.i, vertex.j)[vertex.label]);
      if (vertex.j - vertex.i == 1) {
        node.rule = tables_->words[vertex.label] ? 0 : none;
      } else {
        if (entry.rule != none) tree.score += tables_->rule_score(entry.rule);
        pending_.push_back({entry.right, entry.right_rank});
        pending_.push_back({entry.left, entry.left_rank});
      }
      tree.violations += node.rule == none;
      nodes.push_back(node);
    }
    tree.score -= grammar_->cost * tree.violations;
    return tree;
  }

  static constexpr std::size_t first_edges = 4;
  static constexpr std::size_t next_edges = 8;

  const Kernels<Real>& kernels_;
  const ScannedGrammar<Real>* grammar_ = nullptr;
  const Grammar* tables_ = nullptr;
  const ChartView<Real>* chart_ = nullptr;
  int n_ = 0;
  int columns_ = 0;
  int rows_ = 0;
  const Real* cells_ = nullptr;
  const Real* counts_ = nullptr;
  bool distinct_ = false;
  Arena* arena_ = nullptr;

  std::deque<Vertex> vertices_;  // the first used_ are this sentence's
  std::size_t used_ = 0;
  std::vector<std::int32_t> cells_vertices_;  // the first vertex of every span
  std::vector<const Real*> left_blocks_;
  std::vector<const Real*> right_blocks_;
  std::vector<const Real*> turned_rows_;
  std::vector<Real> impossible_;
  std::vector<Need> needs_;
  std::vector<Need> pending_;
};

}  // namespace treewright
