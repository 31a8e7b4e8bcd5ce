// The grammar as the dense rule-based pass runs it: which labels can stand where, the child pairs
// cut into blocks that share loads, and for each parent the pairs to take the best of.
//
// v[p] = max over splits of left[a_p] + right[b_p] is computed for a block of pairs at once, one
// accumulator a pair. Most blocks are made of *stars*: a hub, the label shared on one side, and
// four labels on the other, so that five loads serve four additions; what is left over goes into
// loose blocks.
//
// What can never happen is left out beforehand, by the tables alone: a label that is licensed
// over one word only can be a left child at the first split only, and so on. That gives every pair
// a contiguous range of splits, its *reach*, and blocks are made of pairs of one reach.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "cover.hpp"
#include "grammar.hpp"

namespace treewright {

// A block comes in units of four pairs: one star, or four loose pairs.
constexpr int unit = 4;

// Splits of a span of `length` words at d = first(length) .. last(length), d words to the left.
struct Reach {
  std::int8_t from;  // 1 or 2, or -1 for the last split
  std::int8_t to;    // -1 or -2, counted from the end, or 1 for the first split

  int first(int length) const { return from > 0 ? from : length + from; }
  int last(int length) const { return to > 0 ? to : length + to; }
  bool operator==(const Reach&) const = default;
};

struct Block {
  Reach reach;
  bool hubs_left;  // hubs are left children
  bool loose;      // every pair has its own hub
  std::int8_t units;
  std::int32_t first_hub;   // in RuleProgram::hubs
  std::int32_t first_slot;  // in RuleProgram::spokes
};

// Neighbouring parents with the same number of rules: 0, 1, 2, 3 or a multiple of 4 (gaps are
// filled by repeating a rule), so that the loops over them need no guessing of branches.
struct ParentRun {
  std::int32_t parents;
  std::int32_t rules;  // of each
};

struct RuleProgram {
  bool soft;    // unlicensed steps are possible, at a price
  int columns;  // rows 0 .. columns - 1 are labels, then come best left, best right, and sets
  std::vector<std::uint8_t> over_one;   // may stand over one word
  std::vector<std::uint8_t> over_many;  // may stand over two words or more

  // Row columns + 2 + s is the best of the labels set_members[set_first[s] .. set_first[s + 1]).
  std::vector<std::int32_t> set_first;
  std::vector<std::int32_t> set_members;
  int sets() const { return static_cast<int>(set_first.size()) - 1; }
  int rows() const { return columns + 2 + sets(); }

  std::vector<Block> blocks;
  std::vector<std::int32_t> hubs;    // rows
  std::vector<std::int32_t> spokes;  // rows, one a slot
  int any_children = -1;             // soft: the slot of (best left, best right)
  int slots() const { return static_cast<int>(spokes.size()); }

  std::vector<std::int32_t> absent;   // labels that never stand over two words or more
  std::vector<std::int32_t> parents;  // the others, by number of rules
  std::vector<ParentRun> runs;
  std::vector<std::int32_t> rule_slots;    // the slot of each rule's pair, by parent
  std::vector<std::int32_t> rule_indices;  // in Grammar::rules; without products only
};

namespace program_detail {

struct Edge {
  std::int32_t left;
  std::int32_t right;
  std::int32_t pair;
};

struct Standing {
  bool one;
  bool many;
};

inline Standing standing(const RuleProgram& program, std::int32_t row) {
  if (row < program.columns) return {program.over_one[row] != 0, program.over_many[row] != 0};
  if (row < program.columns + 2) return {true, true};
  Standing found{false, false};
  const std::int32_t set = row - program.columns - 2;
  for (int m = program.set_first[set]; m < program.set_first[set + 1]; ++m) {
    found.one |= program.over_one[program.set_members[m]] != 0;
    found.many |= program.over_many[program.set_members[m]] != 0;
  }
  return found;
}

// The splits at which both children can stand; false where there are none.
inline bool reach_of(const RuleProgram& program, const Edge& edge, Reach& reach) {
  const Standing left = standing(program, edge.left);
  const Standing right = standing(program, edge.right);
  if ((!left.one && !left.many) || (!right.one && !right.many)) return false;
  if (!left.many) {
    reach = {1, 1};
  } else if (!right.many) {
    reach = {-1, -1};
  } else {
    reach = {static_cast<std::int8_t>(left.one ? 1 : 2),
             static_cast<std::int8_t>(right.one ? -1 : -2)};
  }
  return true;
}

// Cuts the edges (pairs of one reach) into stars, largest first, and fills blocks with them.
class StarCutter {
 public:
  StarCutter(RuleProgram& program, int max_units, std::vector<std::int32_t>& slot_of_pair)
      : program_(program), max_units_(max_units), slot_of_pair_(slot_of_pair) {}

