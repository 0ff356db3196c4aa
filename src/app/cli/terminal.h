// The terminal, if there is one: its width and colour, and a progress bar.
#pragma once
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "base/types.h"
#include "render/render.h"

namespace spotter::app {

// How to write text to this file descriptor: the width and colours of a terminal (NO_COLOR and TERM=dumb are
// honoured, COLUMNS overrides the width), none for a pipe or a file. Lines of source code are links there if
// `source_url` or SPOTTER_SOURCE_URL says where the sources are.
render::TextStyle style_of(int fd, std::string_view source_url = {});

// The same for prose, which has a width everywhere: 100 columns where there is no terminal.
render::TextStyle page_style_of(int fd, std::string_view source_url = {});

// Whether it is a terminal that knows how its cursor is moved. Nothing else gets escapes, whatever COLUMNS
// says.
bool is_terminal(int fd);

// Columns and lines of the terminal itself, whatever COLUMNS says: what is drawn over again has to fit. 80
// and 24 where there is none.
int terminal_width(int fd);
size_t terminal_height(int fd);

// Each line cut at so many columns; escapes (of colours and links) take none, and stay.
std::string cut_lines(std::string_view text, int width);

// A bar on standard error, for work of more than a second on a terminal; elsewhere nothing. Any thread.
class Progress {
 public:
  Progress();
  ~Progress();  // takes the bar away
  void update(i64 done, i64 total);

 private:
  std::mutex mutex_;
  const bool visible_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace spotter::app
