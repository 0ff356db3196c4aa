#include "notify/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/text/utf8.h"
#include "render/render.h"
#include "respond/incidents/says.h"

namespace spotter::notify {
namespace {

using namespace respond;

constexpr std::string_view kCut = "…";
constexpr size_t kMostName = 40;  // characters of a host's name

std::tm utc(Ns at) {
  const std::time_t seconds = static_cast<std::time_t>(at / kSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

std::string hours_and_minutes(const std::tm& t) { return fmt::format("{:02}:{:02}", t.tm_hour, t.tm_min); }

// "22 Nov " where that is another day than `now`.
std::string day_text(const std::tm& t, const std::tm& now) {
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (t.tm_year == now.tm_year && t.tm_yday == now.tm_yday) return {};
  return fmt::format("{} {} ", t.tm_mday, kMonths[t.tm_mon]);
}

// A unit of conditions as tables have it, and how many of that one is.
struct Measure {
  const char* unit;
  Unit shown;
  double factor;
};
constexpr Measure kMeasures[] = {
    {"s", Unit::ns, 1e9},
    {"ns", Unit::ns, 1},
    {"ratio", Unit::ratio, 1},
    {"count", Unit::count, 1},
    {"per_s", Unit::per_s, 1},
    {"bytes", Unit::bytes, 1},
    {"bytes_per_s", Unit::bytes_per_s, 1},
    {"watts", Unit::watts, 1},
    {"celsius", Unit::celsius, 1},
};

}  // namespace

std::string cut_characters(std::string_view text, size_t most) {
  size_t characters = 0, kept = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = first_code_point(rest).bytes;
    if (++characters > most) return std::string(text.substr(0, kept)) + std::string(kCut);
    // Room for the mark, should there be more than fits.
    if (characters < most) kept += bytes;
    rest.remove_prefix(bytes);
  }
  return std::string(text);
}

std::string cut_bytes(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t kept = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t bytes = first_code_point(rest).bytes;
    if (kept + bytes + kCut.size() > most) break;
    kept += bytes;
    rest.remove_prefix(bytes);
  }
  return std::string(text.substr(0, kept)) + std::string(kCut);
}

std::string clean(std::string_view text, size_t most_characters) {
  // What is far too long is cut before it is looked at closely.
  constexpr size_t kMostBytesOfOne = 4;
  const std::string_view begin = text.substr(0, (most_characters + 1) * kMostBytesOfOne);
  return cut_characters(to_printable(begin), most_characters);
}

std::string number_text(double value, const std::string& unit) {
  constexpr double kMinuteS = 60, kTenMinutesS = 600, kMostS = 1e9;
  if (unit == "s" && kMinuteS <= value && value < kMostS)
    return value < kTenMinutesS ? fmt::format("{:.0f} s", value)
                                : length_text(static_cast<Ns>(value) * kSecond);
  constexpr double kTenth = 0.0995;
  if (unit == "ratio" && value >= kTenth && value < kTenMinutesS) return fmt::format("{:.0f} %", value * 100);
  if (unit == "Hz") return respond::amount(value, unit);  // as drivers and evidence have it: in MHz
  for (const Measure& m : kMeasures) {
    if (unit == m.unit) return render::human(value * m.factor, m.shown, Role::value);
  }
  const std::string number = render::human(value, Unit::none, Role::value);
  return unit.empty() ? number : number + " " + clean(unit, kMostName);
}

std::string change_text(double before, double now, const std::string& unit) {
  std::string from = number_text(before, unit);
  const std::string to = number_text(now, unit);
  const size_t blank = to.rfind(' ');
  if (blank != to.npos && from.ends_with(to.substr(blank))) from.resize(from.rfind(' '));
  std::string text = fmt::format("{} → {}", from, to);
  if (unit == "ratio" || before <= 0 || now < 0) return text;
  constexpr double kTimes = 10;
  const double times = now / before;
  if (times >= kTimes) return text + fmt::format(" (× {:.0f})", times);
  return text + fmt::format(" ({}{:.0f} %)", times < 1 ? "−" : "+", std::abs(times - 1) * 100);
}

std::string count_text(i64 count, const char* one, const char* many) {
  return fmt::format("{} {}", render::human(count, Unit::count, Role::value), count == 1 ? one : many);
}

std::string length_text(Ns length) {
  constexpr Ns kFewMinutes = 2 * kMinute, kFewHours = 2 * kHour, kFewDays = 2 * kDay;
  if (length < kFewMinutes) return fmt::format("{} s", length / kSecond);
  if (length < kFewHours) return fmt::format("{} min", length / kMinute);
  const auto pair = [](i64 large, const char* of, i64 small, const char* of_small) {
    return small == 0 ? fmt::format("{} {}", large, of)
                      : fmt::format("{} {} {} {}", large, of, small, of_small);
  };
  if (length < kFewDays) return pair(length / kHour, "h", length % kHour / kMinute, "min");
  return pair(length / kDay, "d", length % kDay / kHour, "h");
}

std::string clock_text(Ns at, Ns now) {
  const std::tm t = utc(at);
  return day_text(t, utc(now)) + hours_and_minutes(t) + " UTC";
}

std::string clocks_text(Ns from, Ns to, Ns now) {
  const std::tm first = utc(from), last = utc(to);
  return day_text(first, utc(now)) + hours_and_minutes(first) + " to " + day_text(last, first) +
         hours_and_minutes(last) + " UTC";
}

std::string without_domain(const std::string& host) {
  const std::string first = host.substr(0, host.find('.'));
  const bool is_name = std::ranges::any_of(first, [](char c) { return c < '0' || c > '9'; });
  return is_name ? first : host;
}

std::string suspect_text(const Suspect& suspect) {
  std::string text = suspect.rank ? fmt::format("rank {}", *suspect.rank) : std::string();
  const std::string gpu = suspect.gpu ? fmt::format("GPU {}", *suspect.gpu) : std::string();
  if (text.empty()) text = gpu;
  if (!suspect.host.empty()) text += (text.empty() ? "" : " on ") + clean(suspect.host, kMostName);
  if (suspect.rank && suspect.gpu) text += " (" + gpu + ")";
  return text;
}

std::string suspects_text(const std::vector<Suspect>& suspects) {
  constexpr size_t kMost = 2;
  std::string all;
  for (size_t i = 0; i < suspects.size() && i < kMost; ++i)
    all += (i == 0 ? "" : ", ") + suspect_text(suspects[i]);
  if (suspects.size() > kMost) all += fmt::format(" and {} more", suspects.size() - kMost);
  return all;
}

std::optional<double> gpu_hours_lost(const Incident& incident, Ns length) {
  const Symptom& symptom = incident.symptom;
  double share = 0;
  if (incident.family == "progress") share = 1;
  if (symptom.rule.starts_with("step_time") && symptom.unit == "s" && symptom.before && symptom.now &&
      *symptom.now > *symptom.before && *symptom.before > 0)
    share = 1 - *symptom.before / *symptom.now;
  if (incident.job.world_size <= 0 || share <= 0 || length <= 0) return std::nullopt;
  return static_cast<double>(incident.job.world_size) * share * static_cast<double>(length) /
         static_cast<double>(kHour);
}

}  // namespace spotter::notify
