// Parts of jobs of any texts (src/wire/mapped_shard.h): refused, or read; and what was read is the same when
// it is written and read anew. The input is the texts of a part's frames, a zero byte between them, since no
// fuzzer finds its way through compressed ones.
#include <cstdlib>

#include "base/zstd_frame.h"
#include "wire/mapped_shard.h"

using namespace spotter;

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

std::string part_of(std::string_view texts) {
  std::string part = "spotter part 1\n";
  for (size_t at = 0; at <= texts.size();) {
    const size_t end = std::min(texts.find('\0', at), texts.size());
    const std::string frame = zstd_frame(texts.substr(at, end - at), 1);
    for (int shift = 0; shift < 64; shift += 8)
      part.push_back(static_cast<char>(frame.size() >> shift & 0xff));
    part += frame;
    at = end + 1;
  }
  return part;
}

std::string bytes_of(const analyze::MappedShard& part) {
  std::string bytes;
  expect(wire::write_shard(part, [&](std::string_view piece) -> Result<void> {
           bytes += piece;
           return {};
         }).has_value());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)wire::read_shard(input);
  const auto part = wire::read_shard(part_of(input));
  if (!part) return 0;
  const std::string bytes = bytes_of(*part);
  const auto again = wire::read_shard(bytes);
  expect(again && bytes_of(*again) == bytes);
  return 0;
}
