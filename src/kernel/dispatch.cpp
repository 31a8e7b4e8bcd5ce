// Which instruction sets this machine runs: asks the processor and the operating system.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine.hpp"

#if defined(TREEWRIGHT_X86_ENGINES) && defined(_MSC_VER)
#include <intrin.h>
#endif

namespace treewright {

#if defined(TREEWRIGHT_X86_ENGINES)
namespace avx512 {
extern const Engine engine;
}
namespace avx2 {
extern const Engine engine;
}
#endif
namespace plain {
extern const Engine engine;
}

namespace {

#if defined(TREEWRIGHT_X86_ENGINES)
#if defined(_MSC_VER)
// Leaf 7 tells what the processor can, XCR0 which registers the system saves.
bool runs(std::uint32_t leaf7_ebx_bits, std::uint64_t saved_registers) {
  int leaf[4];
  __cpuid(leaf, 0);
  if (leaf[0] < 7) return false;
  __cpuid(leaf, 1);
  constexpr std::uint32_t osxsave = 1u << 27;
  if ((static_cast<std::uint32_t>(leaf[2]) & osxsave) == 0) return false;
  if ((_xgetbv(0) & saved_registers) != saved_registers) return false;
  __cpuidex(leaf, 7, 0);
  return (static_cast<std::uint32_t>(leaf[1]) & leaf7_ebx_bits) == leaf7_ebx_bits;
}
bool runs_avx512() { return runs(1u << 16 | 1u << 17, 0xe6); }  // F and DQ
bool runs_avx2() { return runs(1u << 5, 0x6); }
#else
bool runs_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
bool runs_avx2() { return __builtin_cpu_supports("avx2"); }
#endif
#endif

}  // namespace

const std::vector<const Engine*>& engines() {
  static const std::vector<const Engine*> found = [] {
    std::vector<const Engine*> list;
#if defined(TREEWRIGHT_X86_ENGINES)
    if (runs_avx512()) list.push_back(&avx512::engine);
    if (runs_avx2()) list.push_back(&avx2::engine);
#endif
    list.push_back(&plain::engine);
    return list;
  }();
  return found;
}

const Engine& engine() {
  static const Engine& chosen = [&]() -> const Engine& {
    if (const char* wanted = std::getenv("TREEWRIGHT_INSTRUCTION_SET")) {
      for (const Engine* candidate : engines()) {
        if (std::strcmp(candidate->name, wanted) == 0) return *candidate;
      }
    }
    return *engines().front();
  }();
  return chosen;
}

}  // namespace treewright
