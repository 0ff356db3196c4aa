// Where events begin, judged by looks: used to cut a stream of text into stretches that can be parsed
// independently (the cut is verified afterwards, see pipeline.h) and to find the next event behind a damaged
// one.
#pragma once
#include "base/types.h"

namespace spotter::read {

// The last place in [begin, end) that is right behind the '}' of one event, with ", {" and a usual first key
// after it. nullptr if there is none.
const char* last_boundary(const char* begin, const char* end);

// The first '{' in [p, end) that looks like the start of an event; `end` if there is none.
const char* next_event(const char* p, const char* end);

// p is between two events, at something that begins none. Where what stands behind the events begins, if they
// end at p: at a ']' with other members, the end of the object, another document or nothing behind it; in the
// final text also where the ']' itself is missing. nullptr if the events go on.
const char* events_end(const char* p, const char* end, bool final);

// The first place in [from, to) where the events end (above), for a text that was damaged at `from`.
const char* find_events_end(const char* from, const char* to, const char* end, bool final);

}  // namespace spotter::read
