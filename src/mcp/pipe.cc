#include "mcp/pipe.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/system/host.h"
#include "mcp/protocol.h"

namespace spotter::mcp {
namespace {

constexpr int kLookMs = 50;
constexpr short kClosed = POLLERR | POLLHUP | POLLNVAL;

}  // namespace

std::optional<Pipe::Line> Pipe::next() {
  Line line;
  while (true) {
    const size_t end = buffer_.find('\n');
    const size_t size = std::min(end, buffer_.size());
    if (line.text.size() + size > kMostMessage) line.is_too_long = true;
    if (line.is_too_long)
      line.text.clear();
    else
      line.text.append(buffer_, 0, size);
    buffer_.erase(0, end == buffer_.npos ? end : end + 1);
    if (end != buffer_.npos) return line;
    if (fill()) continue;
    if (is_gone_ || (line.text.empty() && !line.is_too_long)) return std::nullopt;
    return line;
  }
}

// False: it is over.
bool Pipe::fill() {
  char bytes[1 << 16];
  while (!is_over_) {
    // Of the output nothing is asked: that it is closed is told all the same.
    pollfd ends[] = {{.fd = input_, .events = POLLIN, .revents = 0},
                     {.fd = output_, .events = 0, .revents = 0}};
    if (poll(ends, std::size(ends), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (ends[1].revents & kClosed) {
      is_gone_ = true;
      break;
    }
    if (ends[0].revents == 0) continue;
    const ssize_t count = ::read(input_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    buffer_.append(bytes, static_cast<size_t>(count));
    return true;
  }
  is_over_ = true;
  return false;
}

// A pipe that has any room has it for PIPE_BUF bytes. False: nobody reads any more, or has for kLast where
// the input is over; that is looked at here, since its reader may be the one who waits.
bool Pipe::wait_for_room() const {
  const Ns since = steady_clock_now();
  while (true) {
    pollfd ends[] = {{.fd = output_, .events = POLLOUT, .revents = 0},
                     {.fd = input_, .events = 0, .revents = 0}};
    if (poll(ends, std::size(ends), kLookMs) < 0 && errno != EINTR) return false;
    if (ends[0].revents & kClosed) return false;
    if (ends[0].revents & POLLOUT) return true;
    const bool is_over = is_over_ || (ends[1].revents & POLLHUP);
    if (is_over && steady_clock_now() - since > kLast) return false;
  }
}

void Pipe::write(const std::string& text) {
  const std::lock_guard lock(writing_);
  const std::string line = text + "\n";
  for (size_t written = 0; written < line.size() && !is_gone_;) {
    if (!wait_for_room()) {
      is_gone_ = true;
      return;
    }
    const ssize_t count =
        ::write(output_, line.data() + written, std::min<size_t>(line.size() - written, PIPE_BUF));
    if (count >= 0)
      written += static_cast<size_t>(count);
    else if (errno != EINTR && errno != EAGAIN)
      is_gone_ = true;
  }
}

}  // namespace spotter::mcp
