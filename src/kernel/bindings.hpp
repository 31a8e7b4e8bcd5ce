// What all bindings share: arrays in and out, and charts in place, whatever their layout.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <vector>

#include "chart.hpp"
#include "decode.hpp"
#include "grammar.hpp"

namespace nb = nanobind;

namespace treewright::bindings {

template <class T, class... Shape>
using Input = nb::ndarray<const T, nb::device::cpu, nb::c_contig, Shape...>;
template <class T>
using Vector = Input<T, nb::ndim<1>>;
template <class T>
using Matrix = Input<T, nb::ndim<2>>;

[[noreturn]] inline void refuse(const char* message) { throw std::invalid_argument(message); }

template <class T>
nb::ndarray<nb::numpy, T> hand_over(std::unique_ptr<T[]> data,
                                    std::initializer_list<size_t> shape) {
  T* at = data.release();
  nb::capsule owner(at, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
  return nb::ndarray<nb::numpy, T>(at, shape, owner);
}

inline std::vector<Kind> read_kinds(const Vector<std::int8_t>& kinds) {
  std::vector<Kind> found;
  for (size_t l = 0; l < kinds.shape(0); ++l) {
    if (kinds.data()[l] < 0 || kinds.data()[l] > 2) refuse("a kind is not 0, 1 or 2");
    found.push_back(static_cast<Kind>(kinds.data()[l]));
  }
  if (found.empty()) refuse("no columns");
  return found;
}

inline std::vector<int> read_lengths(const Vector<std::int32_t>& lengths) {
  std::vector<int> found(lengths.data(), lengths.data() + lengths.shape(0));
  for (const int n : found) {
    if (n < 1) refuse("a sentence has no words");
  }
  return found;
}

inline std::int64_t cells(std::int64_t n) { return n * (n + 1) / 2; }

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

template <class Real>
bool read_list(const nb::object& scores, std::vector<Matrix<Real>>& charts) {
  if (!nb::isinstance<nb::list>(scores)) return false;
  for (const nb::handle chart : scores) {
    Matrix<Real> array;
    if (!nb::try_cast(chart, array, false)) return false;
    charts.push_back(std::move(array));
  }
  return true;
}

// Calls use(charts) on the scores as they are given: one packed array, one padded one, or a list of
// packed ones, in single or double precision.
template <class Use>
nb::tuple with_charts(const nb::object& scores, const std::vector<int>& lengths, const Use& use) {
  Matrix<float> packed;
  Matrix<double> packed_twice;
  Padded<float> padded;
  Padded<double> padded_twice;
  std::vector<Matrix<float>> list;
  std::vector<Matrix<double>> list_twice;
  if (nb::try_cast(scores, packed, false)) return use(view(packed, lengths));
  if (nb::try_cast(scores, packed_twice, false)) return use(view(packed_twice, lengths));
  if (nb::try_cast(scores, padded, false)) return use(view(padded, lengths));
  if (nb::try_cast(scores, padded_twice, false)) return use(view(padded_twice, lengths));
  if (read_list(scores, list)) return use(view(list, lengths));
  if (read_list(scores, list_twice)) return use(view(list_twice, lengths));
  throw nb::type_error("scores are float32 or float64 arrays: packed, padded or a list");
}

// What every decoder asks of its arguments.
template <class Real>
void check_fit(const std::vector<ChartView<Real>>& charts, const std::vector<Kind>& kinds,
               const PreparedGrammar* grammar, double penalty) {
  if (!charts.empty() && charts[0].columns != static_cast<int>(kinds.size())) {
    refuse("one kind a column is wanted");
  }
  if (grammar != nullptr && grammar->grammar.kinds != kinds) {
    refuse("the grammar was prepared for other columns");
  }
  if (!(penalty >= 0)) refuse("the penalty is not 0 or more");
}

void bind_k_best(nb::module_& m);
void bind_marginals(nb::module_& m);
void bind_spans(nb::module_& m);

}  // namespace treewright::bindings
