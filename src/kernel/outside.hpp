// How good the rest of the tree can be around every span, whatever the grammar says. With the free
// inside scores this bounds every derivation that uses a span: see pruned.hpp.
//
//     up[i, j]          = max(as_right[i, j] + real, as_left[i, j] + max(real, mark))
//     as_left[i, j]     = max over parents (i, j') of up[i, j'] + full[j, j']
//     as_right[i, j]    = max over parents (i', j) of up[i', j] + any[i', i]
//
// Longest spans first, each hands its share down to all its possible children at once.
#pragma once

#include <cstddef>

#include "free_task.hpp"
#include "lanes.hpp"

namespace treewright::TREEWRIGHT_ISA {

template <class Real>
void run_outside(const FreeTask<Real>& task) {
  using Vector = Lanes<Real>;
  constexpr int W = Vector::width;
  const int n = task.chart.n;
  const std::ptrdiff_t stride = task.stride;
  for (std::ptrdiff_t x = 0; x < stride * (n + 1); x += W) {
    Vector::impossible().store(task.as_left + x);
    Vector::impossible().store(task.as_right + x);
  }
  task.as_right[n * stride] = 0;  // the root
  for (int length = n; length > 1; --length) {
    for (int i = 0; i + length <= n; ++i) {
      const int j = i + length;
      const Real real = task.real[(length - 1) * stride + i];
      const Real mark = task.n_marks > 0 ? task.mark[(length - 1) * stride + i] : real;
      const Real as_right = task.as_right[j * stride + i] + real;
      const Real as_left = task.as_left[i * stride + j] + (mark > real ? mark : real);
      const Vector up = Vector::splat(as_left > as_right ? as_left : as_right);
      Real* left = task.as_left + i * stride;
      Real* right = task.as_right + j * stride;
      const Real* beside_left = task.full + j * stride;
      const Real* beside_right = task.any + i * stride;
      // Past the last split, full is -infinity, and as_right is not read any more.
      for (int k = i + 1; k < j; k += W) {
        max(Vector::load(left + k), up + Vector::load(beside_left + k)).store(left + k);
        max(Vector::load(right + k), up + Vector::load(beside_right + k)).store(right + k);
      }
    }
  }
}

}  // namespace treewright::TREEWRIGHT_ISA
