// LineFile: whole lines, appended to a file that is rotated, or to standard output, a pipe or a device. One
// thread.
//
// A regular file never has a half line of ours: what a full disk cuts off is taken back. One that was moved
// away (logrotate) or removed is made anew. Full, it becomes NAME.1, NAME.1 becomes NAME.2 and so on. What is
// no regular file gets the rest of a line first when it takes something again; lines of a write() that failed
// may be there twice then.
#pragma once
#include <atomic>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::sink {

struct LineFileOptions {
  std::string path;  // "-": standard output
  i64 most_bytes = i64{100} << 20;
  i64 old_files = 5;            // that are kept beside the one that is written
  Ns patience = 5'000'000'000;  // for who reads a pipe
  u32 mode = 0644;              // of a file that it makes
};

class LineFile {
 public:
  explicit LineFile(LineFileOptions options) : options_(std::move(options)) {}

  // `lines` end with a line end. Errors: io.
  Result<void> write(std::string_view lines);
  void interrupt() { is_interrupted_ = true; }  // any thread: a write() under way ends soon

 private:
  Result<void> open();
  bool is_moved() const;
  Result<void> rotate();
  Result<void> append(std::string_view lines);  // to a regular file
  Result<void> stream(std::string_view lines);
  Result<void> push(std::string_view& text);  // takes off what is written
  tl::unexpected<Error> error(const char* what) const;
  std::string shown() const { return options_.path == "-" ? "standard output" : options_.path; }

  LineFileOptions options_;
  Descriptor file_;
  bool is_regular_ = false;
  bool is_half_ = false;  // a regular file does not end with a line end
  std::string rest_;      // of a line that is partly written, of what is no regular file
  std::atomic<bool> is_interrupted_ = false;
};

}  // namespace spotter::sink
