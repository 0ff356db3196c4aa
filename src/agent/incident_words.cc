#include "agent/incident_words.h"

#include <fmt/format.h>

#include "capture/capture.h"

namespace spotter::agent {

std::string ranks_text(const std::vector<i64>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

std::optional<notify::Occasion> occasion_of(respond::Word word) {
  switch (word) {
    case respond::Word::none:
      return {};
    case respond::Word::opened:
      return notify::Occasion::opened;
    case respond::Word::verdict:
      return notify::Occasion::verdict;
    case respond::Word::changed:
      return notify::Occasion::changed;
    case respond::Word::resolved:
      return notify::Occasion::resolved;
  }
  return {};
}

std::string folder_of(const Table& receipts) {
  for (const Field& field : receipts.schema()) {
    if (std::string_view(field.name) != "file") continue;
    for (size_t row = 0; row < receipts.rows(); ++row) {
      const Value file = receipts.at(row, receipts.column("file"));
      if (!is_null(file)) return capture::directory_of(std::string(std::get<std::string_view>(file)));
    }
  }
  return {};
}

respond::Silence silence_of(const store::Silence& kept) {
  return {.rule = kept.rule,
          .job = kept.job,
          .host = kept.host,
          .user = kept.user,
          .until = kept.until,
          .reason = kept.reason,
          .by = kept.by};
}

store::Silence kept_of(const respond::Silence& silence, Ns made) {
  store::Silence kept;
  kept.rule = silence.rule;
  kept.job = silence.job;
  kept.host = silence.host;
  kept.user = silence.user;
  kept.made = made;
  kept.until = silence.until;
  kept.reason = silence.reason;
  kept.by = silence.by;
  return kept;
}

}  // namespace spotter::agent
