// Pipeline: a stream of text -> the columns of a trace, on one thread or several.
//
//   source ─► cut at event boundaries ─► scan ─► append in file order
//             (one worker at a time)     (all)   (one worker at a time)
//
// Workers are equal: each takes the token, inflates the next stretch of half a MiB, passes the token on
// and scans what it has, while it is in its cache. Stretches are cut where the text looks like an event
// boundary. That is a guess, and it is verified for free: a stretch whose scan ends inside an event was cut
// wrongly, and its rest is put in front of the next one, which is scanned again. So the result is that of one
// scan over the whole text, for any number of threads, and the text is never held whole.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "read/assemble.h"
#include "read/source.h"
#include "trace/load.h"

namespace spotter::read {

// How the text is cut. Tests make it small.
struct Cuts {
  size_t stretch = size_t{512} << 10;   // text scanned at a time
  u64 alone = 4;                        // stretches that are read before further threads start
  size_t most_carry = size_t{4} << 20;  // an event that was cut and is put together again
};

// The events and what stands around them. Errors: no trace, unreadable, cancelled.
Result<TraceData> read_events(RawInput& input, Source& source, const LoadRequest& request,
                              const Cuts& cuts = {});

// The texts of the same events in the same order, a block of them at a time, and nothing is kept. A text is
// from an event's '{' to its '}' as the file has it, so it may need mending; it is there until `take`
// returns.
using TakeTexts = std::function<Result<void>(std::span<const std::string_view> texts)>;
Result<void> read_event_texts(RawInput& input, Source& source, const LoadRequest& request,
                              const TakeTexts& take, const Cuts& cuts = {});

}  // namespace spotter::read
