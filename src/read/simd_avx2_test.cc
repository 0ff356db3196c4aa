// Compiled like scanner_avx2.cc. It includes nothing of the test library, whose functions must run on any
// machine.
#if defined(__AVX2__)
#include "read/test_simd.h"

namespace spotter::read {

extern const SimdTable kAvx2Table;
const SimdTable kAvx2Table = avx2::kTable;

}  // namespace spotter::read
#endif
