// The parts of the kernel that are compiled once for each instruction set, and the choice of one.
#pragma once

#include <vector>

#include "chart.hpp"
#include "free_task.hpp"
#include "inside_task.hpp"
#include "kbest_task.hpp"
#include "marginals_task.hpp"
#include "program.hpp"
#include "span_scores.hpp"

namespace treewright {

template <class Real>
struct Kernels {
  int width;  // numbers in a vector
  // False if a score is NaN or +infinity:
  bool (*is_valid)(const ChartView<Real>&);
  bool (*run_inside)(const InsideTask<Real>&);
  bool (*run_free)(const FreeTask<Real>&);
  void (*run_outside)(const FreeTask<Real>&);  // after run_free
  void (*run_marginals)(const MarginalsTask<Real>&);
  void (*unlace)(const UnlaceTask<Real>&);
  void (*turn_rows)(const TurnTask<Real>&);
  int (*scan_edges)(const ScanTask<Real>&);
};

struct Engine {
  const char* name;  // "avx512", "avx2", "neon" or "plain"
  int max_units;     // of a block, see program.hpp
  Kernels<float> single;
  Kernels<double> twice;
  void (*score_spans)(const SpanTask&);

  template <class Real>
  const Kernels<Real>& kernels() const {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return single;
    } else {
      return twice;
    }
  }
};

// All that this machine can run, widest first; the last one runs anywhere.
const std::vector<const Engine*>& engines();

// The widest, or the one that the environment variable TREEWRIGHT_INSTRUCTION_SET names, if this
// machine can run it.
const Engine& engine();

}  // namespace treewright
