#include "respond/steps/step_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/text/number.h"
#include "base/time.h"

namespace spotter::respond {
namespace {

// Held to lines that the format strings of these sources make, or they themselves. Anchors are at the
// beginning of a segment.
constexpr LineForm kForms[] = {
    {"megatron",
     R"(iteration\s+(?P<step>\d+)/\s*(?P<of>\d+) \|.*?elapsed time per iteration \(ms\): (?P<ms>\d+(?:\.\d+)?) \|)"},
    {"torchtitan", R"((?:^|- )step:\s+(?P<step>\d+)\s+loss:.*?tps: (?P<tps>[\d,]+))"},
    {"tqdm",
     R"((?P<pct>\d+)%\|[^|]*\| (?P<step>\d+)/(?P<of>\d+) \[(?:\d+:)?\d{2}:\d{2}<(?:\?|(?:\d+ days?, )?(?:\d+:)?\d{2}:\d{2}), *)"
     R"((?:(?P<ips>\d+(?:\.\d+)?)it/s|(?P<spi>\d+(?:\.\d+)?)s/it|\?it/s))"},
    {"hf_dict", R"(^\{.*'loss': '?(?P<loss>[\d.e+-]+|nan|inf)'?,.*'epoch': '?(?P<epoch>[\d.e+-]+)'?.*\}$)"},
    {"deepspeed",
     R"(epoch=\d+/micro_step=\d+/global_step=(?P<step>\d+), RunningAvgSamplesPerSec=[-\w.]+, CurrSamplesPerSec=(?P<sps>[\d.]+))"},
    {"ds_pipe",
     R"(steps: (?P<step>\d+) loss: \S+ .*?iter time \(s\): (?P<s>\d+\.\d+) samples/sec: (?P<sps>\d+\.\d+))"},
    {"nemo",
     R"(epoch \d+, iteration (?P<step>\d+)/(?P<of>\d+)(?: \|.*?\| train_step_timing in s: (?P<s>[\d.]+(?:e[-+]?\d+)?))?)"},
    {"verl", R"(^step:(?P<step>\d+) - .*?timing_s/step:(?P<s>[\d.]+))"},
};
constexpr const char* kWatchdog =
    R"(\[Rank (?P<rank>\d+)\] Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+), )"
    R"(.*?Timeout\(ms\)=(?P<to>\d+)\) ran for (?P<ms>\d+) milliseconds)";

// What torchrun's --tee puts before a line, and what Ray does.
constexpr const char* kPrefix = R"(^(?:\[[A-Za-z_]+\d+\]:|\(\w+ pid=\d+(?:, ip=[\d.]+)?\) ))";

// Whole seconds are too coarse for steps of a second, so a stamp has three digits behind them.
constexpr const char* kStamp = R"((\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)[.,](\d{3,9}))";

constexpr size_t kLongestOwn = 512;
// Each takes up to 0.04 ms of a segment of 4 KiB, where the text is made for it; ours have fewer than 100.
constexpr int kMostInstructions = 200;
constexpr i64 kExpressionBytes = 1 << 20;
constexpr int kMostGroups = 16;

using Groups = std::array<re2::StringPiece, kMostGroups>;

// Bytes, not characters: a segment may be cut within one, and `.` is to match it all the same.
RE2::Options options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(kExpressionBytes);
  return options;
}

struct Expression {
  Expression(std::string_view its_name, const std::string& text) : name(its_name), re(text, options()) {
    for (const auto& [group, index] : re.NamedCapturingGroups()) groups.emplace_back(group, index);
  }

  bool match(std::string_view segment, Groups& found) const {
    const int count = std::min(kMostGroups, 1 + re.NumberOfCapturingGroups());
    return re.Match({segment.data(), segment.size()}, 0, segment.size(), RE2::UNANCHORED, found.data(),
                    count);
  }

  bool has(std::string_view group) const {
    return std::ranges::any_of(groups, [&](const auto& pair) { return pair.first == group; });
  }

  // Empty: it took no part in the match.
  std::string_view text(const Groups& found, std::string_view group) const {
    for (const auto& [name_of, index] : groups)
      if (name_of == group && index < kMostGroups) return {found[index].data(), found[index].size()};
    return {};
  }

  template <class T>
  std::optional<T> number(const Groups& found, std::string_view group) const {
    return number_in<T>(text(found, group));
  }

  std::string_view name;
  RE2 re;
  std::vector<std::pair<std::string, int>> groups;
};

std::optional<Ns> length_of(double seconds) {
  constexpr double kLongest = 1e9;
  if (!(seconds > 0 && seconds < kLongest)) return {};
  return static_cast<Ns>(std::llround(seconds * static_cast<double>(kSecond)));
}

// Half of the last digit of a number as it is printed: of 12.5 0.05, of 1.5e-3 0.00005.
double grain_of(std::string_view number) {
  const std::string_view digits = number.substr(0, number.find_first_of("eE"));
  const size_t point = digits.find('.');
  const auto decimals = static_cast<int>(point == digits.npos ? 0 : digits.size() - point - 1);
  const int exponent =
      digits.size() < number.size() ? number_in<int>(number.substr(digits.size() + 1)).value_or(0) : 0;
  return 0.5 * std::pow(10.0, exponent - decimals);
}

struct Took {
  std::optional<Ns> time = {};
  Ns within = 0;
};

Took took_of(const Expression& form, const Groups& found) {
  constexpr struct {
    const char* group;
    double seconds;
  } kTimes[] = {{"s", 1}, {"spi", 1}, {"ms", 1e-3}};
  for (const auto& [group, seconds] : kTimes) {
    const std::string_view text = form.text(found, group);
    if (const auto time = number_in<double>(text))
      return {length_of(*time * seconds), length_of(grain_of(text) * seconds).value_or(0)};
  }
  const std::string_view text = form.text(found, "ips");
  if (const auto rate = number_in<double>(text))
    return {length_of(1 / *rate), length_of(grain_of(text) / (*rate * *rate)).value_or(0)};
  return {};
}

Result<void> check_own(const Expression& own) {
  if (!own.re.ok()) return fail(Code::invalid, "it is no expression of RE2: {}", own.re.error());
  if (own.re.ProgramSize() > kMostInstructions)
    return fail(Code::invalid, "it may take too long: it is a program of {} instructions, at most {}",
                own.re.ProgramSize(), kMostInstructions);
  if (own.re.NumberOfCapturingGroups() >= kMostGroups)
    return fail(Code::invalid, "it has more than {} groups; (?:...) is none", kMostGroups - 1);
  if (!own.has("step")) return fail(Code::invalid, "it has no group (?P<step>\\d+)");
  int times = 0;
  for (const auto& [name, index] : own.groups) {
    if (name == "s" || name == "ms" || name == "ips" || name == "sps")
      ++times;
    else if (name != "step" && name != "of")
      return fail(Code::invalid, "it has a group `{}`; known are step, of, s, ms, ips and sps", name);
  }
  if (times != 1)
    return fail(Code::invalid, "it needs one of the groups s, ms, ips and sps, and has {}", times);
  return {};
}

}  // namespace

