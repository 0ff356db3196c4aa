#include "trace/annotations.h"

#include "base/text/utf8.h"
#include "trace/per_kind.h"

namespace spotter::trace {

Annotations::Annotations(const Trace& trace)
    : trace_(trace), may_be_(per_kind(trace, [&](const Kind& k) -> u8 {
        if (k.category == Category::user_annotation) return kAlways;
        return ascii_lower(trace.strings()[k.category_text]) == "operator" ? kByName : kNever;
      })) {}

bool Annotations::is_none_of_torch(EventId e) const {
  return trace_.name_of(e).find("::") == std::string_view::npos &&
         trace_.integer(e, Arg::fwd_thread_id).value_or(0) <= 0;
}

}  // namespace spotter::trace
