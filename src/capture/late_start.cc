#include "capture/late_start.h"

#include <fmt/format.h>
#include <time.h>

#include "base/saturated.h"

namespace spotter::capture {

namespace {

// Times of files are those of the kernel's clock tick.
Ns clock_tick() {
  timespec tick{};
  clock_getres(CLOCK_REALTIME_COARSE, &tick);
  return tick.tv_nsec;
}

}  // namespace

bool shorten_warmup(kineto::Config& config, i64 now_ms) {
  const i64 room = config.start_time_ms - now_ms - kineto::kTickMs;
  if (config.start_time_ms == 0 || room >= config.warmup_ms || room < 0) return false;
  config.warmup_ms = room / 1000 * 1000;
  return true;
}

bool has_dropped(const kineto::Config& config, i64 start_ms, Ns begun, bool is_idle, i64 now_ms) {
  if (config.by_iterations()) return false;
  const i64 warmup_ms = start_ms - config.warmup_ms;
  if (begun > 0) return begun > subtract_saturated(multiply_saturated(warmup_ms, kMillisecond), clock_tick());
  return is_idle && now_ms > warmup_ms + kineto::kTickMs;
}

std::string ask_again(kineto::Config& config, i64 now_ms) {
  if (config.start_time_ms == 0) return "the process woke too late for its warm-up and was asked again";
  if (config.start_time_ms - now_ms >= kineto::kTickMs) {
    shorten_warmup(config, now_ms);
    return fmt::format("the process woke too late for its warm-up and was asked again, with {} s of it",
                       config.warmup_ms / 1000);
  }
  config.start_time_ms = config.warmup_ms = 0;
  return "the process woke too late for the start and was asked again, so that its trace begins later";
}

}  // namespace spotter::capture
