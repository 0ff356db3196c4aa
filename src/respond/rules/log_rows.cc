#include "respond/rules/log_rows.h"

#include "base/text/utf8.h"

namespace spotter::respond {
namespace {

constexpr const char* kNames[] = {"job", "user", "kind", "rank", "text", "file", "offset"};
enum : size_t { kJob, kUser, kKind, kRank, kText, kFile, kOffset };

constexpr size_t kMostText = 200;

// Printable, and no longer than that; no character is cut in two.
std::string short_text(std::string_view text) {
  std::string all = to_printable(text);
  if (all.size() <= kMostText) return all;
  size_t end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(all[end]) & 0xC0) == 0x80) --end;
  all.resize(end);
  return all;
}

}  // namespace

LogRows::LogRows() : columns_(kNames) {}

LogRow LogRows::at(size_t row) const {
  return {.job = std::string(columns_.text(row, kJob)),
          .user = std::string(columns_.text(row, kUser)),
          .kind = std::string(columns_.text(row, kKind)),
          .rank = columns_.integer(row, kRank),
          .text = short_text(columns_.text(row, kText)),
          .file = to_printable(columns_.text(row, kFile)),
          .offset = columns_.integer(row, kOffset).value_or(0)};
}

Condition condition_of(const LogRow& row) {
  Condition condition;
  condition.job = row.job;
  condition.user = row.user;
  condition.rank = row.rank;
  condition.source = "log:fatal";
  condition.text = row.text;
  return condition;
}

}  // namespace spotter::respond
