// Scanner: text of whole events -> a Block of rows. The hot path of loading: it follows the forms it has
// learned (forms.h) and converts values in place. Made for the best vector instructions that the machine has.
//
// Text must have 64 readable bytes before `begin` and 128 zero bytes from `end` on. A damaged event costs
// itself: it is counted and the scan goes on at the next event. One scanner, one thread at a time.
#pragma once
#include <memory>

#include "read/block.h"
#include "trace/args.h"

namespace spotter::read {

inline constexpr size_t kTextHeadroom = 64, kTextPadding = 128;

enum class ScanEnd : u8 {
  clean,       // all text was used; it ended between two events
  incomplete,  // the text ends inside the event that begins at `stop`; not if it is the final text
  array_end,   // the events are over; what stands behind them begins at `stop`
};

struct Scanned {
  ScanEnd why = ScanEnd::clean;
  const char* stop = nullptr;
};

class Scanner {
 public:
  virtual ~Scanner() = default;
  // Replaces the block's contents. `final`: no more text will come, so an event that does not end is a
  // damaged one.
  virtual Scanned scan(const char* begin, const char* end, bool final, Block& block) = 0;
};

// `baseline`: with the instructions that every machine of this kind has, whatever this one can do.
std::unique_ptr<Scanner> make_scanner(const ArgSet& keep, bool baseline = false);

}  // namespace spotter::read
