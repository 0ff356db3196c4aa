#include "export/names.h"

#include <algorithm>
#include <tuple>

#include "export/times.h"
#include "read/strict_json.h"

namespace spotter::export_ {
namespace {

std::string metadata(const char* what, std::string_view pid, std::string_view tid, Ns ts,
                     const std::string& args) {
  return fmt::format(R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "args": {{{}}}}})", what,
                     pid, tid, microseconds(ts), args);
}

std::string name_arg(std::string_view name) { return fmt::format(R"("name": {})", read::json::quoted(name)); }
std::string sort_arg(i64 index) { return fmt::format(R"("sort_index": {})", index); }

}  // namespace

std::string thread_name_event(std::string_view pid, std::string_view tid, Ns ts, std::string_view name) {
  return metadata("thread_name", pid, tid, ts, name_arg(name));
}

std::string thread_sort_event(std::string_view pid, std::string_view tid, Ns ts, i64 index) {
  return metadata("thread_sort_index", pid, tid, ts, sort_arg(index));
}

std::vector<std::string> process_events(const Part& part, const ProcessIds& processes, const std::string& who,
                                        i64 order) {
  constexpr i64 kMostProcesses = 10'000;  // of a rank, for the order
  struct Row {
    i64 sort_index, id;
    std::string name;
  };
  std::vector<Row> rows;
  for (const ProcessIds::Process& process : processes.all()) {
    const auto known = part.processes.find(process.was);
    if (known == part.processes.end())
      rows.push_back({INT64_MAX, process.id, fmt::format("process {}", process.was)});
    else
      rows.push_back({known->second.sort_index, process.id, known->second.name});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.sort_index, a.id) < std::tuple(b.sort_index, b.id);
  });
  std::vector<std::string> events;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string pid = fmt::format("{}", rows[i].id);
    events.push_back(
        metadata("process_name", pid, "0", part.start, name_arg(fmt::format("{}: {}", who, rows[i].name))));
    events.push_back(metadata("process_sort_index", pid, "0", part.start,
                              sort_arg(order * kMostProcesses + static_cast<i64>(i))));
  }
  return events;
}

}  // namespace spotter::export_
