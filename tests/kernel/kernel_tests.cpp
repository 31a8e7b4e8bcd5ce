// Compares every pass of the kernel, on every instruction set that this machine runs, with the
// obvious decoder of oracle.hpp: random grammars and charts, ties, impossible scores, batches of
// differing lengths, packed and padded. Prints what differs and returns 1, or says how much agreed.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "decode.hpp"
#include "oracle.hpp"

namespace treewright::testing {
namespace {

using Random = std::mt19937;

int below(Random& random, int limit) {
  return std::uniform_int_distribution<int>(0, limit - 1)(random);
}
bool chance(Random& random, double p) { return std::bernoulli_distribution(p)(random); }

Grammar random_grammar(Random& random) {
  Grammar grammar;
  const int columns = 1 + below(random, chance(random, 0.2) ? 40 : 9);
  for (int l = 0; l < columns; ++l) {
    grammar.kinds.push_back(static_cast<Kind>(chance(random, 0.6) ? 0 : below(random, 3)));
    grammar.words.push_back(chance(random, 0.7));
    grammar.roots.push_back(chance(random, 0.6));
  }
  const double density =
      std::uniform_real_distribution<>(0, chance(random, 0.5) ? 0.5 : 0.05)(random);
  for (int a = 0; a < columns; ++a) {
    for (int b = 0; b < columns; ++b) {
      if (chance(random, density)) grammar.pairs.push_back({a, b});
    }
  }
  for (int l = 0; l < columns; ++l) {
    if (chance(random, 0.2)) continue;
    for (int p = 0; p < static_cast<int>(grammar.pairs.size()); ++p) {
      if (chance(random, 0.4)) grammar.rules.push_back({l, p});
    }
  }
  if (chance(random, 0.4)) {
    for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
      grammar.rule_scores.push_back(below(random, 5) - 2);
    }
  }
  return grammar;
}

template <class Real>
struct Batch {
  std::vector<std::vector<Real>> scores;
  std::vector<ChartView<Real>> charts;
};

template <class Real>
Batch<Real> random_batch(Random& random, int columns, int count, int longest) {
  Batch<Real> batch;
  const bool ties = chance(random, 0.5);
  const double hole = chance(random, 0.3) ? std::uniform_real_distribution<>(0, 0.9)(random) : 0;
  std::normal_distribution<double> normal;
  for (int b = 0; b < count; ++b) {
    const int n = 1 + below(random, longest);
    const int room = n + below(random, 3);
    const bool padded = chance(random, 0.5);
    std::vector<Real> scores(
        static_cast<std::size_t>(padded ? (room + 1) * (room + 1) : n * (n + 1) / 2) * columns);
    for (Real& score : scores) {
      score = static_cast<Real>(ties ? below(random, 3) - 1 : normal(random));
      if (chance(random, hole)) score = -std::numeric_limits<Real>::infinity();
    }
    batch.scores.push_back(std::move(scores));
    const Real* at = batch.scores.back().data();
    batch.charts.push_back(
        padded ? ChartView<Real>::padded(at, n, columns, (room + 1) * columns, columns)
               : ChartView<Real>::packed(at, n, columns));
  }
  return batch;
}

template <class Real>
struct Decoded {
  std::vector<Node> nodes;
  std::vector<std::int64_t> first_node;
  std::vector<double> scores;
  std::vector<Status> statuses;
  std::vector<std::uint8_t> roots_licensed;
  std::vector<Pass> passes;

