// The door between Python and the kernel: checks shapes, releases the GIL, nothing else.
// What the functions mean is said in src/treewright/_kernel.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "decode.hpp"
#include "engine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

template <class T, class... Shape>
using Input = nb::ndarray<const T, nb::device::cpu, nb::c_contig, Shape...>;
template <class T>
using Vector = Input<T, nb::ndim<1>>;
template <class T>
using Matrix = Input<T, nb::ndim<2>>;

[[noreturn]] void refuse(const char* message) { throw std::invalid_argument(message); }

template <class T>
nb::ndarray<nb::numpy, T> hand_over(std::unique_ptr<T[]> data,
                                    std::initializer_list<size_t> shape) {
  T* at = data.release();
  nb::capsule owner(at, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
  return nb::ndarray<nb::numpy, T>(at, shape, owner);
}

std::vector<Kind> read_kinds(const Vector<std::int8_t>& kinds) {
  std::vector<Kind> found;
  for (size_t l = 0; l < kinds.shape(0); ++l) {
    if (kinds.data()[l] < 0 || kinds.data()[l] > 2) refuse("a kind is not 0, 1 or 2");
    found.push_back(static_cast<Kind>(kinds.data()[l]));
  }
  if (found.empty()) refuse("no columns");
  return found;
}

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

std::vector<int> read_lengths(const Vector<std::int32_t>& lengths) {
  std::vector<int> found(lengths.data(), lengths.data() + lengths.shape(0));
  for (const int n : found) {
    if (n < 1) refuse("a sentence has no words");
  }
  return found;
}

std::int64_t cells(std::int64_t n) { return n * (n + 1) / 2; }

// Charts one after the other, (cells, L).
template <class Real>
std::vector<ChartView<Real>> view(const Matrix<Real>& scores, const std::vector<int>& lengths) {
  std::vector<ChartView<Real>> charts;
  const int columns = static_cast<int>(scores.shape(1));
  std::int64_t at = 0;
  for (const int n : lengths) {
    charts.push_back(ChartView<Real>::packed(scores.data() + at * columns, n, columns));
    at += cells(n);
  }
  if (at != static_cast<std::int64_t>(scores.shape(0))) refuse("scores do not fit the lengths");
  return charts;
}

template <class Real>
using Padded = nb::ndarray<const Real, nb::device::cpu, nb::ndim<4>>;

// (B, N + 1, N + 1, L) with any strides but over L.
template <class Real>
std::vector<ChartView<Real>> view(const Padded<Real>& scores, const std::vector<int>& lengths) {
  if (scores.shape(0) != lengths.size() || scores.shape(1) != scores.shape(2)) {
    refuse("padded scores are (B, N + 1, N + 1, L), one length a sentence");
  }
  if (scores.shape(3) > 1 && scores.stride(3) != 1) {
    refuse("the scores of a span do not lie side by side");
  }
  std::vector<ChartView<Real>> charts;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (static_cast<std::size_t>(lengths[b]) >= scores.shape(1))
      refuse("a length is over the chart");
    charts.push_back(ChartView<Real>::padded(
        scores.data() + static_cast<std::int64_t>(b) * scores.stride(0), lengths[b],
        static_cast<int>(scores.shape(3)), scores.stride(1), scores.stride(2)));
  }
  return charts;
}

// A list of arrays (cells, L), one a sentence.
template <class Real>
std::vector<ChartView<Real>> view(const std::vector<Matrix<Real>>& scores,
                                  const std::vector<int>& lengths) {
  if (scores.size() != lengths.size()) refuse("one chart a sentence is wanted");
  std::vector<ChartView<Real>> charts;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    if (static_cast<std::int64_t>(scores[b].shape(0)) != cells(lengths[b]) ||
        scores[b].shape(1) != scores[0].shape(1)) {
      refuse("scores do not fit the lengths");
    }
    charts.push_back(ChartView<Real>::packed(scores[b].data(), lengths[b],
                                             static_cast<int>(scores[b].shape(1))));
  }
  return charts;
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
  if (count > 0 && charts[0].columns != static_cast<int>(kinds.size())) {
    refuse("one kind a column is wanted");
  }
  if (grammar != nullptr && grammar->grammar.kinds != kinds) {
    refuse("the grammar was prepared for other columns");
  }
  if (!(options.penalty >= 0)) refuse("the penalty is not 0 or more");
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
}  // namespace treewright

NB_MODULE(_kernel, m) {
  using namespace treewright;
  m.doc() = "The engine block of treewright: decoders on plain buffers.";
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
}
