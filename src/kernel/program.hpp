// The grammar as the dense rule-based pass runs it: which labels can stand where, the child pairs
// cut into blocks that share loads, and for each parent the pairs to take the best of.
//
// v[p] = max over splits of left[a_p] + right[b_p] is computed for a block of pairs at once, one
// accumulator a pair. A block is made of *stars*: a shared label on one side and `members` labels
// on the other, so that members + 1 loads serve `members` additions.
//
// What can never happen is left out beforehand, by the tables alone: a label that is licensed
// over one word only can be a left child at the first split only, and so on. That gives every pair
// a contiguous range of splits, its *reach*, and blocks are made of pairs of one reach.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "grammar.hpp"

namespace treewright {

// How many accumulators a block has: stars * members.
struct BlockShape {
  int stars;
  int members;
  int pairs() const { return stars * members; }
};

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
  bool shares_left;  // the stars' shared labels are left children
};

struct RuleProgram {
  bool soft;    // unlicensed steps are possible, at a price
  int columns;  // labels are 0 .. columns - 1; rows columns, columns + 1 are best left, best right
  BlockShape shape;
  std::vector<std::uint8_t> over_one;   // may stand over one word
  std::vector<std::uint8_t> over_many;  // may stand over two words or more

  std::vector<Block> blocks;
  std::vector<std::int32_t> shared;   // labels, shape.stars a block
  std::vector<std::int32_t> members;  // labels, shape.pairs() a block
  int slots() const { return static_cast<int>(members.size()); }
  int any_children = -1;  // soft: the slot of (best left, best right)

  std::vector<std::int32_t> parents;       // labels of over_many, ascending
  std::vector<std::int32_t> first;         // parents + 1: where a parent's rules begin
  std::vector<std::int32_t> rule_slots;    // the slot of each rule's pair
  std::vector<std::int32_t> rule_indices;  // in Grammar::rules
};

namespace program_detail {

struct Edge {
  std::int32_t left;
  std::int32_t right;
  std::int32_t pair;
};

// The splits at which both children can stand; false where there are none.
inline bool reach_of(const RuleProgram& program, const Edge& edge, Reach& reach) {
  const int best_left = program.columns;
  const bool left_one = edge.left >= best_left || program.over_one[edge.left];
  const bool left_many = edge.left >= best_left || program.over_many[edge.left];
  const bool right_one = edge.right >= best_left || program.over_one[edge.right];
  const bool right_many = edge.right >= best_left || program.over_many[edge.right];
  if ((!left_one && !left_many) || (!right_one && !right_many)) return false;
  if (!left_many) {
    reach = {1, 1};
  } else if (!right_many) {
    reach = {-1, -1};
  } else {
    reach = {static_cast<std::int8_t>(left_one ? 1 : 2),
             static_cast<std::int8_t>(right_one ? -1 : -2)};
  }
  return true;
}

// Cuts the edges (pairs of one reach) into stars, largest first, and fills blocks with them.
class StarCutter {
 public:
  StarCutter(RuleProgram& program, std::vector<std::int32_t>& slot_of_pair)
      : program_(program), slot_of_pair_(slot_of_pair) {}

  void cut(Reach reach, std::vector<Edge> edges) {
    std::array<std::vector<std::vector<Edge>>, 2> stars;  // shared on the right, on the left
    while (!edges.empty()) {
      bool on_left;
      const std::int32_t hub = busiest_label(edges, on_left);
      std::vector<Edge> star;
      std::vector<Edge> rest;
      for (const Edge& edge : edges) {
        const bool takes = (on_left ? edge.left : edge.right) == hub &&
                           static_cast<int>(star.size()) < program_.shape.members;
        (takes ? star : rest).push_back(edge);
      }
      stars[on_left].push_back(star);
      edges.swap(rest);
    }
    for (const bool on_left : {false, true}) {
      const auto& side = stars[on_left];
      for (std::size_t i = 0; i < side.size(); i += program_.shape.stars) {
        add_block(reach, on_left, side, i);
      }
    }
  }

 private:
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

  // Fills a block with the stars from `at` on; gaps repeat a pair, whose slot is then written
  // more than once and read but once.
  void add_block(Reach reach, bool on_left, const std::vector<std::vector<Edge>>& stars,
                 std::size_t at) {
    program_.blocks.push_back({reach, on_left});
    for (int s = 0; s < program_.shape.stars; ++s) {
      const auto& star = stars[std::min(at + s, stars.size() - 1)];
      program_.shared.push_back(on_left ? star[0].left : star[0].right);
      for (int m = 0; m < program_.shape.members; ++m) {
        const Edge& edge = star[std::min<std::size_t>(m, star.size() - 1)];
        slot_of_pair_[edge.pair] = program_.slots();
        program_.members.push_back(on_left ? edge.right : edge.left);
      }
    }
  }

  RuleProgram& program_;
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

}  // namespace program_detail

inline RuleProgram make_program(const Grammar& grammar, bool soft, BlockShape shape) {
  using program_detail::Edge;
  RuleProgram program{soft, grammar.columns(), shape, {}, {}, {}, {}, {}, -1, {}, {}, {}, {}};
  program_detail::find_standing(grammar, program);

  const int n_pairs = static_cast<int>(grammar.pairs.size());
  std::vector<std::pair<Reach, std::vector<Edge>>> by_reach;
  for (int p = 0; p < n_pairs + (soft ? 1 : 0); ++p) {
    const Edge edge = p < n_pairs ? Edge{grammar.pairs[p].left, grammar.pairs[p].right, p}
                                  : Edge{program.columns, program.columns + 1, p};
    if (p < n_pairs && grammar.kinds[edge.right] == Kind::mark) continue;
    Reach reach;
    if (!program_detail::reach_of(program, edge, reach)) continue;
    auto at = std::find_if(by_reach.begin(), by_reach.end(),
                           [&](const auto& entry) { return entry.first == reach; });
    if (at == by_reach.end()) at = by_reach.insert(at, {reach, {}});
    at->second.push_back(edge);
  }
  std::vector<std::int32_t> slot_of_pair(n_pairs + 1, -1);
  program_detail::StarCutter cutter(program, slot_of_pair);
  for (auto& [reach, edges] : by_reach) cutter.cut(reach, std::move(edges));
  program.any_children = slot_of_pair[n_pairs];

  for (int l = 0; l < program.columns; ++l) {
    if (!program.over_many[l]) continue;
    program.parents.push_back(l);
    program.first.push_back(static_cast<std::int32_t>(program.rule_slots.size()));
    for (int r = grammar.first_rule(l); r < grammar.first_rule(l + 1); ++r) {
      const std::int32_t slot = slot_of_pair[grammar.rules[r].pair];
      if (slot < 0) continue;
      program.rule_slots.push_back(slot);
      program.rule_indices.push_back(r);
    }
  }
  program.first.push_back(static_cast<std::int32_t>(program.rule_slots.size()));
  return program;
}

}  // namespace treewright
