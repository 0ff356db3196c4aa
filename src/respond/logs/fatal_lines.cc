#include "respond/logs/fatal_lines.h"

#include <re2/re2.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/text/number.h"

namespace spotter::respond {
namespace {

// A line may tell of several: a watchdog that found an error of NCCL is one, and memory that was not to be
// had an error of CUDA.
constexpr FatalKind kKinds[] = {
    {"collective_timeout", R"(Watchdog caught collective operation timeout)"},
    {"cuda_out_of_memory", R"(CUDA out of memory|OutOfMemoryError)"},
    {"cuda_error", R"(CUDA error:|device-side assert|an illegal memory access)"},
    {"nccl_error", R"(NCCL WARN|ncclInternalError|ncclSystemError|ncclRemoteError|NCCL error)"},
    {"worker_failed", R"(ChildFailedError)"},
    {"crash", R"(Segmentation fault|SIGBUS|Bus error)"},
    {"loss_not_a_number", R"(nan iterations:\s+[1-9]|loss[:=]\s*nan|loss is NaN)"},
    {"traceback", R"(Traceback \(most recent call last\))"},
};
constexpr const char* kRank = R"(\[Rank (\d+)\])";

RE2::Options options() {
  RE2::Options options(RE2::Latin1);  // bytes: a segment may be cut within a character
  options.set_log_errors(false);
  return options;
}

bool has(const RE2& expression, std::string_view text) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression);
}

}  // namespace

std::span<const FatalKind> fatal_kinds() { return kKinds; }

struct FatalLines::Expressions {
  Expressions() : any(all(), options()), rank(kRank, options()) {
    for (const FatalKind& kind : kKinds) each.push_back(std::make_unique<RE2>(kind.expression, options()));
    CHECK(any.ok() && rank.ok());
  }
  static std::string all() {
    std::string text;
    for (const FatalKind& kind : kKinds) text.append(text.empty() ? "" : "|").append(kind.expression);
    return text;
  }

  RE2 any, rank;  // any: nearly all lines are looked at once
  std::vector<std::unique_ptr<RE2>> each;
};

FatalLines::FatalLines() : expressions_(std::make_unique<Expressions>()) {}
FatalLines::~FatalLines() = default;

std::optional<FatalLine> FatalLines::match(std::string_view segment) const {
  if (!has(expressions_->any, segment)) return {};
  for (size_t i = 0; i < expressions_->each.size(); ++i) {
    if (!has(*expressions_->each[i], segment)) continue;
    re2::StringPiece rank;
    RE2::PartialMatch(re2::StringPiece(segment.data(), segment.size()), expressions_->rank, &rank);
    return FatalLine{&kKinds[i], number_in<i64>(std::string_view(rank.data(), rank.size()))};
  }
  return {};
}

}  // namespace spotter::respond
