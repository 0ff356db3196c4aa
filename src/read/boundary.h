// Where events begin, judged by looks: used to cut a stream of text into stretches that can be parsed
// independently (the cut is verified afterwards, see pipeline.h) and to find the next event behind a damaged
// one.
#pragma once
#include "base/types.h"

namespace spotter {

// The last place in [begin, end) that is right behind the '}' of one event, with ", {" and a usual first key
// after it. nullptr if there is none.
const char* last_boundary(const char* begin, const char* end);

// The first '{' in [p, end) that looks like the start of an event; `end` if there is none.
const char* next_event(const char* p, const char* end);

// Whether the ']' at p ends the array of events: behind it come other members, the end of the object, or
// nothing.
bool is_array_end(const char* p, const char* end);

}  // namespace spotter
