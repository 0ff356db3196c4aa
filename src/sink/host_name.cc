#include "sink/host_name.h"

#include "base/system/file.h"
#include "base/text/quantity.h"
#include "base/time.h"

namespace spotter::sink {

std::string host_name(const Surroundings& surroundings) {
  return surroundings.host_name.empty() ? spotter::host_name() : surroundings.host_name;
}

std::string machine_id(const Host& host) {
  constexpr size_t kDigits = 32;
  const std::string path = host.root.ends_with('/') ? "etc/machine-id" : "/etc/machine-id";
  std::string text = read_small_file(host.root + path, 4096).value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos ? text
                                                                                           : std::string();
}

Ns boot_time(const Host& host) {
  constexpr size_t kMost = size_t{16} << 20;
  const std::string text = "\n" + read_small_file(host.proc + "/stat", kMost).value_or("");
  const std::string key = "\nbtime ";
  const size_t at = text.find(key);
  if (at == text.npos) return 0;
  const size_t begin = at + key.size();
  const auto seconds = whole_number(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
  return seconds && *seconds < INT64_MAX / kSecond ? *seconds * kSecond : 0;
}

}  // namespace spotter::sink
