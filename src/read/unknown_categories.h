// Spans whose category is none that is known: they count in no time, and that is said.
#pragma once
#include "trace/trace.h"

namespace spotter::read {

void note_unknown_categories(TraceData& data);

}  // namespace spotter::read
