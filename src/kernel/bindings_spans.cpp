// Binds the scoring of spans; what it means is said in src/treewright/_kernel.pyi.
#include <memory>
#include <vector>

#include "bindings.hpp"
#include "engine.hpp"
#include "span_scores.hpp"

using namespace nb::literals;

namespace treewright::bindings {
namespace {

std::vector<float> padded(const Vector<float>& given, std::size_t size) {
  std::vector<float> found(size, 0.0f);
  std::copy(given.data(), given.data() + given.shape(0), found.begin());
  return found;
}

SpanWeights read_weights(const Vector<float>& bias, const Vector<float>& scale,
                         const Vector<float>& shift, const Matrix<float>& weight,
                         const Vector<float>& offset, float epsilon) {
  SpanWeights weights;
  weights.hidden = static_cast<int>(weight.shape(0));
  weights.columns = static_cast<int>(weight.shape(1));
  weights.depth = SpanWeights::padded(weights.hidden);
  weights.width = SpanWeights::padded(weights.columns);
  weights.epsilon = epsilon;
  if (weights.hidden < 1 || weights.columns < 1) refuse("the weights are empty");
  for (const Vector<float>* each : {&bias, &scale, &shift}) {
    if (each->shape(0) != weight.shape(0)) refuse("bias, scale, shift and weight differ in length");
  }
  if (offset.shape(0) != weight.shape(1)) refuse("weight and offset differ in columns");
  const auto depth = static_cast<std::size_t>(weights.depth);
  weights.bias = padded(bias, depth);
  weights.scale = padded(scale, depth);
  weights.shift = padded(shift, depth);
  weights.offset = padded(offset, static_cast<std::size_t>(weights.width));
  constexpr std::size_t block = SpanWeights::padding;
  const auto hidden = static_cast<std::size_t>(weights.hidden);
  weights.weight.assign(static_cast<std::size_t>(weights.width) * hidden, 0.0f);
  for (std::size_t h = 0; h < hidden; ++h) {
    for (std::size_t l = 0; l < weight.shape(1); ++l) {
      weights.weight[(l / block * hidden + h) * block + l % block] =
          weight.data()[h * weight.shape(1) + l];
    }
  }
  return weights;
}

nb::ndarray<nb::numpy, float> score(const SpanWeights& weights, const Matrix<float>& posts,
                                    const Vector<std::int32_t>& lengths, int threads) {
  if (posts.shape(1) != static_cast<std::size_t>(weights.hidden)) {
    refuse("fenceposts are of another size");
  }
  const std::vector<int> sentences = read_lengths(lengths);
  std::int64_t total = 0, post = 0;
  for (const int n : sentences) {
    total += cells(n);
    post += n + 1;
  }
  if (post != static_cast<std::int64_t>(posts.shape(0))) refuse("posts do not fit the lengths");
  const auto columns = static_cast<std::size_t>(weights.columns);
  std::unique_ptr<float[]> rows(new float[static_cast<std::size_t>(total) * columns]);
  std::vector<SpanTask> tasks;
  const float* from = posts.data();
  float* to = rows.get();
  for (const int n : sentences) {
    tasks.push_back({&weights, from, n, to});
    from += static_cast<std::ptrdiff_t>(n + 1) * weights.hidden;
    to += cells(n) * weights.columns;
  }
  {
    const nb::gil_scoped_release released;
    score_spans(tasks, threads, engine().score_spans);
  }
  return hand_over(std::move(rows), {static_cast<std::size_t>(total), columns});
}

}  // namespace

void bind_spans(nb::module_& m) {
  nb::class_<SpanWeights>(m, "SpanScorer")
      .def(
          "__init__",
          [](SpanWeights* self, const Vector<float>& bias, const Vector<float>& scale,
             const Vector<float>& shift, const Matrix<float>& weight, const Vector<float>& offset,
             float epsilon) {
            new (self) SpanWeights(read_weights(bias, scale, shift, weight, offset, epsilon));
          },
          "bias"_a, "scale"_a, "shift"_a, "weight"_a, "offset"_a, "epsilon"_a)
      .def("score", score, "posts"_a, "lengths"_a, nb::kw_only(), "threads"_a = 1);
}

}  // namespace treewright::bindings