  void cut(Reach reach, std::vector<Edge> edges) {
    std::array<std::vector<Edge>, 2> stars;  // hubs on the right, on the left; `unit` edges a star
    std::vector<Edge> loose;
    while (!edges.empty()) {
      bool on_left;
      const std::int32_t hub = busiest_label(edges, on_left);
      std::vector<Edge> star;
      std::vector<Edge> rest;
      for (const Edge& edge : edges) {
        const bool takes =
            (on_left ? edge.left : edge.right) == hub && static_cast<int>(star.size()) < unit;
        (takes ? star : rest).push_back(edge);
      }
      if (static_cast<int>(star.size()) < unit - 1) {  // so are all that would follow
        loose = std::move(edges);
        break;
      }
      fill_unit(star);
      stars[on_left].insert(stars[on_left].end(), star.begin(), star.end());
      edges.swap(rest);
    }
    fill_unit(loose);
    add_blocks(reach, false, false, stars[0]);
    add_blocks(reach, true, false, stars[1]);
    add_blocks(reach, true, true, loose);
  }

 private:
  // Gaps repeat a pair, whose slot is then written more than once and read but once.
  static void fill_unit(std::vector<Edge>& edges) {
    while (edges.size() % unit != 0) edges.push_back(edges.back());
  }

  static std::int32_t busiest_label(const std::vector<Edge>& edges, bool& on_left) {
    std::int32_t size = 0;
    for (const Edge& edge : edges) size = std::max({size, edge.left + 1, edge.right + 1});
    std::vector<int> lefts(size), rights(size);
    for (const Edge& edge : edges) ++lefts[edge.left], ++rights[edge.right];
    const auto left = std::max_element(lefts.begin(), lefts.end());
    const auto right = std::max_element(rights.begin(), rights.end());
    on_left = *left > *right;
    return static_cast<std::int32_t>(on_left ? left - lefts.begin() : right - rights.begin());
  }

  void add_blocks(Reach reach, bool hubs_left, bool loose, const std::vector<Edge>& edges) {
    const std::size_t most = static_cast<std::size_t>(max_units_) * unit;
    for (std::size_t first = 0; first < edges.size(); first += most) {
      const std::size_t end = std::min(edges.size(), first + most);
      program_.blocks.push_back(
          {reach, hubs_left, loose, static_cast<std::int8_t>((end - first) / unit),
           static_cast<std::int32_t>(program_.hubs.size()), program_.slots()});
      for (std::size_t e = first; e < end; ++e) {
        const Edge& edge = edges[e];
        if (loose || e % unit == 0) program_.hubs.push_back(hubs_left ? edge.left : edge.right);
        slot_of_pair_[edge.pair] = program_.slots();
        program_.spokes.push_back(hubs_left ? edge.right : edge.left);
      }
    }
  }

  RuleProgram& program_;
  const int max_units_;
  std::vector<std::int32_t>& slot_of_pair_;
};

inline void find_standing(const Grammar& grammar, RuleProgram& program) {
  const int columns = grammar.columns();
  program.over_one.assign(columns, 0);
  program.over_many.assign(columns, 0);
  for (int l = 0; l < columns; ++l) {
    const bool has_rules = grammar.first_rule(l) < grammar.first_rule(l + 1);
    program.over_one[l] = fits_one_word(grammar.kinds[l]) && (program.soft || grammar.words[l]);
    program.over_many[l] = fits_many_words(grammar.kinds[l]) && (program.soft || has_rules);
  }
}

// The pairs that can occur, each with its parents.
inline std::vector<Product> possible_pairs(const Grammar& grammar, const RuleProgram& program) {
  std::vector<Product> pairs;
  for (const Pair& pair : grammar.pairs) pairs.push_back({{pair.left}, {pair.right}, {}});
  for (const Rule& rule : grammar.rules) {
    if (program.over_many[rule.parent]) pairs[rule.pair].parents.push_back(rule.parent);
  }
  std::erase_if(pairs, [&](const Product& pair) {
    const Standing left = standing(program, pair.lefts[0]);
    const Standing right = standing(program, pair.rights[0]);
    return pair.parents.empty() || grammar.kinds[pair.rights[0]] == Kind::mark ||
           !(left.one || left.many) || !(right.one || right.many);
  });
  return pairs;
}

// The row of a set of labels, a new one if there is none yet.
class SetRows {
 public:
  explicit SetRows(RuleProgram& program) : program_(program) {}

