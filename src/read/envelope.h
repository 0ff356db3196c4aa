// The members around the events: finding where the events begin, and what the file says about itself.
#pragma once
#include <string>
#include <string_view>

#include "base/notes.h"
#include "base/result.h"
#include "trace/trace.h"

namespace spotter::read {

// Text that is searched for the beginning of the events.
inline constexpr size_t kMostHeader = size_t{64} << 20;

struct EventsStart {
  bool found = false;    // else more text is needed
  size_t at = 0;         // behind the '[' of the events
  std::string members;   // what stands before the events, as a JSON object
  bool is_list = false;  // there is no object around the events
};

// Looks for the events in the first bytes of a file; `complete` if there are no more, or more than
// kMostHeader. The error says what the file is, if it is no trace.
Result<EventsStart> find_events(std::string_view text, bool complete, const std::string& path);

// `after`: the text behind the ']' of the events, as it is; `closed`: it should hold the end of the object.
void read_info(std::string_view before, std::string_view after, bool closed, TraceInfo& info, Notes& notes);

}  // namespace spotter::read
