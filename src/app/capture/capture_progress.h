// How a capture goes, on a terminal: how many processes are in which state, and those that are not through
// yet, a line each. Elsewhere nothing.
#pragma once
#include <chrono>
#include <string>

#include "table/table.h"

namespace spotter::app {

class CaptureProgress {
 public:
  CaptureProgress();
  ~CaptureProgress();   // takes it away
  bool is_due() const;  // there is a terminal, and it has not been shown just now
  void show(const Table& receipts);

 private:
  const bool visible_;
  int lines_ = 0;  // that are on the screen
  std::chrono::steady_clock::time_point next_;
};

// What it shows, at most `lines` lines of at most `width` columns.
std::string progress_text(const Table& receipts, int lines, int width);

}  // namespace spotter::app
