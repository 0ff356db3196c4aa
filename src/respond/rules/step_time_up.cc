// step_time_up: the steps of a rank have become slower (step_time.h).
#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"
#include "respond/steps/step_time.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"step"};

constexpr Setting kSettings[] = {
    {"ratio", "1.1", "Of a slow block of steps to the baseline.", is_above_one},
    {"spreads", "5", "How many spreads of the baseline a slow block is above it.", is_positive},
    {"sensitive", "false", "Whether +7 % is told, too.", is_flag},
};

struct Judged {
  StepTime time;
  std::optional<StepTimeEvent> began = {};
  bool is_new_normal = false, has_begun_anew = false;
};

class StepTimeUp : public Watch {
 public:
  explicit StepTimeUp(const Settings& settings) {
    if (settings.at("sensitive") == "true") options_ = sensitive(options_);
    // A threshold that is said wins over both.
    if (settings.at("ratio") != "1.1") {
      options_.ratio = number_of(settings, "ratio");
      options_.recovered_ratio = (1 + options_.ratio) / 2;
    }
    if (settings.at("spreads") != "5") options_.spreads = number_of(settings, "spreads");
  }

  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    ranks_.each(
        sample, facts, [&] { return Judged{StepTime(options_)}; },
        [&](const StepRow& row, const std::vector<Step>& steps, Judged& judged) {
          for (const Step& step : steps) add(judged, step);
          Sign& sign = signs.emplace_back(condition_of(row), judged.time.is_slow());
          sign.condition.is_new_normal = judged.is_new_normal;
          sign.condition.has_job_ended = judged.has_begun_anew;
          if (!judged.began) return;
          const double seconds = 1.0 / static_cast<double>(kSecond);
          const auto& block = judged.time.completed();
          sign.condition.value = (block ? block->median : judged.began->now) * seconds;
          sign.condition.baseline = judged.began->baseline * seconds;
          sign.condition.spreads = judged.began->spreads;
          sign.condition.step = judged.began->step;
          sign.condition.since = judged.began->since;
        });
  }

 private:
  static void add(Judged& judged, const Step& step) {
    const auto event = judged.time.add(step);
    if (!event) return;
    if (event->kind == StepTimeEvent::Kind::began)
      judged.began = event;
    else
      judged.began.reset();
    judged.is_new_normal = event->kind == StepTimeEvent::Kind::new_normal;
    judged.has_begun_anew = event->kind == StepTimeEvent::Kind::restarted;
  }

  StepTimeOptions options_;
  RankSteps<Judged> ranks_;
};

}  // namespace

const Rule kStepTimeUp = {
    .name = "step_time_up",
    .family = "speed",
    .urgency = Urgency::warning,
    .meaning =
        "Steps take longer than they did: two of three blocks of 8 steps are 10 % and 5 spreads above "
        "the 40 blocks before.",
    .remedy = "",
    .rank_as_cause = 0,
    .hold = "0s",
    .recover = "0s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<StepTimeUp>(s); },
};

}  // namespace spotter::respond
