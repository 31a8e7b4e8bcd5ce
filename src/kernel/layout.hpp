// Where the inside scores of a group of sentences lie.
//
// A group holds `group` sentences of at most n words and is decoded together. Slot i * group + b
// of diagonal `len` stands for the span (i, i + len) of sentence b. Slots are cut into vectors of
// `width` numbers; number `slot` of label l on diagonal `len` is at
//
//     diagonal[len] + (slot / width) * vector_stride + slot % width + l * label_stride
//
// Children of a vector of spans are again vectors: with the split at k = i + d, the left ones are
// the same slots of diagonal d, the right ones lie d * group slots further on diagonal len - d.
//
// - Blocked (group a multiple of width): the labels of one vector of spans lie side by side, all
//   loads are aligned, lanes are sentences. For batches.
// - Planes (any group): one label's numbers lie side by side, right children are loaded unaligned,
//   lanes run along the diagonal. For a few long sentences in little memory.
#pragma once

#include <cstddef>
#include <vector>

namespace treewright {

struct Layout {
  int n;
  int group;
  int width;
  int labels;  // rows of numbers a span has
  bool blocked;
  std::ptrdiff_t label_stride;
  std::ptrdiff_t vector_stride;
  std::vector<std::ptrdiff_t> diagonal;  // by length, [0] unused
  std::ptrdiff_t size;                   // numbers in all, reading past the last diagonal included

  int slots(int length) const { return (n - length + 1) * group; }
  int vectors(int length) const { return (slots(length) + width - 1) / width; }

  // Of label 0; right only where `slot` is a multiple of width, or in planes.
  std::ptrdiff_t at(int length, std::ptrdiff_t slot) const {
    return diagonal[length] + slot / width * vector_stride + slot % width;
  }
  std::ptrdiff_t at(int label, int i, int j, int sentence) const {
    return at(j - i, static_cast<std::ptrdiff_t>(i) * group + sentence) + label * label_stride;
  }
};

inline Layout make_layout(int n, int group, int width, int labels) {
  Layout layout{n, group, width, labels, group % width == 0, width, width, {}, 0};
  layout.diagonal.assign(n + 1, 0);
  std::ptrdiff_t vectors = 0;
  for (int length = 1; length <= n; ++length) {
    layout.diagonal[length] = vectors;
    vectors += layout.vectors(length);
  }
  std::ptrdiff_t step = width;  // numbers between two vectors of one diagonal
  if (layout.blocked) {
    step = layout.vector_stride = static_cast<std::ptrdiff_t>(width) * labels;
    layout.size = vectors * step;
  } else {
    // One vector to spare, since unaligned loads at the end of a diagonal run over it; an odd
    // number of vectors, lest all labels of a span fall into the same cache set.
    const std::ptrdiff_t plane = (vectors + 1) | 1;
    layout.label_stride = plane * width;
    layout.size = layout.label_stride * labels;
  }
  for (std::ptrdiff_t& start : layout.diagonal) start *= step;
  return layout;
}

// The inside scores of one sentence of a group, as scalars: for traces, k best and tests.
// Rows 0 .. columns - 1 are the labels' (-infinity where a label cannot stand); rows columns and
// columns + 1 the best label of a span that may be a left or a right child.
template <class Real>
struct InsideView {
  const Real* scores;
  const Layout* layout;
  int sentence;
  int n;  // words of this sentence

  Real operator()(int label, int i, int j) const {
    return scores[layout->at(label, i, j, sentence)];
  }
};

}  // namespace treewright
