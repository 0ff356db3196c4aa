#include "app/capture/capture_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "app/cli/terminal.h"
#include "base/text/utf8.h"
#include "table/ops.h"

namespace spotter::app {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr int kLines = 12;

std::string name_of(const Table& receipts, size_t row) {
  const Value rank = receipts.at(row, receipts.column("rank")),
              pid = receipts.at(row, receipts.column("pid"));
  const std::string host = to_printable(table::text_or_empty(receipts, row, "host"));
  if (!is_null(rank)) return fmt::format("{} rank {}", host, std::get<i64>(rank));
  return is_null(pid) ? host : fmt::format("{} process {}", host, std::get<i64>(pid));
}

}  // namespace

std::string progress_text(const Table& receipts, int lines, int width) {
  const size_t took = receipts.column("took_ns");
  std::map<std::string, int> counts;
  std::vector<std::string> open;
  for (size_t row = 0; row < receipts.rows(); ++row) {
    const std::string word = to_printable(table::text_or_empty(receipts, row, "state"));
    ++counts[word];
    const bool is_final = !is_null(receipts.at(row, took)) || word == "failed";
    if (!is_final) open.push_back(fmt::format("  {:<10} {}", word, name_of(receipts, row)));
  }
  std::string text = fmt::format("{} processes:", receipts.rows());
  for (const char* word : {"accepted", "delivered", "capturing", "written", "empty", "failed", "expired"}) {
    if (const auto it = counts.find(word); it != counts.end())
      text += fmt::format(" {} {}", it->second, word);
  }
  std::vector<std::string> all = {text};
  const size_t room = static_cast<size_t>(std::max(lines, 2)) - 1;
  const size_t shown = open.size() > room ? room - 1 : open.size();
  all.insert(all.end(), open.begin(), open.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < open.size()) all.push_back(fmt::format("  and {} more", open.size() - shown));
  std::string out;
  for (const std::string& line : all) out += fmt::format("{:.{}}\n", line, std::max(width, 1));
  return out;
}

CaptureProgress::CaptureProgress() : visible_(is_terminal(STDERR_FILENO)) {}

CaptureProgress::~CaptureProgress() {
  if (lines_ > 0) std::fprintf(stderr, "\033[%dA\r\033[J", lines_);
}

bool CaptureProgress::is_due() const { return visible_ && std::chrono::steady_clock::now() >= next_; }

void CaptureProgress::show(const Table& receipts) {
  if (!is_due() || receipts.rows() == 0) return;
  next_ = std::chrono::steady_clock::now() + kBetween;
  const int lines = std::min(kLines, static_cast<int>(terminal_height(STDERR_FILENO)) - 1);
  const std::string text = progress_text(receipts, lines, terminal_width(STDERR_FILENO) - 1);
  if (lines_ > 0) std::fprintf(stderr, "\033[%dA\r\033[J", lines_);
  lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace spotter::app
