// Compiled with AVX2 and BMI on x86-64; used only where the processor has them.
#if defined(__x86_64__)
#include "read/scanner_impl.h"

namespace spotter::read {

std::unique_ptr<Scanner> make_avx2_scanner(const ArgSet& keep);
std::unique_ptr<Scanner> make_avx2_scanner(const ArgSet& keep) {
  return std::make_unique<avx2::FastScanner>(keep);
}

}  // namespace spotter::read
#endif
