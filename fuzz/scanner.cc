// The event scanner (src/read/scanner.h) on any text: it ends, and what it reads depends neither on the
// vector instructions nor on what the scanner has read before.
#include <cstdlib>

#include "read/assemble.h"
#include "read/pipeline.h"
#include "read/test_read.h"

using namespace spotter;

namespace {

void expect_same(const std::string& difference) {
  if (difference.empty()) return;
  fmt::print(stderr, "{}\n", difference);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TraceData twice = read::scan_text(text, ArgSet::everything(), true, 2);
  TraceData fast = read::scan_text(text, ArgSet::everything(), false, 2);
  expect_same(read::difference(fast, twice));
  std::vector<std::string> rows = read::rows_of(std::move(fast));
  const std::vector<std::string> second(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2),
                                        rows.end());
  rows.resize(rows.size() / 2);
  expect_same(read::difference(second, rows));
  read::scan_text(text, {Arg::correlation, Arg::stream, Arg::name});
  return 0;
}
