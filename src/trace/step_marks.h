// The spans that may mark steps; steps.h says which do.
#pragma once
#include <algorithm>
#include <iterator>
#include <vector>

#include "trace/per_kind.h"
#include "trace/trace.h"

namespace spotter::trace {

struct Mark {
  StringId name;
  u32 track;
  Ns start, end;
  bool finished;  // else recording ended first, and `end` is when
};

// The host spans whose category and name are wanted, in file order. Names are tested once each, not per
// event.
template <class IsCategory, class IsName>
std::vector<Mark> find_marks(const Trace& trace, IsCategory is_category, IsName is_name) {
  const auto kinds = per_kind(trace, [&](const Kind& k) { return k.is_span && is_category(k.category); });
  std::vector<u8> wanted(trace.strings().size());
  for (StringId id = 0; id < wanted.size(); ++id) wanted[id] = is_name(trace.strings()[id]);
  std::vector<Mark> marks;
  for (EventId e = 0; e < trace.size(); ++e)
    if (kinds[trace.kind[e]] && wanted[trace.name[e]])
      marks.push_back({trace.name[e], trace.track[e], trace.ts[e], trace.end(e),
                       trace.integer(e, Arg::finished).value_or(1) != 0});
  return marks;
}

// Takes out, and returns, those that had not ended.
inline std::vector<Mark> take_unfinished(std::vector<Mark>& marks) {
  const auto is_unfinished = [](const Mark& m) { return !m.finished; };
  std::vector<Mark> unfinished;
  std::ranges::copy_if(marks, std::back_inserter(unfinished), is_unfinished);
  std::erase_if(marks, is_unfinished);
  return unfinished;
}

// Annotations were operators before they got a category of their own.
inline bool is_annotation_of_any_era(Category c) {
  return c == Category::user_annotation || c == Category::cpu_op;
}

}  // namespace spotter::trace
