#include "app/cli/standard_input.h"

#include <unistd.h>

#include <algorithm>

namespace spotter::app {

Result<std::string> standard_input() {
  constexpr size_t kMost = size_t{1} << 20;
  std::string text(kMost + 1, '\0');
  size_t done = 0;
  for (ssize_t n = 1; n > 0 && done < text.size(); done += static_cast<size_t>(std::max<ssize_t>(n, 0)))
    n = ::read(STDIN_FILENO, text.data() + done, text.size() - done);
  if (done > kMost) return fail(Code::invalid, "the request is longer than {} bytes", kMost);
  text.resize(done);
  return text;
}

}  // namespace spotter::app
