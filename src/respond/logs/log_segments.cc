#include "respond/logs/log_segments.h"

#include <algorithm>

namespace spotter::respond {

std::string without_colours(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("\x1b[")) {
      const size_t end = text.find_first_not_of("0123456789;", i + 2);
      if (end != text.npos && text[end] == 'm') {
        i = end + 1;
        continue;
      }
    }
    plain += text[i++];
  }
  return plain;
}

void LogSegments::keep(std::string_view bytes) {
  const size_t room = longest_ - open_.size();
  if (bytes.size() > room && !is_cut_) {
    is_cut_ = true;
    ++cut_;
  }
  open_ += bytes.substr(0, room);
  end_ += std::ssize(bytes);
}

void LogSegments::add(std::string_view bytes, const Visit& visit) {
  for (;;) {
    const size_t end = bytes.find_first_of(ends_);
    keep(bytes.substr(0, end));
    if (end == bytes.npos) return;
    ++end_;
    finish(visit);
    bytes.remove_prefix(end + 1);
  }
}

void LogSegments::finish(const Visit& visit) {
  if (!open_.empty()) visit(without_colours(open_));
  open_.clear();
  begin_ = end_;
  is_cut_ = false;
}

}  // namespace spotter::respond
