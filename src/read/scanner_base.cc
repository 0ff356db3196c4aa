#include "read/scanner_impl.h"

namespace spotter::read {

#if defined(__x86_64__)
std::unique_ptr<Scanner> make_avx2_scanner(const ArgSet& keep);  // scanner_avx2.cc
#endif

std::unique_ptr<Scanner> make_scanner(const ArgSet& keep, [[maybe_unused]] bool baseline) {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
  if (has_avx2 && !baseline) return make_avx2_scanner(keep);
#endif
  return std::make_unique<SPOTTER_SIMD::FastScanner>(keep);
}

}  // namespace spotter::read
