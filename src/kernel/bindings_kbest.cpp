// The door to k best; what the function means is said in src/treewright/_kernel.pyi.
#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "kbest_batch.hpp"

using namespace nb::literals;

namespace treewright::bindings {
namespace {

nb::tuple gather(const std::vector<KBestAnswer>& answers) {
  const std::size_t count = answers.size();
  std::size_t trees = 0;
  std::size_t nodes = 0;
  for (const KBestAnswer& answer : answers) {
    trees += answer.trees.size();
    nodes += answer.nodes.size();
  }
  auto all_nodes = std::make_unique<std::int32_t[]>(4 * nodes);
  auto first_tree = std::make_unique<std::int64_t[]>(count + 1);
  auto scores = std::make_unique<double[]>(trees);
  auto violations = std::make_unique<std::int32_t[]>(trees);
  auto roots_licensed = std::make_unique<bool[]>(trees);
  auto statuses = std::make_unique<std::int8_t[]>(count);
  Node* node = reinterpret_cast<Node*>(all_nodes.get());
  std::size_t tree = 0;
  for (std::size_t b = 0; b < count; ++b) {
    first_tree[b] = static_cast<std::int64_t>(tree);
    statuses[b] = static_cast<std::int8_t>(answers[b].status);
    node = std::copy(answers[b].nodes.begin(), answers[b].nodes.end(), node);
    for (const KBestTree& found : answers[b].trees) {
      scores[tree] = found.score;
      violations[tree] = found.violations;
      roots_licensed[tree++] = found.root_licensed;
    }
  }
  first_tree[count] = static_cast<std::int64_t>(trees);
  return nb::make_tuple(
      hand_over(std::move(all_nodes), {nodes, 4}), hand_over(std::move(first_tree), {count + 1}),
      hand_over(std::move(scores), {trees}), hand_over(std::move(violations), {trees}),
      hand_over(std::move(statuses), {count}), hand_over(std::move(roots_licensed), {trees}));
}

nb::tuple k_best(const nb::object& scores, const Vector<std::int32_t>& lengths,
                 const Vector<std::int8_t>& kinds, const PreparedGrammar* grammar, int k,
                 bool distinct, bool free, double penalty, int threads) {
  if (k < 1) refuse("k is not 1 or more");
  const std::vector<Kind> columns = read_kinds(kinds);
  return with_charts(
      scores, read_lengths(lengths), [&]<class Real>(const std::vector<ChartView<Real>>& charts) {
        check_fit(charts, columns, grammar, penalty);
        std::vector<KBestAnswer> answers;
        {
          const nb::gil_scoped_release released;
          const int count = static_cast<int>(charts.size());
          const Request<Real> request{&engine(), charts.data(), count, &columns, grammar,
                                      free,      penalty,       false, threads};
          KBest<Real>(request, k, distinct, answers).run();
        }
        return gather(answers);
      });
}

}  // namespace

void bind_k_best(nb::module_& m) {
  m.def("k_best", k_best, "scores"_a, "lengths"_a, "kinds"_a, "grammar"_a.none() = nb::none(),
        nb::kw_only(), "k"_a, "distinct"_a = false, "free"_a = false,
        "penalty"_a = std::numeric_limits<double>::infinity(), "threads"_a = 1);
}

}  // namespace treewright::bindings
