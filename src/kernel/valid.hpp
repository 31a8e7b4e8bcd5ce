// Whether a chart can be decoded at all.
#pragma once

#include <limits>

#include "chart.hpp"
#include "lanes.hpp"

namespace treewright::TREEWRIGHT_ISA {

// Whether no score is NaN or +infinity; all else relies on that.
template <class Real>
bool is_valid(const ChartView<Real>& chart) {
  using Vector = Lanes<Real>;
  constexpr int W = Vector::width;
  const Real infinity = std::numeric_limits<Real>::infinity();
  bool valid = true;
  for (int i = 0; i < chart.n; ++i) {
    for (int j = i + 1; j <= chart.n; ++j) {
      const Real* cell = chart.cell(i, j);
      int l = 0;
      for (; l + W <= chart.columns; l += W) {
        valid &= all_less(Vector::load(cell + l), Vector::splat(infinity));
      }
      for (; l < chart.columns; ++l) valid &= cell[l] < infinity;
    }
  }
  return valid;
}

}  // namespace treewright::TREEWRIGHT_ISA
