// FatalLines: the lines of a job's log that tell why it ends, or that it trains no more: from PyTorch, CUDA,
// NCCL, Python and the frameworks. Text of a job is untrusted: anybody may print such a line. Made once; then
// const, for any number of threads.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/types.h"

namespace spotter::respond {

// What a line tells; an expression of RE2, case kept.
struct FatalKind {
  const char* name;
  const char* expression;
};
std::span<const FatalKind> fatal_kinds();

struct FatalLine {
  const FatalKind* kind = nullptr;  // the first of them that matches
  std::optional<i64> rank = {};     // that it names: those of PyTorch's watchdog do
};

class FatalLines {
 public:
  FatalLines();
  ~FatalLines();
  // Of one segment (log_segments.h).
  std::optional<FatalLine> match(std::string_view segment) const;

 private:
  struct Expressions;
  std::unique_ptr<Expressions> expressions_;
};

}  // namespace spotter::respond
