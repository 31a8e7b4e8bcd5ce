// One sentence's span scores, read in place from a packed or a padded array.
#pragma once

#include <cstddef>

namespace treewright {

// Scores of the spans (i, j), 0 <= i < j <= n, one row of `columns` numbers a span.
// Packed:  row i * n - i * (i - 1) / 2 + (j - i - 1) of (n * (n + 1) / 2, columns).
// Padded:  row i * (N + 1) + j of (N + 1, N + 1, columns), N >= n.
template <class Real>
struct ChartView {
  const Real* scores;
  int n;
  int columns;
  int padded_to = -1;  // N of a padded chart, -1 for a packed one

  const Real* cell(int i, int j) const {
    const std::ptrdiff_t row =
        padded_to < 0 ? static_cast<std::ptrdiff_t>(i) * n -
                            static_cast<std::ptrdiff_t>(i) * (i - 1) / 2 + (j - i - 1)
                      : static_cast<std::ptrdiff_t>(i) * (padded_to + 1) + j;
    return scores + row * columns;
  }
};

}  // namespace treewright
