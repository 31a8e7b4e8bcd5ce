// What a decoder knows of the grammar: columns, rules grouped by child pair, licences.
// Owns no meaning beyond integers; Python builds the tables (treewright.grammar.tables).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace treewright {

// What a chart column stands for. Marks stand over two words or more, are never a right child and
// never the root; the word null stands over one word only.
enum class Kind : std::int8_t { real = 0, mark = 1, word_null = 2 };

inline bool fits_one_word(Kind kind) { return kind != Kind::mark; }
inline bool fits_many_words(Kind kind) { return kind != Kind::word_null; }
inline bool fits_left(Kind kind, int words) {
  return words == 1 ? fits_one_word(kind) : fits_many_words(kind);
}
inline bool fits_right(Kind kind, int words) {
  return kind != Kind::mark && fits_left(kind, words);
}
inline bool fits_root(Kind kind, int words) { return fits_right(kind, words); }

struct Pair {
  std::int32_t left;
  std::int32_t right;
};

// `parent -> pairs[pair]`.
struct Rule {
  std::int32_t parent;
  std::int32_t pair;
};

struct Grammar {
  std::vector<Kind> kinds;          // one a column
  std::vector<Pair> pairs;          // distinct, sorted by left, then right
  std::vector<Rule> rules;          // distinct, sorted by parent, then pair
  std::vector<double> rule_scores;  // one a rule, or empty: all zero
  std::vector<std::uint8_t> words;  // licensed over one word, one a column
  std::vector<std::uint8_t> roots;  // licensed at the root, one a column

  int columns() const { return static_cast<int>(kinds.size()); }
  bool scored() const { return !rule_scores.empty(); }
  double rule_score(int rule) const { return scored() ? rule_scores[rule] : 0.0; }

  // The rules of a parent: rules[first_rule(l)] up to rules[first_rule(l + 1)].
  int first_rule(int parent) const {
    const auto at =
        std::lower_bound(rules.begin(), rules.end(), parent,
                         [](const Rule& rule, int label) { return rule.parent < label; });
    return static_cast<int>(at - rules.begin());
  }

  // Of each rule the first after it that has another parent or left child.
  std::vector<std::int32_t> next_left() const {
    const int count = static_cast<int>(rules.size());
    std::vector<std::int32_t> next(count, count);
    for (int r = count - 2; r >= 0; --r) {
      const bool same = rules[r].parent == rules[r + 1].parent &&
                        pairs[rules[r].pair].left == pairs[rules[r + 1].pair].left;
      next[r] = same ? next[r + 1] : r + 1;
    }
    return next;
  }

  // The index of `parent -> left right`, or -1.
  int find_rule(int parent, int left, int right) const {
    const auto at = std::lower_bound(
        rules.begin(), rules.end(), Pair{left, right}, [&](const Rule& rule, const Pair& wanted) {
          if (rule.parent != parent) return rule.parent < parent;
          const Pair& pair = pairs[rule.pair];
          return pair.left != wanted.left ? pair.left < wanted.left : pair.right < wanted.right;
        });
    if (at == rules.end() || at->parent != parent) return -1;
    const Pair& pair = pairs[at->pair];
    return pair.left == left && pair.right == right ? static_cast<int>(at - rules.begin()) : -1;
  }
};

}  // namespace treewright
