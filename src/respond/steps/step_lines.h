// StepLines: what the log lines of training frameworks say of steps: an expression for each framework, and
// those that the user adds. Text of a job is untrusted: RE2 takes time in proportion to it, whatever it
// holds. Made once; then const, for any number of threads.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "respond/steps/step_clock.h"

namespace spotter::respond {

// An expression for lines, of RE2. The group `step` is the number of a step; `of` how many there are; `s`,
// `ms` or `spi` how long it took (s, ms, s), `ips` how many there are in a second.
struct LineForm {
  const char* name;
  const char* expression;
};
std::span<const LineForm> line_forms();

inline constexpr std::string_view kOwnForm = "own";  // the name of those of the user

struct StepLine {
  std::string_view form;
  std::optional<i64> step;  // hf_dict has none: it says no more than that the job goes on
  std::optional<i64> of;    // lines of another total are of another loop: evaluation, loading of files
  std::optional<Ns> took;   // nothing: told by the times of two lines
  Ns took_within = 0;       // half of the last digit that it was printed with
  std::optional<Ns> stamp;  // the line's own time, of an unknown zone
};

// The end of a step that came at `at`; nothing where the line has no number.
std::optional<StepEnd> step_end(const StepLine& line, Ns at);

// PyTorch's watchdog: a collective operation that has not ended.
struct StuckCollective {
  i64 rank = 0, sequence = 0;
  std::string operation;
  Ns timeout = 0, ran = 0;
};

class StepLines {
 public:
  // Expressions of the user come first. Errors: invalid (longer than 512 bytes, no expression, one that takes
  // too long, without the group `step` and one of s, ms, ips, sps (samples a second, which say no time), with
  // other groups that have names).
  static Result<StepLines> make(std::span<const std::string> own = {});

  StepLines(StepLines&&) noexcept;
  StepLines& operator=(StepLines&&) noexcept;
  ~StepLines();

  // Of one segment (log_segments.h).
  std::optional<StepLine> step(std::string_view segment) const;
  std::optional<StuckCollective> stuck(std::string_view segment) const;

 private:
  struct Expressions;
  explicit StepLines(std::unique_ptr<Expressions> expressions);
  std::unique_ptr<Expressions> expressions_;
};

}  // namespace spotter::respond
