// Any bytes as the text of events: the two sets of instructions agree, and what a lean scan keeps is what a
// full one does.
#include "read/scanner.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/result.h"

namespace {

using namespace spotter;

struct Scan {
  Block block;
  Scanned scanned;
};

void scan(std::vector<char>& text, const ArgSet& keep, bool baseline, Scan& out) {
  const auto scanner = make_scanner(keep, baseline);
  out.scanned =
      scanner->scan(text.data() + kTextHeadroom, text.data() + text.size() - kTextPadding, true, out.block);
}

void compare(const Scan& a, const Scan& b) {
  CHECK(a.block.events == b.block.events && a.scanned.why == b.scanned.why &&
        a.scanned.stop == b.scanned.stop);
  CHECK(std::equal(a.block.ts.data(), a.block.ts.data() + a.block.events, b.block.ts.data()));
  CHECK(std::equal(a.block.dur.data(), a.block.dur.data() + a.block.events, b.block.dur.data()));
  CHECK(std::equal(a.block.kind.data(), a.block.kind.data() + a.block.events, b.block.kind.data()));
  CHECK(std::equal(a.block.track.data(), a.block.track.data() + a.block.events, b.block.track.data()));
  CHECK(a.block.damaged.count == b.block.damaged.count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<char> text(kTextHeadroom + size + kTextPadding, 0);
  if (size) std::memcpy(text.data() + kTextHeadroom, data, size);
  Scan full, baseline, lean;
  scan(text, ArgSet::everything(), false, full);
  scan(text, ArgSet::everything(), true, baseline);
  scan(text, ArgSet{Arg::correlation, Arg::stream}, false, lean);
  compare(full, baseline);
  CHECK(full.block.cell_count == baseline.block.cell_count);
  CHECK(std::equal(full.block.cells.data(), full.block.cells.data() + full.block.cell_count,
                   baseline.block.cells.data()));
  CHECK(lean.scanned.why != ScanEnd::incomplete && full.scanned.why != ScanEnd::incomplete);
  return 0;
}