std::span<const LineForm> line_forms() { return kForms; }

struct StepLines::Expressions {
  std::vector<std::unique_ptr<Expression>> forms;
  Expression watchdog{"watchdog", kWatchdog}, prefix{"prefix", kPrefix}, stamp{"stamp", kStamp};

  std::string_view without_prefix(std::string_view segment) const {
    Groups found;
    if (prefix.match(segment, found)) segment.remove_prefix(found[0].size());
    return segment;
  }

  std::optional<Ns> stamp_in(std::string_view text) const;
};

std::optional<Ns> StepLines::Expressions::stamp_in(std::string_view text) const {
  Groups found;
  if (!stamp.match(text, found)) return {};
  std::array<i64, 8> number{};
  for (size_t i = 1; i < number.size(); ++i)
    number[i] = *number_in<i64>(std::string_view(found[i].data(), found[i].size()));
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(number[1])),
                                        std::chrono::month(static_cast<unsigned>(number[2])),
                                        std::chrono::day(static_cast<unsigned>(number[3]))};
  // Before 1900 and after 2200 are no times of a job, and do not fit.
  if (!day.ok() || number[1] < 1900 || number[1] > 2200 || number[4] > 23 || number[5] > 59 || number[6] > 60)
    return {};
  for (size_t digits = found[7].size(); digits < 9; ++digits) number[7] *= 10;
  const i64 days = std::chrono::sys_days(day).time_since_epoch().count();
  return days * kDay + number[4] * kHour + number[5] * kMinute + number[6] * kSecond + number[7];
}

StepLines::StepLines(std::unique_ptr<Expressions> expressions) : expressions_(std::move(expressions)) {}
StepLines::StepLines(StepLines&&) noexcept = default;
StepLines& StepLines::operator=(StepLines&&) noexcept = default;
StepLines::~StepLines() = default;

Result<StepLines> StepLines::make(std::span<const std::string> own) {
  auto all = std::make_unique<Expressions>();
  for (const std::string& text : own) {
    if (text.size() > kLongestOwn)
      return fail(Code::invalid, "an expression for log lines has {} bytes; at most {}", text.size(),
                  kLongestOwn);
    all->forms.push_back(std::make_unique<Expression>(kOwnForm, text));
    if (auto checked = check_own(*all->forms.back()); !checked)
      return within(std::move(checked).error(), fmt::format("the expression for log lines `{}`", text));
  }
  for (const LineForm& form : kForms) {
    all->forms.push_back(std::make_unique<Expression>(form.name, form.expression));
    CHECK(all->forms.back()->re.ok());
  }
  return StepLines(std::move(all));
}

std::optional<StepLine> StepLines::step(std::string_view segment) const {
  const std::string_view text = expressions_->without_prefix(segment);
  for (const auto& form : expressions_->forms) {
    Groups found;
    if (!form->match(text, found)) continue;
    const Took took = took_of(*form, found);
    StepLine line{.form = form->name,
                  .step = form->number<i64>(found, "step"),
                  .of = form->number<i64>(found, "of"),
                  .took = took.time,
                  .took_within = took.within,
                  .stamp = expressions_->stamp_in(text.substr(0, found[0].data() - text.data()))};
    // A number that does not fit is none of a step.
    if (form->has("step") && !line.step) continue;
    return line;
  }
  return {};
}

std::optional<StuckCollective> StepLines::stuck(std::string_view segment) const {
  const Expression& watchdog = expressions_->watchdog;
  Groups found;
  if (!watchdog.match(segment, found)) return {};
  const auto number = [&](const char* group) { return watchdog.number<i64>(found, group); };
  const auto rank = number("rank"), sequence = number("seq"), timeout = number("to"), ran = number("ms");
  constexpr i64 kLongest = 10 * kDay / kMillisecond;
  if (!rank || !sequence || !timeout || !ran || *timeout > kLongest || *ran > kLongest) return {};
  return StuckCollective{.rank = *rank,
                         .sequence = *sequence,
                         .operation = std::string(watchdog.text(found, "op")),
                         .timeout = *timeout * kMillisecond,
                         .ran = *ran * kMillisecond};
}

std::optional<StepEnd> step_end(const StepLine& line, Ns at) {
  if (!line.step) return {};
  return StepEnd{.step = *line.step, .at = at, .stamp = line.stamp, .took = line.took};
}

}  // namespace spotter::respond