  std::int32_t row(const Labels& labels) {
    if (labels.size() == 1) return labels[0];
    const auto [at, is_new] = rows_.emplace(labels, program_.rows());
    if (is_new) {
      program_.set_members.insert(program_.set_members.end(), labels.begin(), labels.end());
      program_.set_first.push_back(static_cast<std::int32_t>(program_.set_members.size()));
    }
    return at->second;
  }

 private:
  RuleProgram& program_;
  std::map<Labels, std::int32_t> rows_;
};

// What each parent takes the best of; parents are sorted by how much that is.
inline void line_up_parents(const Grammar& grammar, const std::vector<Product>& products,
                            const std::vector<std::int32_t>& slots, RuleProgram& program) {
  std::vector<Labels> read(program.columns);  // products, by parent
  for (std::size_t p = 0; p < products.size(); ++p) {
    for (const std::int32_t parent : products[p].parents) {
      read[parent].push_back(static_cast<std::int32_t>(p));
    }
  }
  for (int l = 0; l < program.columns; ++l) {
    (program.over_many[l] ? program.parents : program.absent).push_back(l);
    while (read[l].size() > 3 && read[l].size() % 4 != 0) read[l].push_back(read[l].back());
  }
  std::ranges::stable_sort(program.parents, {}, [&](std::int32_t l) { return read[l].size(); });
  for (const std::int32_t parent : program.parents) {
    const auto count = static_cast<std::int32_t>(read[parent].size());
    if (program.runs.empty() || program.runs.back().rules != count) {
      program.runs.push_back({0, count});
    }
    ++program.runs.back().parents;
    for (const std::int32_t p : read[parent]) {
      program.rule_slots.push_back(slots[p]);
      const Product& product = products[p];
      program.rule_indices.push_back(
          grammar.find_rule(parent, product.lefts[0], product.rights[0]));
    }
  }
}

}  // namespace program_detail

// `max_units`: of a block, as many as the registers hold. `merge`: products of sets instead of
// pairs, see cover.hpp; only for rules without scores, and only where the best is wanted.
inline RuleProgram make_program(const Grammar& grammar, bool soft, int max_units, bool merge) {
  using program_detail::Edge;
  RuleProgram program;
  program.soft = soft;
  program.columns = grammar.columns();
  program.set_first.push_back(0);
  program_detail::find_standing(grammar, program);

  std::vector<Product> products = program_detail::possible_pairs(grammar, program);
  if (merge) products = cover(products);
  program_detail::SetRows rows(program);
  std::vector<Edge> edges;
  for (const Product& product : products) {
    edges.push_back({rows.row(product.lefts), rows.row(product.rights),
                     static_cast<std::int32_t>(edges.size())});
  }
  const auto any_children = static_cast<std::int32_t>(edges.size());
  if (soft) edges.push_back({program.columns, program.columns + 1, any_children});

  std::vector<std::pair<Reach, std::vector<Edge>>> by_reach;
  for (const Edge& edge : edges) {
    Reach reach{};
    program_detail::reach_of(program, edge, reach);
    auto at = std::ranges::find(by_reach, reach, [](const auto& entry) { return entry.first; });
    if (at == by_reach.end()) at = by_reach.insert(at, {reach, {}});
    at->second.push_back(edge);
  }
  std::vector<std::int32_t> slots(edges.size(), -1);
  program_detail::StarCutter cutter(program, max_units, slots);
  for (auto& [reach, alike] : by_reach) cutter.cut(reach, std::move(alike));
  if (soft) program.any_children = slots[any_children];
  program_detail::line_up_parents(grammar, products, slots, program);
  return program;
}

}  // namespace treewright
