#include "read/event_texts.h"

#include "read/pipeline.h"
#include "read/source.h"

namespace spotter::read {

Result<void> for_each_event_text(const TraceFile& file, const LoadRequest& request,
                                 const TakeEventText& take) {
  TRY_ASSIGN(const std::unique_ptr<RawInput> input, file.descriptor >= 0
                                                        ? RawInput::of(file.descriptor, file.path)
                                                        : RawInput::open(file.path, request.cancelled));
  TRY_ASSIGN(const std::unique_ptr<Source> source, open_source(*input));
  EventId next = 0;
  return read_event_texts(*input, *source, request,
                          [&](std::span<const std::string_view> texts) -> Result<void> {
                            for (const std::string_view text : texts) TRY(take(next++, text));
                            return {};
                          });
}

}  // namespace spotter::read
