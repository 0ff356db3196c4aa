// Numbers as a person reads them: three significant digits and a unit of the right size.
#include <fmt/format.h>

#include <cmath>

#include "base/saturated.h"
#include "base/text/utf8.h"
#include "render/render.h"

namespace spotter::render {
namespace {

// Puts a comma after every three digits of a number without fraction, counted from its end.
std::string group(std::string digits) {
  const size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, 1, ',');
  return digits;
}

// Three significant digits of a positive number; all digits before the point.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return group(fmt::format("{:.0f}", value));
}

struct Step {
  double size;   // of the unit
  double below;  // numbers of this unit stay below; they are chosen so that 999.5, which rounds to 1,000,
                 // moves on
  const char* name;
};

constexpr Step kTimes[] = {
    {1, 999.5, "ns"}, {1e3, 999.5, "µs"}, {1e6, 999.5, "ms"}, {1e9, 59.95, "s"}, {60e9, HUGE_VAL, "min"},
};

constexpr double kKiB = 1024;
constexpr Step kBytes[] = {
    {1, 1023.5, "B"},
    {kKiB, 1023.5, "KiB"},
    {kKiB * kKiB, 1023.5, "MiB"},
    {kKiB * kKiB * kKiB, 1023.5, "GiB"},
    {kKiB * kKiB * kKiB * kKiB, HUGE_VAL, "TiB"},
};

constexpr Step kWatts[] = {{1, 999.5, "W"}, {1e3, HUGE_VAL, "kW"}};
constexpr Step kJoules[] = {{1, 999.5, "J"}, {1e3, 999.5, "kJ"}, {1e6, 999.5, "MJ"}, {1e9, HUGE_VAL, "GJ"}};
constexpr Step kHertz[] = {
    {1, 999.5, "Hz"}, {1e3, 999.5, "kHz"}, {1e6, 999.5, "MHz"}, {1e9, HUGE_VAL, "GHz"}};

std::string scaled(double value, std::span<const Step> steps) {
  const double size = std::abs(value);
  const char* sign = value < 0 ? "-" : "";
  // What cannot be divided, or happens to be whole, is shown without a fraction.
  if (size < steps[0].below && size == std::floor(size))
    return fmt::format("{}{:.0f} {}", sign, size, steps[0].name);
  size_t i = 0;
  while (size / steps[i].size >= steps[i].below) ++i;
  return fmt::format("{}{} {}", sign, three_digits(size / steps[i].size), steps[i].name);
}

// Seconds with microseconds: positions in time are compared with each other, so all digits stay.
std::string position(i64 ns) {
  const bool negative = ns < 0;
  const u64 size = negative ? ~static_cast<u64>(ns) + 1 : static_cast<u64>(ns);
  const u64 us = size / 1000 + (size % 1000 >= 500 ? 1 : 0);
  return fmt::format("{}{}.{:06} s", negative ? "-" : "", us / 1'000'000, us % 1'000'000);
}

std::string human_real(double value, Unit unit) {
  if (!std::isfinite(value)) return "-";
  switch (unit) {
    case Unit::none:
    case Unit::count:
      return std::abs(value) < 999.5 ? fmt::format("{:.3g}", value) : group(fmt::format("{:.0f}", value));
    case Unit::ns:
      return scaled(value, kTimes);
    case Unit::bytes:
      return scaled(value, kBytes);
    case Unit::bytes_per_s:
      return scaled(value, kBytes) + "/s";
    case Unit::ratio:
      return fmt::format("{:.1f} %", value * 100);
    case Unit::celsius:
      return fmt::format("{:.0f} °C", value);
    case Unit::watts:
      return scaled(value, kWatts);
    case Unit::joules:
      return scaled(value, kJoules);
    case Unit::hertz:
      return scaled(value, kHertz);
    case Unit::per_s:
      return human_real(value, Unit::count) + " /s";
  }
  return {};
}

std::string human_integer(i64 value, Unit unit) {
  switch (unit) {
    case Unit::none:
      return fmt::format("{}", value);
    case Unit::count:
      return group(fmt::format("{}", value));
    case Unit::ns:
      return human_ns(value);
    case Unit::bytes:
      return scaled(static_cast<double>(value), kBytes);
    case Unit::bytes_per_s:
      return scaled(static_cast<double>(value), kBytes) + "/s";
    case Unit::ratio:
    case Unit::celsius:
    case Unit::watts:
    case Unit::joules:
    case Unit::hertz:
    case Unit::per_s:
      return human_real(static_cast<double>(value), unit);
  }
  return {};
}

}  // namespace

std::string human_ns(Ns ns) { return scaled(static_cast<double>(ns), kTimes); }

Value shown_time(const Value& value, const Field& field, const TextStyle& style) {
  const i64* time = std::get_if<i64>(&value);
  if (!time || !style.time_zero || field.role != Role::time || field.unit != Unit::ns) return value;
  return subtract_saturated(*time, *style.time_zero);
}

std::string human(const Value& value, Unit unit, Role role) {
  if (const i64* whole = std::get_if<i64>(&value)) {
    return role == Role::time ? position(*whole) : human_integer(*whole, unit);
  }
  if (const double* real = std::get_if<double>(&value)) {
    if (role == Role::time && std::abs(*real) < 9e18) return position(std::llround(*real));
    return human_real(*real, unit);
  }
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string_view>(&value)) return to_printable(*text);
  return "-";
}

}  // namespace spotter::render