  Decoded(const Request<Real>& request) {
    first_node.push_back(0);
    for (int b = 0; b < request.count; ++b) {
      first_node.push_back(first_node.back() + 2 * request.charts[b].n - 1);
    }
    nodes.resize(first_node.back());
    scores.resize(request.count);
    statuses.resize(request.count);
    roots_licensed.resize(request.count);
    passes.resize(request.count);
    const Answer answer{nodes.data(),    first_node.data(),     scores.data(),
                        statuses.data(), roots_licensed.data(), passes.data()};
    Decoder<Real>(request, answer).run();
  }
};

std::string shown(const Node* nodes, std::size_t count) {
  std::string text;
  for (std::size_t x = 0; x < count; ++x) {
    text += " (" + std::to_string(nodes[x].start) + " " + std::to_string(nodes[x].end) + " " +
            std::to_string(nodes[x].column) + ":" + std::to_string(nodes[x].rule) + ")";
  }
  return text;
}

// What one sentence should be: with no end of penalty, the best legal tree or the least illegal.
template <class Real>
Found<Real> expected(const Grammar& grammar, const ChartView<Real>& chart, bool free,
                     double penalty, std::vector<Node>& nodes) {
  if (free) return Oracle<Real>(grammar, chart, Mode::free, 0).run(nodes);
  if (std::isfinite(penalty)) {
    return Oracle<Real>(grammar, chart, Mode::soft, static_cast<Real>(penalty)).run(nodes);
  }
  const Found<Real> legal = Oracle<Real>(grammar, chart, Mode::hard, 0).run(nodes);
  if (legal.possible) return legal;
  return Oracle<Real>(grammar, chart, Mode::fewest_violations, 0).run(nodes);
}

template <class Real>
bool agrees(const Request<Real>& request, const Decoded<Real>& decoded, int b,
            const Found<Real>& found, const std::vector<Node>& nodes) {
  if ((decoded.statuses[b] == Status::found) != found.possible) return false;
  if (!found.possible) return true;
  const Node* got = decoded.nodes.data() + decoded.first_node[b];
  if (nodes.size() != static_cast<std::size_t>(2 * request.charts[b].n - 1)) return false;
  for (std::size_t x = 0; x < nodes.size(); ++x) {
    if (got[x].start != nodes[x].start || got[x].end != nodes[x].end ||
        got[x].column != nodes[x].column || got[x].rule != nodes[x].rule) {
      return false;
    }
  }
  return decoded.scores[b] == static_cast<double>(found.score) &&
         (decoded.roots_licensed[b] != 0) == found.root_licensed;
}

template <class Real>
bool compare(const Request<Real>& request, const std::vector<Found<Real>>& found,
             const std::vector<std::vector<Node>>& nodes, unsigned seed) {
  const Decoded<Real> decoded(request);
  for (int b = 0; b < request.count; ++b) {
    if (agrees(request, decoded, b, found[b], nodes[b])) continue;
    std::printf(
        "seed %u, %s, %s, free %d, penalty %g, shortcuts %d, threads %d: sentence %d of %d, "
        "%d words, %d columns, pass %d\n",
        seed, request.engine->name, sizeof(Real) == 4 ? "float" : "double", request.free,
        request.penalty, request.shortcuts, request.threads, b, request.count, request.charts[b].n,
        request.grammar->grammar.columns(), static_cast<int>(decoded.passes[b]));
    std::printf("  expected %g%s\n", static_cast<double>(found[b].score),
                shown(nodes[b].data(), nodes[b].size()).c_str());
    std::printf("  got      %g%s\n", decoded.scores[b],
                shown(decoded.nodes.data() + decoded.first_node[b], nodes[b].size()).c_str());
    return false;
  }
  return true;
}

template <class Real>
bool test(unsigned seed, std::int64_t& sentences) {
  Random random(seed);
  const Grammar grammar = random_grammar(random);
  const int longest = chance(random, 0.1) ? 40 : chance(random, 0.5) ? 12 : 4;
  const int count = 1 + below(random, longest > 12 ? 4 : chance(random, 0.5) ? 4 : 40);
  const Batch<Real> batch = random_batch<Real>(random, grammar.columns(), count, longest);
  const double penalties[] = {std::numeric_limits<double>::infinity(), 0, 1, 2.5};
  for (int mode = 0; mode < 5; ++mode) {
    const bool free = mode == 4;
    const double penalty = free ? 0 : penalties[mode];
    std::vector<Found<Real>> found;
    std::vector<std::vector<Node>> nodes(count);
    for (int b = 0; b < count; ++b) {
      found.push_back(expected(grammar, batch.charts[b], free, penalty, nodes[b]));
    }
    for (const Engine* engine : engines()) {
      const PreparedGrammar prepared(grammar, *engine);
      for (const bool shortcuts : {false, true}) {
        const Request<Real> request{engine,         batch.charts.data(), count,
                                    &grammar.kinds, &prepared,           free,
                                    penalty,        shortcuts,           1 + below(random, 2)};
        if (!compare(request, found, nodes, seed)) return false;
        sentences += count;
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace treewright::testing

// kernel_tests [batches [first seed]]
int main(int argc, char** argv) {
  using namespace treewright;
  const unsigned batches = argc > 1 ? std::atoi(argv[1]) : 200;
  const unsigned first = argc > 2 ? std::atoi(argv[2]) : 0;
  std::int64_t sentences = 0;
  for (unsigned seed = first; seed < first + batches; ++seed) {
    if (!testing::test<float>(seed, sentences)) return 1;
    if (!testing::test<double>(seed, sentences)) return 1;
  }
  std::string names;
  for (const Engine* engine : engines()) names += std::string(" ") + engine->name;
  std::printf("%lld sentences agree; instruction sets:%s\n", static_cast<long long>(sentences),
              names.c_str());
  return 0;
}
