// step_time_spikes: single steps take far longer than others, not at regular distances (spikes.h).
#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"
#include "respond/statistics/spikes.h"
#include "respond/steps/step_time.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"step"};

constexpr Setting kSettings[] = {
    {"ratio", "2", "Of a spike to the usual step.", is_above_one},
};

struct Judged {
  StepTime time;
  Spikes spikes;
};

class StepTimeSpikes : public Watch {
 public:
  explicit StepTimeSpikes(const Settings& settings) { options_.ratio = number_of(settings, "ratio"); }

  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    ranks_.each(
        sample, facts, [&] { return Judged{StepTime(StepTimeOptions()), Spikes(options_)}; },
        [&](const StepRow& row, const std::vector<Step>& steps, Judged& judged) {
          for (const Step& step : steps) {
            judged.time.add(step);
            if (const auto& usual = judged.time.baseline()) judged.spikes.add(step, usual->median);
          }
          Sign& sign = signs.emplace_back(condition_of(row), judged.spikes.has_spikes());
          sign.condition.unit = "count";
          sign.condition.value = static_cast<double>(judged.spikes.count());
        });
  }

 private:
  SpikeOptions options_;
  RankSteps<Judged> ranks_;
};

}  // namespace

const Rule kStepTimeSpikes = {
    .name = "step_time_spikes",
    .family = "speed",
    .urgency = Urgency::info,
    .meaning = "Single steps take twice as long as usual: three of 100 and more, not at regular distances.",
    .remedy = "",
    .rank_as_cause = 0,
    .hold = "10m",
    .recover = "30m",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<StepTimeSpikes>(s); },
};

}  // namespace spotter::respond
