// Compares k best with the enumeration of every tree: every instruction set, free, hard, soft and
// with violations, ties, impossible scores, all derivations or distinct trees only. Where trees
// are too many, with what must hold of any k best.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "enumeration.hpp"
#include "kbest_batch.hpp"

namespace treewright::testing {
namespace {

const double infinity = std::numeric_limits<double>::infinity();

struct Setting {
  bool free;
  double penalty;
  int k;
  bool distinct;
  bool exact;  // sums of scores are exact, so that ties are ties
};

template <class Real>
std::vector<KBestAnswer> k_best(const Engine& engine, const Charts<Real>& charts,
                                const PreparedGrammar& grammar, const Setting& setting) {
  const Request<Real> request{&engine,
                              charts.views.data(),
                              static_cast<int>(charts.views.size()),
                              &grammar.grammar.kinds,
                              &grammar,
                              setting.free,
                              setting.penalty,
                              false,
                              2};
  std::vector<KBestAnswer> answers;
  KBest<Real>(request, setting.k, setting.distinct, answers).run();
  return answers;
}

// The brackets that undoing binarisation leaves.
std::vector<int> brackets(const std::vector<Node>& nodes, const Grammar& grammar) {
  std::vector<int> found;
  for (const Node& node : nodes) {
    if (grammar.kinds[node.column] == Kind::mark) continue;
    found.insert(found.end(), {node.start, node.end, node.column});
  }
  return found;
}

// The expected trees, in order.
template <class Real>
std::vector<Derivation> expected(const Grammar& grammar, const ChartView<Real>& chart,
                                 const Setting& setting) {
  const Grammar free = free_grammar(grammar.kinds);
  std::vector<Derivation> all = setting.free
                                    ? Enumeration(free, chart, 0).derivations()
                                    : Enumeration(grammar, chart, setting.penalty).derivations();
  const bool fewest = !setting.free && std::isinf(setting.penalty);
  std::vector<std::pair<std::vector<int>, const Derivation*>> order;
  for (const Derivation& d : all) order.push_back({spelled(d.nodes), &d});
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (fewest && a.second->violations != b.second->violations) {
      return a.second->violations < b.second->violations;
    }
    if (a.second->score != b.second->score) return a.second->score > b.second->score;
    return a.first < b.first;
  });
  std::vector<Derivation> best;
  std::set<std::vector<int>> seen;
  for (const auto& [spelling, derivation] : order) {
    if (static_cast<int>(best.size()) == setting.k) break;
    if (setting.distinct && !seen.insert(brackets(derivation->nodes, grammar)).second) continue;
    best.push_back(*derivation);
  }
  return best;
}

bool same(const Node* got, const std::vector<Node>& nodes, bool rules) {
  for (std::size_t x = 0; x < nodes.size(); ++x) {
    if (got[x].start != nodes[x].start || got[x].end != nodes[x].end ||
        got[x].column != nodes[x].column || (rules && got[x].rule != nodes[x].rule)) {
      return false;
    }
  }
  return true;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::max(1.0, std::abs(b)); }

const char* compare(const KBestAnswer& got, const std::vector<Derivation>& wanted,
                    const Setting& setting, int n) {
  if (got.trees.size() != wanted.size()) return "number of trees";
  if ((got.status == Status::found) != !wanted.empty()) return "status";
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    if (!near(got.trees[t].score, wanted[t].score)) return "score";
    const bool whole = !setting.free;
    if (std::isinf(setting.penalty) && whole && got.trees[t].violations != wanted[t].violations) {
      return "violations";
    }
    if (setting.exact && !same(got.nodes.data() + t * (2 * n - 1), wanted[t].nodes, whole)) {
      return "tree";
    }
  }
  return nullptr;
}

