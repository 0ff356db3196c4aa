// Any bytes of a log: segments are bounded and the same however the bytes come, and whatever steps they tell
// go through the loop, the clock, the detectors and their bounds.
#include "respond/steps/step_lines.h"

#include "base/result.h"
#include "respond/logs/fatal_lines.h"
#include "respond/logs/log_segments.h"
#include "respond/statistics/drift.h"
#include "respond/statistics/spikes.h"
#include "respond/steps/step_loop.h"
#include "respond/steps/step_time.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spotter;
  using namespace spotter::respond;
  static const StepLines lines = *StepLines::make();
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  std::string whole, parts;
  LogSegments at_once, in_parts;
  at_once.add(text, [&](std::string_view segment) {
    CHECK(segment.size() <= LogSegments::kLongest && segment.find_first_of("\n\r") == segment.npos);
    whole += segment;
  });
  for (char byte : text) in_parts.add({&byte, 1}, [&](std::string_view segment) { parts += segment; });
  CHECK(whole == parts && at_once.cut() == in_parts.cut());

  StepClock clock({.left_out_first = 0});
  StepTime step_time({.sizes = {.steps = 1, .baseline = 3}, .slow_sizes = {.steps = 1, .baseline = 3}});
  Drift drift(DriftOptions{});
  Spikes spikes(SpikeOptions{});
  static const FatalLines fatal;
  StepLoop loop;
  Ns now = 0;
  LogSegments segments;
  segments.add(text, [&](std::string_view segment) {
    now += 100 * kSecond;
    lines.stuck(segment);
    if (const auto found = fatal.match(segment)) CHECK(found->kind != nullptr);
    CHECK(segments.begin() < segments.end());
    const auto line = lines.step(segment);
    if (line) loop.add({.line = *line, .file = segment.size() % 3, .at = now, .at_within = kSecond});
    for (const LoopStep& ended : loop.take()) CHECK(ended.took > 0 && ended.within >= 0);
    const auto end = line ? step_end(*line, now) : std::nullopt;
    const auto step = end ? clock.add(*end) : std::nullopt;
    if (!step) return;
    CHECK(step->took > 0);
    if (const auto event = step_time.add(*step)) CHECK(event->now > 0);
    if (step_time.completed()) drift.add(*step_time.completed());
    if (step_time.baseline()) spikes.add(*step, step_time.baseline()->median);
    CHECK(spikes.count() <= SpikeOptions{}.window);
  });
  return 0;
}
