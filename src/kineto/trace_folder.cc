#include "kineto/trace_folder.h"

#include <charconv>
#include <utility>

#include "base/text/utf8.h"
#include "kineto/config.h"

namespace spotter::kineto {
namespace {

constexpr i32 kCounters = 1;  // a bit of a poll that has gone from the client a month after

bool is_newer_than_2_13(const std::string& version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, failed] = std::from_chars(version.data(), end, major);
  if (failed != std::errc() || dot == end || *dot != '.') return false;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return false;
  return std::pair(major, minor) > std::pair(2, 13);
}

}  // namespace

std::string why_written_elsewhere(const Process& process, const std::string& path) {
  const bool is_old =
      (process.poll.type & kCounters) != 0 && !is_newer_than_2_13(process.facts.torch_version);
  const std::string usual = output_path("", process.facts.inner_pid);
  if (is_old || path == usual) return {};
  const auto said = process.facts.environment.find("KINETO_ONDEMAND_TRACE_DIR");
  const bool has_said = said != process.facts.environment.end() && !said->second.empty();
  std::string folder = has_said ? said->second : "/tmp/";
  if (!folder.ends_with('/')) folder += '/';
  if (path.starts_with(folder)) return {};
  return fmt::format(
      "PyTorch after 2.13 lets traces be written below {} only ({}), and writes to {} instead: name a directory there, "
      "or set KINETO_ONDEMAND_TRACE_DIR where the job starts",
      to_printable(folder),
      has_said ? "KINETO_ONDEMAND_TRACE_DIR of the process"
               : "its environment has no KINETO_ONDEMAND_TRACE_DIR",
      usual);
}

}  // namespace spotter::kineto
