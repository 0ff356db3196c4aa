#include "sink/times.h"

#include <fmt/format.h>

#include <ctime>

#include "base/time.h"

namespace spotter::sink {

std::string utc_text(Ns unix_ns) {
  const Ns part = (unix_ns % kSecond + kSecond) % kSecond;
  const std::time_t seconds = static_cast<std::time_t>((unix_ns - part) / kSecond);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, part / kMillisecond);
}

}  // namespace spotter::sink
