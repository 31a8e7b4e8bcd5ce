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
#include <vector>

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
  int columns;  // labels are 0 .. columns - 1; rows columns, columns + 1 are best left, best right
  std::vector<std::uint8_t> over_one;   // may stand over one word
  std::vector<std::uint8_t> over_many;  // may stand over two words or more

  std::vector<Block> blocks;
  std::vector<std::int32_t> hubs;    // labels
  std::vector<std::int32_t> spokes;  // labels, one a slot
  int any_children = -1;             // soft: the slot of (best left, best right)
  int slots() const { return static_cast<int>(spokes.size()); }

  std::vector<std::int32_t> absent;   // labels that never stand over two words or more
  std::vector<std::int32_t> parents;  // the others, by number of rules
  std::vector<ParentRun> runs;
  std::vector<std::int32_t> rule_slots;    // the slot of each rule's pair, by parent
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

// The rules of each parent, as slots; parents are sorted by how many they have.
inline void line_up_parents(const Grammar& grammar, const std::vector<std::int32_t>& slot_of_pair,
                            RuleProgram& program) {
  struct Parent {
    std::int32_t label;
    std::vector<std::int32_t> rules;
  };
  std::vector<Parent> parents;
  for (int l = 0; l < program.columns; ++l) {
    if (!program.over_many[l]) {
      program.absent.push_back(l);
      continue;
    }
    Parent parent{l, {}};
    for (int r = grammar.first_rule(l); r < grammar.first_rule(l + 1); ++r) {
      if (slot_of_pair[grammar.rules[r].pair] >= 0) parent.rules.push_back(r);
    }
    while (parent.rules.size() > 3 && parent.rules.size() % 4 != 0) {
      parent.rules.push_back(parent.rules.back());
    }
    parents.push_back(std::move(parent));
  }
  std::stable_sort(parents.begin(), parents.end(), [](const Parent& a, const Parent& b) {
    return a.rules.size() < b.rules.size();
  });
  for (const Parent& parent : parents) {
    const auto count = static_cast<std::int32_t>(parent.rules.size());
    if (program.runs.empty() || program.runs.back().rules != count) {
      program.runs.push_back({0, count});
    }
    ++program.runs.back().parents;
    program.parents.push_back(parent.label);
    for (const std::int32_t r : parent.rules) {
      program.rule_slots.push_back(slot_of_pair[grammar.rules[r].pair]);
      program.rule_indices.push_back(r);
    }
  }
}

}  // namespace program_detail

// `max_units`: of a block, as many as the registers hold.
inline RuleProgram make_program(const Grammar& grammar, bool soft, int max_units) {
  using program_detail::Edge;
  RuleProgram program;
  program.soft = soft;
  program.columns = grammar.columns();
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
  program_detail::StarCutter cutter(program, max_units, slot_of_pair);
  for (auto& [reach, edges] : by_reach) cutter.cut(reach, std::move(edges));
  program.any_children = slot_of_pair[n_pairs];
  program_detail::line_up_parents(grammar, slot_of_pair, program);
  return program;
}

}  // namespace treewright
