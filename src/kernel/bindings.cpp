// The door between Python and the kernel: checks shapes, releases the GIL, nothing else.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_kernel, m) {
  m.doc() = "The engine block of treewright: decoders on plain buffers.";
  m.def("instruction_set", [] { return "plain"; }, "The widest vector code this machine runs.");
}
