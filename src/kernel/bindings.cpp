// The door between Python and the kernel: checks shapes, releases the GIL, nothing else.
// What the functions mean is said in src/treewright/_kernel.pyi.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "decode.hpp"
#include "engine.hpp"

using namespace nb::literals;

namespace treewright::bindings {
namespace {

void check_tables(const Grammar& grammar) {
  const int columns = grammar.columns();
  const auto is_column = [&](std::int32_t label) { return 0 <= label && label < columns; };
  for (std::size_t p = 0; p < grammar.pairs.size(); ++p) {
    const Pair& pair = grammar.pairs[p];
    if (!is_column(pair.left) || !is_column(pair.right)) refuse("a pair names no column");
    if (p == 0) continue;
    const Pair& before = grammar.pairs[p - 1];
    if (before.left > pair.left || (before.left == pair.left && before.right >= pair.right)) {
      refuse("pairs are not sorted and distinct");
    }
  }
  for (std::size_t r = 0; r < grammar.rules.size(); ++r) {
    const Rule& rule = grammar.rules[r];
    if (!is_column(rule.parent)) refuse("a rule names no column");
    if (rule.pair < 0 || rule.pair >= static_cast<std::int32_t>(grammar.pairs.size())) {
      refuse("a rule names no pair");
    }
    if (r == 0) continue;
    const Rule& before = grammar.rules[r - 1];
    if (before.parent > rule.parent || (before.parent == rule.parent && before.pair >= rule.pair)) {
      refuse("rules are not sorted and distinct");
    }
  }
  for (const double score : grammar.rule_scores) {
    if (!(score < std::numeric_limits<double>::infinity())) refuse("a rule score is NaN or +inf");
  }
}

PreparedGrammar prepare(const Vector<std::int8_t>& kinds, const Matrix<std::int32_t>& pairs,
                        const Matrix<std::int32_t>& rules, const Vector<bool>& words,
                        const Vector<bool>& roots,
                        const std::optional<Vector<double>>& rule_scores) {
  Grammar grammar;
  grammar.kinds = read_kinds(kinds);
  if (pairs.shape(1) != 2 || rules.shape(1) != 2) refuse("pairs and rules have two columns");
  if (words.shape(0) != kinds.shape(0) || roots.shape(0) != kinds.shape(0)) {
    refuse("kinds, words and roots differ in length");
  }
  for (size_t p = 0; p < pairs.shape(0); ++p) {
    grammar.pairs.push_back({pairs.data()[2 * p], pairs.data()[2 * p + 1]});
  }
  for (size_t r = 0; r < rules.shape(0); ++r) {
    grammar.rules.push_back({rules.data()[2 * r], rules.data()[2 * r + 1]});
  }
  grammar.words.assign(words.data(), words.data() + words.shape(0));
  grammar.roots.assign(roots.data(), roots.data() + roots.shape(0));
  if (rule_scores) {
    if (rule_scores->shape(0) != rules.shape(0)) refuse("one score a rule is wanted");
    grammar.rule_scores.assign(rule_scores->data(), rule_scores->data() + rule_scores->shape(0));
  }
  check_tables(grammar);
  return PreparedGrammar(std::move(grammar), engine());
}

struct Options {
  bool free;
  double penalty;
  bool shortcuts;
  int threads;
};

template <class Real>
nb::tuple decode_views(const std::vector<ChartView<Real>>& charts, const std::vector<Kind>& kinds,
                       const PreparedGrammar* grammar, const Options& options) {
  const std::size_t count = charts.size();
  check_fit(charts, kinds, grammar, options.penalty);
  auto first_node = std::make_unique<std::int64_t[]>(count + 1);
  first_node[0] = 0;
  for (std::size_t b = 0; b < count; ++b) {
    first_node[b + 1] = first_node[b] + 2 * std::int64_t{charts[b].n} - 1;
  }
  const auto total = static_cast<std::size_t>(first_node[count]);
  auto nodes = std::make_unique<std::int32_t[]>(4 * total);
  auto scores = std::make_unique<double[]>(count);
  auto statuses = std::make_unique<std::int8_t[]>(count);
  auto roots_licensed = std::make_unique<bool[]>(count);
  auto passes = std::make_unique<std::int8_t[]>(count);
  {
    const nb::gil_scoped_release released;
    static_assert(sizeof(Node) == 4 * sizeof(std::int32_t) && sizeof(bool) == 1);
    const Answer answer{reinterpret_cast<Node*>(nodes.get()),
                        first_node.get(),
                        scores.get(),
                        reinterpret_cast<Status*>(statuses.get()),
                        reinterpret_cast<std::uint8_t*>(roots_licensed.get()),
                        reinterpret_cast<Pass*>(passes.get())};
    const Request<Real> request{&engine(),       charts.data(),     static_cast<int>(count),
                                &kinds,          grammar,           options.free,
                                options.penalty, options.shortcuts, options.threads};
    Decoder<Real>(request, answer).run();
  }
  return nb::make_tuple(
      hand_over(std::move(nodes), {total, 4}), hand_over(std::move(first_node), {count + 1}),
      hand_over(std::move(scores), {count}), hand_over(std::move(statuses), {count}),
      hand_over(std::move(roots_licensed), {count}), hand_over(std::move(passes), {count}));
}

template <class Scores>
nb::tuple decode(const Scores& scores, const Vector<std::int32_t>& lengths,
                 const Vector<std::int8_t>& kinds, const PreparedGrammar* grammar, bool free,
                 double penalty, bool shortcuts, int threads) {
  return decode_views(view(scores, read_lengths(lengths)), read_kinds(kinds), grammar,
                      {free, penalty, shortcuts, threads});
}

template <class Real>
nb::tuple decode_list(const nb::list& scores, const Vector<std::int32_t>& lengths,
                      const Vector<std::int8_t>& kinds, const PreparedGrammar* grammar, bool free,
                      double penalty, bool shortcuts, int threads) {
  std::vector<Matrix<Real>> charts;
  for (const nb::handle chart : scores) {
    Matrix<Real> array;
    if (!nb::try_cast<Matrix<Real>>(chart, array, false)) throw nb::next_overload();
    charts.push_back(std::move(array));
  }
  return decode(charts, lengths, kinds, grammar, free, penalty, shortcuts, threads);
}

template <class Function>
void define_decode(nb::module_& m, Function function) {
  m.def("decode", function, "scores"_a.noconvert(), "lengths"_a, "kinds"_a,
        "grammar"_a.none() = nb::none(), nb::kw_only(), "free"_a = false,
        "penalty"_a = std::numeric_limits<double>::infinity(), "shortcuts"_a = true,
        "threads"_a = 1);
}

}  // namespace
}  // namespace treewright::bindings

