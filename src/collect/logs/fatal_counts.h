// FatalCounts: the fatal lines of one job (respond/logs/fatal_lines.h) as events: the first one of a kind at
// once, those that follow once a minute, with their number and the first of them. One thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "respond/logs/fatal_lines.h"

namespace spotter::collect {

struct FatalEvent {
  std::string_view kind;    // of respond::fatal_kinds(); new_line, more_often
  i64 lines = 0;            // since the event before of the kind
  std::optional<i64> rank;  // of the first of them
  std::string text;         // the first of them, cut; empty: only its job's user may see it
  std::string file;
  i64 offset = 0;  // bytes
};

class FatalCounts {
 public:
  static constexpr size_t kMostText = 200;  // characters
  static std::string shown(std::string_view text);

  void add(const respond::FatalLine& line, std::string_view text, bool is_private, const std::string& file,
           i64 offset);
  // A line that says more of the last one of a kind: its text, where that is the first and has not been told.
  void explain(std::string_view kind, std::string_view text);
  // Those that are due; at the end of the job all.
  std::vector<FatalEvent> take(Ns steady_now, bool is_end);
  // How many lines of each kind there were.
  std::map<std::string_view, i64> totals() const;

 private:
  struct Kind {
    FatalEvent event;
    std::optional<Ns> told;
    i64 lines = 0;
  };
  std::map<std::string_view, Kind> kinds_;
};

}  // namespace spotter::collect
