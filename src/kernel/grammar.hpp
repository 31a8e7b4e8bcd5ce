// What a decoder knows of the grammar: columns, rules grouped by child pair, licences.
// Owns no meaning beyond integers; Python builds the tables (treewright.grammar.tables).
#pragma once

#include <cstdint>
#include <vector>

namespace treewright {

// What a chart column stands for. Marks stand over two words or more, are never a right child and
// never the root; the word null stands over one word only.
enum class Kind : std::int8_t { real = 0, mark = 1, word_null = 2 };

struct Pair {
  std::int32_t left;
  std::int32_t right;
};

// `parent -> pairs[pair]`; sorted by parent, then pair.
struct Rule {
  std::int32_t parent;
  std::int32_t pair;
};

struct Grammar {
  std::vector<Kind> kinds;          // one a column
  std::vector<Pair> pairs;          // distinct, sorted
  std::vector<Rule> rules;          // sorted by parent, then pair
  std::vector<double> rule_scores;  // one a rule, or empty: all zero
  std::vector<std::uint8_t> words;  // licensed over one word, one a column
  std::vector<std::uint8_t> roots;  // licensed at the root, one a column

  int columns() const { return static_cast<int>(kinds.size()); }
};

}  // namespace treewright
