// Any bytes as a trace file, in stretches of a few bytes: no crash, no hang, and one thread, two threads and
// one large stretch give the same columns. The first byte chooses the length of a stretch.
#include <algorithm>
#include <cstring>

#include "base/result.h"
#include "read/pipeline.h"

namespace {

using namespace spotter;

class Memory final : public Source {
 public:
  explicit Memory(std::span<const char> text) : text_(text) {}
  Result<size_t> read(std::span<char> out, Notes&) override {
    const size_t n = std::min(out.size(), text_.size());
    if (n) std::memcpy(out.data(), text_.data(), n);
    text_ = text_.subspan(n);
    return n;
  }

 private:
  std::span<const char> text_;
};

Result<TraceData> load(std::span<const char> text, int threads, size_t stretch) {
  const auto input = RawInput::open("/dev/null");
  CHECK(input);
  Memory source(text);
  LoadRequest request;
  request.threads = threads;
  return read_events(**input, source, request, {.stretch = stretch, .alone = 1});
}

template <class T>
bool same(const GrowingArray<T>& a, const GrowingArray<T>& b) {
  return std::ranges::equal(a.span(), b.span());
}

void compare(const Result<TraceData>& a, const Result<TraceData>& b) {
  CHECK(a.has_value() == b.has_value());
  if (!a) return;
  CHECK(same(a->ts, b->ts) && same(a->dur, b->dur) && same(a->name, b->name) && same(a->track, b->track));
  CHECK(same(a->kind, b->kind) && same(a->shape, b->shape) && same(a->cells, b->cells));
  CHECK(same(a->first_cell, b->first_cell) && a->strings.size() == b->strings.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t stretch = 16 + size_t{data[0]};
  const auto one = load(text, 1, stretch);
  compare(one, load(text, 2, stretch));
  return 0;
}
