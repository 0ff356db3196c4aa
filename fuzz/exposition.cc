// Texts of metrics of any bytes (src/collect/textfile/exposition.h): refused, or read; and what was read is
// read the same when it is written anew.
#include "collect/textfile/exposition.h"

#include <cmath>
#include <cstdlib>

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

std::string text_of(const std::vector<collect::ExposedFamily>& families) {
  std::string text;
  for (const collect::ExposedFamily& family : families) {
    text += fmt::format("# TYPE {} {}\n", family.name, family.type);
    for (const collect::ExposedSample& sample : family.samples)
      text += fmt::format("{}{{{}}} {}\n", sample.name, sample.labels,
                          std::isnan(sample.value) ? 0 : sample.value);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto families = collect::read_exposition({reinterpret_cast<const char*>(data), size});
  if (!families) return 0;
  const std::string text = text_of(*families);
  const auto again = collect::read_exposition(text);
  expect(again && text_of(*again) == text);
  return 0;
}
