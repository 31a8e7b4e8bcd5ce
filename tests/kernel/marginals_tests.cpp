// Compares marginals with the enumeration of every tree, with logs where trees are too many, and
// with what must hold of all: every instruction set, free, hard, soft and with violations.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "enumeration.hpp"
#include "marginals.hpp"

namespace treewright::testing {
namespace {

template <class Real>
struct Found_ {
  std::vector<double> posteriors;
  std::vector<double> log_partitions;
  std::vector<std::int32_t> violations;
  std::vector<Status> statuses;
  std::vector<double> rule_counts;
  std::unique_ptr<bool[]> took_logs;

  Found_(const Engine& engine, const Charts<Real>& charts, const PreparedGrammar& grammar,
         double penalty, bool logs) {
    const int count = static_cast<int>(charts.views.size());
    posteriors.assign(charts.first_cell.back() * grammar.grammar.columns(), -1);
    log_partitions.resize(count);
    violations.resize(count);
    statuses.resize(count);
    rule_counts.assign(count * grammar.grammar.rules.size() + 1, 0);
    took_logs = std::make_unique<bool[]>(count);
    const MarginalsAnswer answer{posteriors.data(), charts.first_cell.data(), log_partitions.data(),
                                 violations.data(), statuses.data(),          took_logs.get(),
                                 rule_counts.data()};
    const MarginalsRequest<Real> request{
        &engine, charts.views.data(), count, &grammar, penalty, logs, 2};
    Marginals<Real>(request, answer).run();
  }
};

bool near(double a, double b, double tolerance) {
  return a == b || std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

bool fail(const char* what, double got, double wanted) {
  std::printf("%s: %.17g, not %.17g\n", what, got, wanted);
  return false;
}

// One sentence against all its derivations.
template <class Real>
bool agrees(const Found_<Real>& found, const Charts<Real>& charts, int b, const Grammar& grammar,
            double penalty) {
  const ChartView<Real>& chart = charts.views[b];
  const std::vector<Derivation> all = Enumeration(grammar, chart, penalty).derivations();
  if (all.empty()) {
    return found.statuses[b] == Status::impossible || fail("status", 0, 1);
  }
  if (found.statuses[b] != Status::found) return fail("status", 1, 0);
  int fewest = std::isfinite(penalty) ? 0 : all[0].violations;
  double top = -std::numeric_limits<double>::infinity();
  for (const Derivation& d : all) {
    if (!std::isfinite(penalty)) fewest = std::min(fewest, d.violations);
  }
  const auto counts = [&](const Derivation& d) {
    return std::isfinite(penalty) || d.violations == fewest;
  };
  for (const Derivation& d : all) {
    if (counts(d)) top = std::max(top, d.score);
  }
  double sum = 0;
  std::vector<double> posteriors(chart.n * (chart.n + 1) / 2 * chart.columns, 0.0);
  std::vector<double> rules(grammar.rules.size(), 0.0);
  for (const Derivation& d : all) {
    if (!counts(d)) continue;
    const double weight = std::exp(d.score - top);
    sum += weight;
    for (const Node& node : d.nodes) {
      const int n = chart.n;
      const int i = node.start;
      const int cell = i * n - i * (i - 1) / 2 + (node.end - i - 1);
      posteriors[cell * chart.columns + node.column] += weight;
      if (node.end - node.start > 1 && node.rule >= 0) rules[node.rule] += weight;
    }
  }
  if (!near(found.log_partitions[b], top + std::log(sum), 1e-11)) {
    return fail("log partition", found.log_partitions[b], top + std::log(sum));
  }
  if (found.violations[b] != fewest) return fail("violations", found.violations[b], fewest);
  const double* got = found.posteriors.data() + charts.first_cell[b] * chart.columns;
  for (std::size_t x = 0; x < posteriors.size(); ++x) {
    if (!near(got[x], posteriors[x] / sum, 1e-11)) return fail("p", got[x], posteriors[x] / sum);
  }
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const double count = found.rule_counts[b * rules.size() + r];
    if (!near(count, rules[r] / sum, 1e-11)) return fail("rule count", count, rules[r] / sum);
  }
  return true;
}

const double infinity = std::numeric_limits<double>::infinity();

template <class Real>
bool test_small(unsigned seed) {
  Random random(seed);
  const bool free = chance(random, 0.2);
  const int most = 1 + below(random, 5);
  const int longest = most > 3 ? 4 : most > 2 ? 5 : 6;
  Grammar tables = small_grammar(random, most);
  if (free) tables = free_grammar(tables.kinds);
  const double penalties[] = {0, 0.5, 1, 3, 900, infinity, infinity, infinity};
  const double penalty = free ? 0 : penalties[below(random, 8)];
  std::vector<int> lengths;
  for (int b = 1 + below(random, 9); b > 0; --b) lengths.push_back(1 + below(random, longest));
  const auto kind = static_cast<Scores>(below(random, 4));
  const Charts<Real> charts(random, lengths, tables.columns(), kind);
  for (const Engine* engine : engines()) {
    const PreparedGrammar grammar(tables, *engine);
    for (const bool logs : {false, true}) {
      const Found_<Real> found(*engine, charts, grammar, penalty, logs);
      for (std::size_t b = 0; b < lengths.size(); ++b) {
        if (agrees(found, charts, static_cast<int>(b), tables, penalty)) continue;
        std::printf("seed %u, %s, logs %d, penalty %g, sentence %zu of %d words, %d columns\n",
                    seed, engine->name, logs, penalty, b, lengths[b], tables.columns());
        return false;
      }
    }
  }
  return true;
}

// Longer sentences: both ways agree, and the nodes of a derivation add up.
template <class Real>
bool test_long(unsigned seed, int longest) {
  Random random(seed);
  Grammar tables = small_grammar(random, 12);
  const double penalties[] = {0, 1, 30, infinity, infinity};
  const double penalty = penalties[below(random, 5)];
  std::vector<int> lengths;
  for (int b = 1 + below(random, 9); b > 0; --b) lengths.push_back(1 + below(random, longest));
  const auto kind = static_cast<Scores>(below(random, 4));
  const Charts<Real> charts(random, lengths, tables.columns(), kind);
  for (const Engine* engine : engines()) {
    const PreparedGrammar grammar(tables, *engine);
    const Found_<Real> fast(*engine, charts, grammar, penalty, false);
    const Found_<Real> safe(*engine, charts, grammar, penalty, true);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const char* wrong = nullptr;
      if (fast.statuses[b] != safe.statuses[b]) wrong = "status";
      const std::int64_t first = charts.first_cell[b] * tables.columns();
      const std::int64_t end = charts.first_cell[b + 1] * tables.columns();
      if (wrong == nullptr && fast.statuses[b] == Status::found) {
        if (!near(fast.log_partitions[b], safe.log_partitions[b], 1e-10)) wrong = "log partition";
        double nodes = 0;
        for (std::int64_t x = first; x < end; ++x) {
          if (!near(fast.posteriors[x], safe.posteriors[x], 1e-7)) wrong = "posterior";
          nodes += fast.posteriors[x];
        }
        if (!near(nodes, 2 * lengths[b] - 1, 1e-9)) wrong = "number of nodes";
        double root = 0;
        const std::int64_t whole = first + (lengths[b] - 1) * tables.columns();
        for (int l = 0; l < tables.columns(); ++l) root += fast.posteriors[whole + l];
        if (!near(root, 1, 1e-10)) wrong = "root";
      }
      if (wrong == nullptr) continue;
      std::printf("%s: seed %u, %s, penalty %g, sentence %zu of %d words, %.17g and %.17g\n", wrong,
                  seed, engine->name, penalty, b, lengths[b], fast.log_partitions[b],
                  safe.log_partitions[b]);
      return false;
    }
  }
  return true;
}

// The derivative of the log partition by a score is the label's marginal.
bool test_differences(unsigned seed) {
  Random random(seed);
  const Grammar tables = small_grammar(random, 6);
  Charts<double> charts(random, {9}, tables.columns(), Scores::normal);
  const double penalty = chance(random, 0.5) ? 1 : infinity;
  const PreparedGrammar grammar(tables, engine());
  const Found_<double> found(engine(), charts, grammar, penalty, false);
  if (found.statuses[0] != Status::found) return true;
  for (int trial = 0; trial < 20; ++trial) {
    const int x = below(random, static_cast<int>(charts.scores[0].size()));
    const double step = 1e-4;
    double logs[2];
    for (const int sign : {-1, 1}) {
      charts.scores[0][x] += sign * step;
      logs[sign > 0] = Found_<double>(engine(), charts, grammar, penalty, false).log_partitions[0];
      charts.scores[0][x] -= sign * step;
    }
    const double slope = (logs[1] - logs[0]) / (2 * step);
    if (std::abs(slope - found.posteriors[x]) > 1e-6) {
      std::printf("seed %u\n", seed);
      return fail("slope", found.posteriors[x], slope);
    }
  }
  return true;
}

// Everywhere the only useful label is e^-spread times as likely as one that no rule can use.
bool test_underflow(double spread, bool logs_wanted) {
  Grammar tables;
  tables.kinds = {Kind::real, Kind::real};
  tables.pairs = {{0, 0}, {1, 1}};
  tables.rules = {{0, 0}, {1, 1}};
  tables.words = {1, 1};
  tables.roots = {1, 0};
  Random random(1);
  Charts<double> charts(random, {20, 20, 7}, 2, Scores::normal);
  for (auto& scores : charts.scores) {
    for (std::size_t x = 0; x < scores.size(); x += 2) scores[x] -= spread;
  }
  for (const Engine* engine : engines()) {
    const PreparedGrammar grammar(tables, *engine);
    const Found_<double> fast(*engine, charts, grammar, infinity, false);
    const Found_<double> safe(*engine, charts, grammar, infinity, true);
    for (int b = 0; b < 3; ++b) {
      if (fast.took_logs[b] != logs_wanted) return fail("took logs", fast.took_logs[b], spread);
      if (!near(fast.log_partitions[b], safe.log_partitions[b], 1e-12)) {
        return fail("log partition", fast.log_partitions[b], safe.log_partitions[b]);
      }
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
    const bool good = test_small<float>(seed) && test_small<double>(seed) &&
                      (seed % 10 != 0 || (test_long<float>(seed, 40) &&
                                          test_long<double>(seed, 40) && test_differences(seed)));
    if (!good) return 1;
  }
  if (!test_underflow(10, false) || !test_underflow(400, true) || !test_underflow(5000, true)) {
    return 1;
  }
  std::printf("marginals: %u batches agree on %zu instruction sets\n", trials,
              treewright::engines().size());
  return 0;
}
