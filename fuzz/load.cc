// A whole file (src/read/pipeline.h) of any bytes: packed or not, header, events and what follows. The
// columns, ids and notes are the same for one thread and for two, and, where no event is damaged, the events
// for any cut of the text. The first byte chooses the cut.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "read/test_read.h"

using namespace spotter;

namespace {

Result<TraceData> read_file(const std::string& path, const read::ReadOptions& options) {
  TRY_ASSIGN(const std::unique_ptr<read::RawInput> input, read::RawInput::open(path));
  TRY_ASSIGN(const std::unique_ptr<read::Source> source, read::open_source(*input));
  LoadRequest request;
  request.args = options.args;
  request.threads = options.threads;
  return read::read_events(*input, *source, request, options.cuts);
}

void expect_same(const std::string& difference) {
  if (difference.empty()) return;
  fmt::print(stderr, "{}\n", difference);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> bytes(data + 1, size - 1);
  static const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = fmt::format("/proc/self/fd/{}", file);
  CHECK(::ftruncate(file, 0) == 0 && ::pwrite(file, bytes.data(), bytes.size(), 0) == std::ssize(bytes));

  const bool carries_all = data[0] % 4 != 0;
  const read::Cuts tiny = {
      .stretch = 4 + size_t{data[0]}, .alone = 1, .most_carry = carries_all ? read::Cuts{}.most_carry : 50};
  Result<TraceData> whole = read_file(path, {});
  Result<TraceData> one = read_file(path, {.cuts = tiny});
  const Result<TraceData> two = read_file(path, {.threads = 2, .cuts = tiny});
  CHECK(two.has_value() == one.has_value());
  if (two) expect_same(read::difference(*two, *one));
  // How much of damaged packed data can be had depends on how much is asked for at a time.
  const bool packed = !bytes.empty() && (bytes[0] == 0x1F || bytes[0] == 0x28);
  CHECK(packed || one.has_value() == whole.has_value());
  if (!whole || !one) return 0;
  const bool comparable = whole->notes.count("damaged_event") == 0 && carries_all && !packed;
  const std::vector<std::string> rows = read::rows_of(std::move(*one));
  if (comparable) expect_same(read::difference(rows, read::rows_of(std::move(*whole))));
  return 0;
}
