#include "base/moment.h"

#include <fmt/format.h>

#include <ctime>

#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "base/time.h"

namespace spotter {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool takes(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Just so many digits, and a number of that range.
  bool number(size_t digits, int least, int most, int& to) {
    const auto value = rest_.size() < digits ? std::nullopt : whole_number(rest_.substr(0, digits));
    if (!value || *value < least || *value > most) return false;
    to = static_cast<int>(*value);
    rest_.remove_prefix(digits);
    return true;
  }
  // Digits behind a point, as nanoseconds; those beyond the ninth do not count.
  bool fraction(Ns& to) {
    Ns unit = kSecond;
    bool has_any = false;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1)) {
      unit /= 10;
      to += unit * (rest_.front() - '0');
      has_any = true;
    }
    return has_any;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

int days_of(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[month - 1] + (month == 2 && is_leap);
}

// False: it is none.
bool read_moment(std::string_view text, Ns& moment) {
  constexpr int kFirstYear = 1970, kLastYear = 2200;
  Reader reader(text);
  tm t{};
  t.tm_isdst = -1;  // as the zone has it
  Ns fraction = 0;
  if (!reader.number(4, kFirstYear, kLastYear, t.tm_year) || !reader.takes('-') ||
      !reader.number(2, 1, 12, t.tm_mon) || !reader.takes('-') ||
      !reader.number(2, 1, days_of(t.tm_year, t.tm_mon), t.tm_mday))
    return false;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  bool has_zone = false, is_local = true;
  int hours = 0, minutes = 0, sign = 1;
  if (!reader.is_done()) {
    if (!reader.takes('T') && !reader.takes('t') && !reader.takes(' ')) return false;
    if (!reader.number(2, 0, 23, t.tm_hour) || !reader.takes(':') || !reader.number(2, 0, 59, t.tm_min))
      return false;
    if (reader.takes(':')) {
      if (!reader.number(2, 0, 59, t.tm_sec)) return false;
      if (reader.takes('.') && !reader.fraction(fraction)) return false;
    }
    if (reader.takes('Z') || reader.takes('z')) {
      is_local = false;
    } else {
      sign = reader.takes('-') ? -1 : 1;
      has_zone = sign < 0 || reader.takes('+');
      is_local = !has_zone;
    }
    if (has_zone &&
        (!reader.number(2, 0, 23, hours) || (reader.takes(':'), !reader.number(2, 0, 59, minutes))))
      return false;
    if (!reader.is_done()) return false;
  }
  const time_t seconds = is_local ? mktime(&t) : timegm(&t);
  moment = Ns{seconds} * kSecond + fraction - sign * (hours * kHour + minutes * kMinute);
  return true;
}

}  // namespace

std::string utc_text(Ns unix_ns) {
  const Ns part = (unix_ns % kSecond + kSecond) % kSecond;
  const std::time_t seconds = static_cast<std::time_t>((unix_ns - part) / kSecond);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, part / kMillisecond);
}

Result<Ns> parse_moment(const std::string& text) {
  Ns moment = 0;
  if (read_moment(text, moment)) return moment;
  return fail(Code::invalid, "\"{}\" is no time such as 2026-11-23T14:05:00Z or \"2026-11-23 14:05\"",
              to_printable(text));
}

Result<Ns> parse_ago(const std::string& text, Ns now) {
  if (const Result<Ns> length = parse_duration_ns(text)) return *length;
  const Result<Ns> moment = parse_moment(text);
  if (!moment)
    return fail(Code::invalid,
                "\"{}\" is neither so long ago, as 10m, nor a time such as 2026-11-23T14:05:00Z",
                to_printable(text));
  if (*moment > now) return fail(Code::invalid, "\"{}\" is not over yet", to_printable(text));
  return now - *moment;
}

}  // namespace spotter
