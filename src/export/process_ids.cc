#include "export/process_ids.h"

#include <fmt/format.h>

#include "base/text/utf8.h"
#include "read/json.h"

namespace spotter::export_ {

std::string process_of(const Trace& trace, const Track& track) {
  return track.pid_text ? std::string(trace.strings()[track.pid_text]) : fmt::format("{}", track.pid);
}

i64 ProcessIds::of(std::string_view raw) {
  const std::string text = to_valid_utf8(read::json::text_of(raw));
  const std::optional<i64> number = read::json::to_integer(text);
  if (number) return of_name(fmt::format("{}", *number));
  return of_name(text.empty() || text == "null" ? "0" : text);  // as the reader takes it
}

i64 ProcessIds::of_name(const std::string& was) {
  const auto [it, is_new] = ids_.try_emplace(was, *next_);
  if (is_new) all_.push_back({(*next_)++, was});
  return it->second;
}

}  // namespace spotter::export_
