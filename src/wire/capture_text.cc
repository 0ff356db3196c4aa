#include "wire/capture_text.h"

#include "wire/json.h"

namespace spotter::wire {

std::string capture_text(const CaptureWish& wish) {
  boost::json::object body;
  const auto put_list = [&](const char* name, const auto& list) {
    if (!list.empty()) body[name] = boost::json::array(list.begin(), list.end());
  };
  const auto put_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) body[name] = text;
  };
  put_list("pids", wish.pids);
  put_list("ranks", wish.ranks);
  put_list("activities", wish.activities);
  put_text("job", wish.job);
  put_text("output", wish.output);
  const std::pair<const char*, bool> flags[] = {{"all", wish.all},       {"shapes", wish.shapes},
                                                {"stacks", wish.stacks}, {"memory", wish.memory},
                                                {"flops", wish.flops},   {"modules", wish.modules}};
  for (const auto& [name, value] : flags) {
    if (value) body[name] = true;
  }
  const std::pair<const char*, const std::optional<i64>&> numbers[] = {
      {"duration_ms", wish.duration_ms}, {"iterations", wish.iterations},       {"roundup", wish.roundup},
      {"start_in_ms", wish.start_in_ms}, {"start_time_ms", wish.start_time_ms}, {"warmup_ms", wish.warmup_ms},
      {"deadline_ms", wish.deadline_ms}};
  for (const auto& [name, value] : numbers) {
    if (value) body[name] = *value;
  }
  return boost::json::serialize(body);
}

}  // namespace spotter::wire
