// The door to marginals; what the function means is said in src/treewright/_kernel.pyi.
#include <algorithm>
#include <limits>
#include <optional>

#include "bindings.hpp"
#include "marginals.hpp"

using namespace nb::literals;

namespace treewright::bindings {
namespace {

template <class Real>
nb::tuple find_marginals(const std::vector<ChartView<Real>>& charts, const PreparedGrammar& grammar,
                         double penalty, bool rule_counts, bool logs, int threads) {
  const std::size_t count = charts.size();
  const std::size_t columns = grammar.grammar.kinds.size();
  const std::size_t rules = grammar.grammar.rules.size();
  auto first_cell = std::make_unique<std::int64_t[]>(count + 1);
  for (std::size_t b = 0; b < count; ++b) first_cell[b + 1] = first_cell[b] + cells(charts[b].n);
  const auto rows = static_cast<std::size_t>(first_cell[count]);
  std::unique_ptr<double[]> posteriors(new double[rows * columns]);  // all of it is written
  auto log_partitions = std::make_unique<double[]>(count);
  auto violations = std::make_unique<std::int32_t[]>(count);
  auto statuses = std::make_unique<std::int8_t[]>(count);
  auto took_logs = std::make_unique<bool[]>(count);
  auto counts = std::make_unique<double[]>(rule_counts ? count * rules : 0);
  {
    const nb::gil_scoped_release released;
    const MarginalsAnswer answer{posteriors.get(),
                                 first_cell.get(),
                                 log_partitions.get(),
                                 violations.get(),
                                 reinterpret_cast<Status*>(statuses.get()),
                                 took_logs.get(),
                                 rule_counts ? counts.get() : nullptr};
    const MarginalsRequest<Real> request{
        &engine(), charts.data(), static_cast<int>(count), &grammar, penalty, logs, threads};
    Marginals<Real>(request, answer).run();
  }
  const nb::object found_counts =
      rule_counts ? nb::cast(hand_over(std::move(counts), {count, rules})) : nb::none();
  return nb::make_tuple(hand_over(std::move(posteriors), {rows, columns}),
                        hand_over(std::move(log_partitions), {count}),
                        hand_over(std::move(violations), {count}),
                        hand_over(std::move(statuses), {count}),
                        hand_over(std::move(took_logs), {count}), found_counts);
}

nb::tuple marginals(const nb::object& scores, const Vector<std::int32_t>& lengths,
                    const Vector<std::int8_t>& kinds, const PreparedGrammar* grammar,
                    double penalty, bool rule_counts, bool logs, int threads) {
  const std::vector<Kind> columns = read_kinds(kinds);
  std::optional<PreparedGrammar> free;
  if (grammar == nullptr) free.emplace(free_grammar(columns), engine());
  return with_charts(scores, read_lengths(lengths),
                     [&]<class Real>(const std::vector<ChartView<Real>>& charts) {
                       check_fit(charts, columns, grammar, penalty);
                       return find_marginals(charts, free ? *free : *grammar, free ? 0 : penalty,
                                             rule_counts, logs, threads);
                     });
}

}  // namespace

void bind_marginals(nb::module_& m) {
  m.def("marginals", marginals, "scores"_a, "lengths"_a, "kinds"_a, "grammar"_a.none() = nb::none(),
        nb::kw_only(), "penalty"_a = std::numeric_limits<double>::infinity(),
        "rule_counts"_a = false, "logs"_a = false, "threads"_a = 1);
}

}  // namespace treewright::bindings
