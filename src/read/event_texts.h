// The second look at a file: the text of each event, as the file has it, under the number that the event has
// in the Trace that load() makes of the file. The reader's own scanner finds them, so that the two agree on
// what an event is in damaged files too.
#pragma once
#include <functional>
#include <string_view>

#include "base/result.h"
#include "trace/job.h"
#include "trace/load.h"

namespace spotter::read {

using TakeEventText = std::function<Result<void>(EventId e, std::string_view text)>;

// In file order, by one thread at a time. A text is there until `take` returns; an error of `take` ends the
// reading. `request.args` must be those of the load, Trace::loaded(): a value that is not wanted is passed
// over, so it may be damaged and the event is whole.
Result<void> for_each_event_text(const TraceFile& file, const LoadRequest& request,
                                 const TakeEventText& take);

}  // namespace spotter::read
