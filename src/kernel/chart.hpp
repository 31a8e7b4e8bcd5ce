// One sentence's span scores, read in place from a packed or a padded array.
#pragma once

#include <cstddef>

namespace treewright {

// Scores of the spans (i, j), 0 <= i < j <= n; the `columns` scores of one span lie side by side.
// Packed: span (i, j) is row i * n - i * (i - 1) / 2 + (j - i - 1) of (n * (n + 1) / 2, columns).
// Padded: it is element [i, j] of (N + 1, N + 1, columns), N >= n, with any strides over i and j.
template <class Real>
struct ChartView {
  const Real* scores;
  int n;
  int columns;
  std::ptrdiff_t start_stride;  // numbers from (i, j) to (i + 1, j); 0 for a packed chart
  std::ptrdiff_t end_stride;    // numbers from (i, j) to (i, j + 1)

  static ChartView packed(const Real* scores, int n, int columns) {
    return {scores, n, columns, 0, columns};
  }
  static ChartView padded(const Real* scores, int n, int columns, std::ptrdiff_t start_stride,
                          std::ptrdiff_t end_stride) {
    return {scores, n, columns, start_stride, end_stride};
  }

  // The scores of the spans that start at i: cell (i, j) is row(i) + j * end_stride.
  const Real* row(int i) const {
    const std::ptrdiff_t at = i;
    return start_stride != 0 ? scores + at * start_stride
                             : scores + (at * n - at * (at - 1) / 2 - at - 1) * end_stride;
  }
  const Real* cell(int i, int j) const { return row(i) + j * end_stride; }
};

}  // namespace treewright
