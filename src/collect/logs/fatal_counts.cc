#include "collect/logs/fatal_counts.h"

#include <utility>

#include "base/text/utf8.h"

namespace spotter::collect {

std::string FatalCounts::shown(std::string_view text) {
  size_t bytes = 0;
  for (size_t i = 0; i < kMostText && bytes < text.size(); ++i)
    bytes += first_code_point(text.substr(bytes)).bytes;
  return to_printable(text.substr(0, bytes));
}

void FatalCounts::add(const respond::FatalLine& line, std::string_view text, bool is_private,
                      const std::string& file, i64 offset) {
  Kind& kind = kinds_[line.kind->name];
  ++kind.lines;
  FatalEvent& event = kind.event;
  if (event.lines++ > 0) return;
  event.kind = line.kind->name;
  event.rank = line.rank;
  event.text = is_private ? std::string() : shown(text);
  event.file = file;
  event.offset = offset;
}

void FatalCounts::explain(std::string_view kind, std::string_view text) {
  const auto it = kinds_.find(kind);
  if (it == kinds_.end() || it->second.event.lines != 1 || it->second.event.text.empty()) return;
  it->second.event.text = shown(text);
}

std::vector<FatalEvent> FatalCounts::take(Ns steady_now, bool is_end) {
  std::vector<FatalEvent> due;
  for (auto& [name, kind] : kinds_) {
    if (kind.event.lines == 0 || (!is_end && kind.told && steady_now - *kind.told < kMinute)) continue;
    due.push_back(std::exchange(kind.event, {}));
    kind.told = steady_now;
  }
  return due;
}

std::map<std::string_view, i64> FatalCounts::totals() const {
  std::map<std::string_view, i64> all;
  for (const auto& [name, kind] : kinds_) all[name] = kind.lines;
  return all;
}

}  // namespace spotter::collect
