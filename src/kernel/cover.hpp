// Fewer sums for the same maxima. Where rules have no scores, `max over b in B of left[a] +
// right[b]` is `left[a] + max over b in B of right[b]`, to the last bit. So the rules are covered
// by products lefts x rights x parents, each of which stands for all the rules parent -> left right
// in it; a rule may be covered twice. One sum a product replaces one a pair. (A real grammar: 322
// pairs become 154 products, 1,009 rules 517 readings of a product.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace treewright {

using Labels = std::vector<std::int32_t>;  // ascending, distinct

struct Product {
  Labels lefts;
  Labels rights;
  Labels parents;
};

namespace cover_detail {

// One right label beside a given left one: the parents, and those not yet covered.
struct Spoke {
  std::int32_t right;
  Labels parents;
  Labels open;
};

struct Choice {
  double gain = 0;  // rules newly covered for the work of it
  Labels rights;
  Labels parents;
};

inline Choice weigh(const std::vector<Spoke>& spokes, const Labels& parents) {
  constexpr double sums = 16;  // what the sums of a product cost, in maxima
  Choice choice{0, {}, parents};
  std::size_t covered = 0;
  for (const Spoke& spoke : spokes) {
    if (!std::ranges::includes(spoke.parents, parents)) continue;
    Labels fresh;
    std::ranges::set_intersection(spoke.open, parents, std::back_inserter(fresh));
    if (fresh.empty()) continue;
    covered += fresh.size();
    choice.rights.push_back(spoke.right);
  }
  const double gathering = choice.rights.size() > 1 ? choice.rights.size() : 0;
  choice.gain = covered / (sums + parents.size() + gathering);
  return choice;
}

// Covers the rules of one left label, the most gainful product first.
inline std::vector<std::pair<Labels, Labels>> cover_left(std::vector<Spoke> spokes) {
  std::vector<std::pair<Labels, Labels>> found;
  while (true) {
    Choice best;
    for (const Spoke& spoke : spokes) {
      if (spoke.open.empty()) continue;
      for (const Labels* parents : {&spoke.parents, &spoke.open}) {
        Choice choice = weigh(spokes, *parents);
        if (choice.gain > best.gain) best = std::move(choice);
        if (spoke.open.size() == spoke.parents.size()) break;
      }
    }
    if (best.rights.empty()) return found;
    for (Spoke& spoke : spokes) {
      if (!std::ranges::binary_search(best.rights, spoke.right)) continue;
      Labels rest;
      std::ranges::set_difference(spoke.open, best.parents, std::back_inserter(rest));
      spoke.open = std::move(rest);
    }
    found.emplace_back(std::move(best.rights), std::move(best.parents));
  }
}

}  // namespace cover_detail

// `pairs`: products of one left and one right label each, sorted by left, then right.
inline std::vector<Product> cover(const std::vector<Product>& pairs) {
  std::map<std::pair<Labels, Labels>, Labels> lefts_of;  // of rights and parents
  for (std::size_t first = 0; first < pairs.size();) {
    const std::int32_t left = pairs[first].lefts[0];
    std::vector<cover_detail::Spoke> spokes;
    for (; first < pairs.size() && pairs[first].lefts[0] == left; ++first) {
      spokes.push_back({pairs[first].rights[0], pairs[first].parents, pairs[first].parents});
    }
    for (auto& product : cover_detail::cover_left(std::move(spokes))) {
      lefts_of[std::move(product)].push_back(left);
    }
  }
  std::vector<Product> found;
  for (const auto& [beside, lefts] : lefts_of)
    found.push_back({lefts, beside.first, beside.second});
  return found;
}

}  // namespace treewright
