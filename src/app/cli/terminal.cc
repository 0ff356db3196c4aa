#include "app/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/utf8.h"

namespace spotter::app {
namespace {

constexpr std::chrono::milliseconds kFirst{1000}, kBetween{100};
constexpr i64 kBarCells = 30;
constexpr int kPageWidth = 100;

constexpr int kUsualWidth = 80;

// What an option says was looked at when it was read; what the environment says is for every command, and no
// reason for one to fail.
render::SourceLinks source_links(std::string_view source_url) {
  // The console of Linux shows what it does not know.
  if (std::string_view(std::getenv("TERM")) == "linux") return {};
  const char* usual = std::getenv("SPOTTER_SOURCE_URL");
  const bool is_usual = source_url.empty();
  Result<render::SourceLinks> links = render::SourceLinks::parse(is_usual && usual ? usual : source_url);
  if (links) return *std::move(links);
  static bool is_told = false;
  if (!std::exchange(is_told, true))
    std::fprintf(stderr, "spotter: %s: %s\n", is_usual ? "SPOTTER_SOURCE_URL" : "--source-url",
                 links.error().message.c_str());
  return {};
}

}  // namespace

bool is_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term && std::string_view(term) != "dumb";
}

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

render::TextStyle style_of(int fd, std::string_view source_url) {
  render::TextStyle style;
  if (const char* columns = std::getenv("COLUMNS")) style.width = std::max(0, std::atoi(columns));
  if (!is_terminal(fd)) return style;
  if (style.width == 0) style.width = terminal_width(fd);
  const char* no_color = std::getenv("NO_COLOR");
  style.color = !no_color || *no_color == 0;
  style.source_links = source_links(source_url);
  return style;
}

render::TextStyle page_style_of(int fd, std::string_view source_url) {
  render::TextStyle style = style_of(fd, source_url);
  if (style.width == 0) style.width = kPageWidth;
  return style;
}

size_t terminal_height(int fd) {
  constexpr size_t kUsual = 24;
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsual;
}

std::string cut_lines(std::string_view text, int width) {
  std::string out;
  for (int column = 0; !text.empty();) {
    size_t bytes = 1;
    bool is_kept = true;
    if (text.front() == '\n') {
      column = 0;
    } else if (text.starts_with("\033[")) {
      bytes = std::min(text.find('m'), text.size() - 1) + 1;
    } else if (text.starts_with("\033]")) {
      bytes = std::min(text.find("\033\\", 2), text.size() - 2) + 2;
    } else {
      const CodePoint point = first_code_point(text);
      bytes = point.bytes;
      column += display_width(point.value);
      is_kept = column <= width;
    }
    if (is_kept) out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

Progress::Progress()
    : visible_(is_terminal(STDERR_FILENO)), next_(std::chrono::steady_clock::now() + kFirst) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(i64 done, i64 total) {
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  drawn_ = true;
  const i64 cells = total > 0 ? std::clamp<i64>(done * kBarCells / total, 0, kBarCells) : 0;
  const std::string bar(static_cast<size_t>(cells), '#');
  const std::string rest(static_cast<size_t>(kBarCells - cells), '.');
  const std::string amount = render::human(Value(done), Unit::bytes, Role::value);
  if (total > 0) {
    std::fprintf(stderr, "\rreading [%s%s] %s of %s\033[K", bar.c_str(), rest.c_str(), amount.c_str(),
                 render::human(Value(total), Unit::bytes, Role::value).c_str());
  } else {
    std::fprintf(stderr, "\rreading %s\033[K", amount.c_str());
  }
  std::fflush(stderr);
}

}  // namespace spotter::app
