// One instruction set's share of the engine: this file is compiled once for each, with
// TREEWRIGHT_ISA naming it and the compiler told to use it (see CMakeLists.txt).
#include "engine.hpp"

#include "free.hpp"
#include "inside.hpp"
#include "kbest_scan.hpp"
#include "marginals_pass.hpp"
#include "outside.hpp"
#include "span_pass.hpp"
#include "valid.hpp"

namespace treewright {

#define TREEWRIGHT_NAME_OF(isa) #isa
#define TREEWRIGHT_NAME(isa) TREEWRIGHT_NAME_OF(isa)

namespace TREEWRIGHT_ISA {

extern const Engine engine;
const Engine engine = {
#if defined(TREEWRIGHT_NEON)
    "neon",
#else
    TREEWRIGHT_NAME(TREEWRIGHT_ISA),
#endif
    max_units,
    {Lanes<float>::width, is_valid<float>, run_inside<float>, run_free<float>, run_outside<float>,
     run_marginals<float>, unlace<float>, turn_rows<float>, scan_edges<float>},
    {Lanes<double>::width, is_valid<double>, run_inside<double>, run_free<double>,
     run_outside<double>, run_marginals<double>, unlace<double>, turn_rows<double>,
     scan_edges<double>},
    score_sentence,
};

}  // namespace TREEWRIGHT_ISA
}  // namespace treewright
