#include "agent/captures/capture_control.h"

#include <algorithm>
#include <span>

#include "base/text/utf8.h"

namespace spotter::agent {
namespace {

constexpr Ns kTick = 200'000'000;      // for all processes that have a request
constexpr Ns kLeastTick = 10'000'000;  // a thousand take 0.6 s and a twentieth of a processor
constexpr size_t kLookedAfter = 16;    // at a time
constexpr size_t kShownPids = 16;

std::string told(const capture::Request& request, std::string_view what) {
  const std::span<const i64> shown(request.pids.data(), std::min(request.pids.size(), kShownPids));
  return fmt::format("asks to trace {} processes ({}{}) by {} to {}", request.pids.size(),
                     fmt::join(shown, " "), shown.size() < request.pids.size() ? " ..." : "", what,
                     to_printable(request.output.empty() ? request.config.log_file : request.output));
}

}  // namespace

CaptureControl::CaptureControl(const Parts& parts) : parts_(parts), tick_(parts.loop) {}

Result<std::string> CaptureControl::begin_if_allowed(const Peer& peer, const capture::Request& request) {
  for (const i64 pid : request.pids) {
    const kineto::Process* process = parts_.processes.registry().find(pid);
    if (process) TRY(parts_.access.may_trace(peer, *process));
  }
  const std::string& path = request.output.empty() ? request.config.log_file : request.output;
  // Where a process writes that is told no place.
  TRY(parts_.access.may_write(peer, path.empty() ? "/tmp" : path));
  capture::Request asked = request;
  asked.asked_by = peer.name;
  return parts_.captures.begin(asked, parts_.clock.now());
}

Result<std::string> CaptureControl::begin(const Peer& peer, const capture::Request& request,
                                          std::string_view what) {
  const Result<std::string> id = begin_if_allowed(peer, request);
  const std::string asked = told(request, what);
  if (!id) {
    parts_.audit.refused(peer, asked, id.error());
    return id;
  }
  parts_.audit.done(peer, fmt::format("{}: capture {}", asked, *id));
  keep_ticking();
  return id;
}

Result<void> CaptureControl::end(const Peer& peer, const std::string& id) {
  const capture::Capture* capture = parts_.captures.find(id);
  if (!capture) return fail(Code::not_found, "there is no capture of that id");
  const AccessRole needed = capture->asked_by == peer.name ? AccessRole::trace : AccessRole::admin;
  if (const Result<void> may = parts_.access.may(peer, needed); !may) {
    parts_.audit.refused(peer, "ends capture " + id, may.error());
    return may;
  }
  parts_.audit.done(peer, fmt::format("ends capture {}: done", id));
  parts_.captures.end(id, peer.name, parts_.clock.now());
  return {};
}

// Who may trace is about to use a profiler.
Result<void> CaptureControl::pause_profiling(const Peer& peer, Ns duration) {
  const std::string asked = duration > 0
                                ? fmt::format("pauses DCGM's profiling for {} s", duration / 1'000'000'000)
                                : "resumes DCGM's profiling";
  if (Result<void> may = parts_.access.may(peer, AccessRole::trace); !may) {
    parts_.audit.refused(peer, asked, may.error());
    return may;
  }
  parts_.audit.done(peer, asked + ": done");
  if (duration > 0) {
    parts_.profiling_pause.until(parts_.loop.now() + duration);
  } else {
    parts_.profiling_pause.end();
  }
  return {};
}

// A few at a time: to look after a thousand at once would keep the next poll waiting.
void CaptureControl::keep_ticking() {
  if (ticking_) return;
  ticking_ = true;
  leave_profiling_alone();
  const Ns turns = static_cast<Ns>(parts_.captures.active() / kLookedAfter + 1);
  tick_.set(std::max(kTick / turns, kLeastTick), [this] {
    ticking_ = false;
    parts_.captures.tick(parts_.clock.now(), kLookedAfter);
    if (parts_.captures.active() > 0) keep_ticking();
  });
}

// A pause that somebody asked for stays as long as he said.
void CaptureControl::leave_profiling_alone() {
  constexpr Ns kAhead = 5'000'000'000;
  collect::ProfilingPause& pause = parts_.profiling_pause;
  if (!pause.is_on(parts_.loop.now() + kAhead)) pause.until(parts_.loop.now() + kAhead);
}

}  // namespace spotter::agent