NB_MODULE(_kernel, m) {
  using namespace treewright;
  using namespace treewright::bindings;
  m.doc() =
      "The engine block of treewright: decoders and the last step of scorers, on plain buffers.";
  m.def("instruction_set", [] { return engine().name; });
  nb::class_<PreparedGrammar>(m, "Grammar")
      .def(
          "__init__",
          [](PreparedGrammar* self, const Vector<std::int8_t>& kinds,
             const Matrix<std::int32_t>& pairs, const Matrix<std::int32_t>& rules,
             const Vector<bool>& words, const Vector<bool>& roots,
             const std::optional<Vector<double>>& rule_scores) {
            new (self) PreparedGrammar(prepare(kinds, pairs, rules, words, roots, rule_scores));
          },
          "kinds"_a, "pairs"_a, "rules"_a, "words"_a, "roots"_a,
          "rule_scores"_a.none() = nb::none());
  define_decode(m, &decode<Matrix<float>>);
  define_decode(m, &decode<Matrix<double>>);
  define_decode(m, &decode<Padded<float>>);
  define_decode(m, &decode<Padded<double>>);
  define_decode(m, &decode_list<float>);
  define_decode(m, &decode_list<double>);
  bind_k_best(m);
  bind_marginals(m);
  bind_spans(m);
}
