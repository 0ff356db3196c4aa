#include "collect/logs/pod_line.h"

#include <string>

#include "base/moment.h"

namespace spotter::collect {

std::optional<PodLine> parse_pod_line(std::string_view line) {
  const auto word = [&line] {
    const size_t end = line.find(' ');
    const std::string_view first = line.substr(0, end);
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
    return first;
  };
  const std::string stamp(word());
  const std::string_view stream = word();
  if (stream != "stdout" && stream != "stderr") return {};
  const std::string_view tag = word();  // further ones come behind a colon
  if (!tag.starts_with('F') && !tag.starts_with('P')) return {};
  const auto moment = parse_moment(stamp);
  return PodLine{moment ? std::optional(*moment) : std::nullopt, tag[0] == 'P', stream == "stderr", line};
}

}  // namespace spotter::collect
