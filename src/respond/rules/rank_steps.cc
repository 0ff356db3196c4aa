#include "respond/rules/rank_steps.h"

namespace spotter::respond {
namespace {

constexpr const char* kNames[] = {"job",         "rank", "user", "source", "step_ns", "step_longest_ns",
                                  "step_age_ns", "steps"};
enum : size_t { kJob, kRank, kUser, kSource, kStep, kLongest, kAge, kSteps };

}  // namespace

StepRows::StepRows() : columns_(kNames) {}

StepRow StepRows::at(size_t row) const {
  return {.of = {.job = std::string(columns_.text(row, kJob)),
                 .rank = columns_.integer(row, kRank),
                 .user = std::string(columns_.text(row, kUser))},
          .source = columns_.text(row, kSource),
          .step = columns_.integer(row, kStep),
          .longest = columns_.integer(row, kLongest),
          .age = columns_.integer(row, kAge),
          .steps = columns_.integer(row, kSteps).value_or(0)};
}

Condition condition_of(const StepRow& row) {
  Condition condition;
  condition.job = row.of.job;
  condition.user = row.of.user;
  condition.rank = row.of.rank;
  condition.unit = "s";
  condition.source = row.source;
  return condition;
}

}  // namespace spotter::respond
