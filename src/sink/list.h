// Every kind of push sink, in the order users see, and how one is made of what a configuration says.
#pragma once
#include <memory>
#include <string>

#include "base/settings.h"
#include "base/system/host.h"
#include "sink/runner.h"

namespace spotter::sink {

// What a sink may look at, and knows of the tables.
struct Surroundings {
  Host host = {};
  std::string host_name = {};               // empty: what the system says
  std::vector<std::string> unbounded = {};  // names of the tables whose rows come and go with processes
};

struct SinkKind {
  const char* name;
  const char* help;                       // one sentence
  Ns (*every)(const Settings& settings);  // by default
  bool keeps_series;  // where it goes to, a series is kept for each row there ever was: not for `unbounded`
  std::span<const Setting> options;  // beside those of all sinks
  // All keys of `options` are there, but those without a fallback. Errors: invalid.
  Result<std::unique_ptr<Sink>> (*make)(const Settings& settings, const Surroundings& surroundings);
  const char* unshared =
      nullptr;  // key of the option whose value no two sinks may have: they would mix there
};

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_SINKS \
  kJsonLines, \
  kOtlp
// clang-format on
extern const SinkKind SPOTTER_SINKS;

std::span<const SinkKind* const> all_sinks();
const SinkKind* find_sink(std::string_view name);  // nullptr if there is none
std::span<const Setting> options_of_all_sinks();

// Errors: invalid (no such kind or option, or a value that cannot be), with the option.
Result<void> check(const std::string& kind, const Settings& settings);
std::string name_of(const std::string& kind, const Settings& settings);  // in the status and the log
// What no two sinks may have both, as "path /a/b"; empty: there is nothing of the kind. Of what check()
// passes.
std::string unshared_of(const std::string& kind, const Settings& settings);
// Errors: those of check(); invalid (what only the sink itself can tell).
Result<std::unique_ptr<Sink>> make_sink(const std::string& kind, const Settings& settings,
                                        const Surroundings& surroundings);
// The same with its queue and thread.
Result<std::unique_ptr<SinkRunner>> start_sink(const std::string& kind, const Settings& settings,
                                               const Surroundings& surroundings);

}  // namespace spotter::sink
