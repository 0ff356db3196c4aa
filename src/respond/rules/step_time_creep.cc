// step_time_creep: steps become slower little by little (drift.h).
#include "base/text/quantity.h"
#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"
#include "respond/statistics/drift.h"
#include "respond/steps/step_blocks.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"step"};

Result<void> is_window(const std::string& word) {
  TRY_ASSIGN(const i64 window, parse_duration_ns(word));
  DriftOptions options;
  options.window = window;
  return check(options);
}

Result<void> is_tau(const std::string& word) {
  TRY(is_positive(word));
  return is_share(word);
}

constexpr Setting kSettings[] = {
    {"window", "2h", "Of the steps that are looked at.", is_window},
    {"per_hour", "0.05", "How much slower they become in an hour.", is_positive},
    {"tau", "0.5", "Kendall's tau that tells a trend from chance.", is_tau},
};

struct Judged {
  StepBlocks blocks;
  Drift drift;
};

class StepTimeCreep : public Watch {
 public:
  explicit StepTimeCreep(const Settings& settings) {
    options_.window = duration_of(settings, "window");
    options_.per_hour = number_of(settings, "per_hour");
    options_.tau = number_of(settings, "tau");
  }

  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    ranks_.each(
        sample, facts, [&] { return Judged{StepBlocks(), Drift(options_)}; },
        [&](const StepRow& row, const std::vector<Step>& steps, Judged& judged) {
          for (const Step& step : steps) {
            if (const auto block = judged.blocks.add(step)) judged.drift.add(*block);
          }
          Sign& sign = signs.emplace_back(condition_of(row), judged.drift.is_drifting());
          sign.condition.unit = "ratio";
          if (judged.drift.trend()) sign.condition.value = judged.drift.trend()->per_hour;
        });
  }

 private:
  DriftOptions options_;
  RankSteps<Judged> ranks_;
};

}  // namespace

const Rule kStepTimeCreep = {
    .name = "step_time_creep",
    .family = "speed",
    .urgency = Urgency::info,
    .meaning = "Steps become slower little by little: by 5 % an hour and more in the last two hours.",
    .remedy = "",
    .rank_as_cause = 0,
    .hold = "10m",
    .recover = "30m",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<StepTimeCreep>(s); },
};

}  // namespace spotter::respond