template <class Real>
bool test_small(unsigned seed) {
  Random random(seed);
  const int most = 1 + below(random, 5);
  const int longest = most > 3 ? 4 : most > 2 ? 5 : 6;
  const Grammar tables = small_grammar(random, most);
  const double penalties[] = {0, 1, 3, infinity, infinity};
  const int ks[] = {1, 2, 3, 10, 50, 100000};
  const auto kind = static_cast<Scores>(below(random, 3));
  const Setting setting{chance(random, 0.2), penalties[below(random, 5)], ks[below(random, 6)],
                        chance(random, 0.4), kind == Scores::whole};
  std::vector<int> lengths;
  for (int b = 1 + below(random, 9); b > 0; --b) lengths.push_back(1 + below(random, longest));
  const Charts<Real> charts(random, lengths, tables.columns(), kind);
  for (const Engine* engine : engines()) {
    const PreparedGrammar grammar(tables, *engine);
    const std::vector<KBestAnswer> got = k_best(*engine, charts, grammar, setting);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const char* wrong =
          compare(got[b], expected(tables, charts.views[b], setting), setting, lengths[b]);
      if (wrong == nullptr) continue;
      std::printf(
          "%s: seed %u, %s, free %d, penalty %g, k %d, distinct %d, sentence %zu of %d "
          "words, %d columns\n",
          wrong, seed, engine->name, setting.free, setting.penalty, setting.k, setting.distinct, b,
          lengths[b], tables.columns());
      return false;
    }
  }
  return true;
}

// Longer sentences: the first is the best tree, scores fall, trees differ, and all engines agree.
template <class Real>
bool test_long(unsigned seed, int longest) {
  Random random(seed);
  const Grammar tables = small_grammar(random, 12);
  const double penalties[] = {0, 1, infinity, infinity};
  const auto kind = static_cast<Scores>(below(random, 3));
  const Setting setting{chance(random, 0.2), penalties[below(random, 4)], 30, chance(random, 0.4),
                        kind == Scores::whole};
  std::vector<int> lengths;
  for (int b = 1 + below(random, 9); b > 0; --b) lengths.push_back(1 + below(random, longest));
  const Charts<Real> charts(random, lengths, tables.columns(), kind);
  std::vector<KBestAnswer> first_answers;
  for (const Engine* engine : engines()) {
    const PreparedGrammar grammar(tables, *engine);
    const std::vector<KBestAnswer> got = k_best(*engine, charts, grammar, setting);
    if (first_answers.empty()) first_answers = got;
    const Setting best{setting.free, setting.penalty, 1, false, false};
    const std::vector<KBestAnswer> top = k_best(*engine, charts, grammar, best);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const std::size_t size = 2 * lengths[b] - 1;
      const std::vector<KBestTree>& trees = got[b].trees;
      const char* wrong = nullptr;
      if (got[b].status != top[b].status) wrong = "status";
      if (trees.size() != first_answers[b].trees.size()) wrong = "number of trees";
      std::set<std::vector<int>> seen;
      for (std::size_t t = 0; wrong == nullptr && t < trees.size(); ++t) {
        const Node* at = got[b].nodes.data() + t * size;
        const std::vector<Node> nodes(at, at + size);
        if (!seen.insert(setting.distinct ? brackets(nodes, tables) : spelled(nodes)).second) {
          wrong = "the same tree twice";
        }
        if (!near(trees[t].score, first_answers[b].trees[t].score)) wrong = "score by engine";
        if (t == 0 && !near(trees[0].score, top[b].trees[0].score)) wrong = "first score";
        if (t == 0 && setting.exact &&
            !same(at, {top[b].nodes.begin(), top[b].nodes.end()}, true)) {
          wrong = "first tree";
        }
        if (setting.exact && !same(at,
                                   {first_answers[b].nodes.begin() + t * size,
                                    first_answers[b].nodes.begin() + (t + 1) * size},
                                   true)) {
          wrong = "tree by engine";
        }
        if (t > 0 && trees[t].violations == trees[t - 1].violations &&
            trees[t].score > trees[t - 1].score) {
          wrong = "order";
        }
      }
      if (wrong == nullptr) continue;
      std::printf("%s: seed %u, %s, free %d, penalty %g, distinct %d, sentence %zu of %d words\n",
                  wrong, seed, engine->name, setting.free, setting.penalty, setting.distinct, b,
                  lengths[b]);
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace treewright::testing

int main(int argc, char** argv) {
  using namespace treewright::testing;
  const unsigned trials = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 300;
  for (unsigned seed = 0; seed < trials; ++seed) {
    const bool good =
        test_small<float>(seed) && test_small<double>(seed) &&
        (seed % 5 != 0 || (test_long<float>(seed, 40) && test_long<double>(seed, 40)));
    if (!good) return 1;
  }
  std::printf("k best: %u batches agree on %zu instruction sets\n", trials,
              treewright::engines().size());
  return 0;
}
