// Source: the uncompressed bytes of a file or of standard input, in order. The format (plain, gzip of any
// number of members, zstd of any number of frames) is told by the first bytes, never by the name.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/notes.h"
#include "base/result.h"

namespace spotter::read {

class Source {
 public:
  virtual ~Source() = default;
  // Fills as much of `out` as it can; less than all of it only at the end. Damage ends the text early, with a
  // note; an error is a failure to read at all.
  virtual Result<size_t> read(std::span<char> out, Notes& notes) = 0;
};

// The stored bytes, as the decoders see them.
class RawInput {
 public:
  // While it waits for a pipe or a terminal it ends with Code::cancelled once `cancelled` is set.
  static Result<std::unique_ptr<RawInput>> open(const std::string& path,
                                                const std::atomic<bool>* cancelled = nullptr);
  // What is open already, from its beginning; it stays open. The path is but what it is called.
  static Result<std::unique_ptr<RawInput>> of(int descriptor, const std::string& path);
  ~RawInput();
  RawInput(const RawInput&) = delete;
  RawInput& operator=(const RawInput&) = delete;

  // What is buffered and not yet used; reads on while it is less than `least` bytes. Less, or empty, only at
  // the end of the file.
  Result<std::span<const u8>> peek(size_t least = 1);
  void use(size_t bytes) { begin_ += bytes; }
  // The next bytes, at least one, straight into `out`, which is not empty; none only at the end.
  Result<size_t> read(std::span<char> out);
  const std::string& path() const { return path_; }
  i64 bytes_read() const { return bytes_read_; }
  bool is_file() const { return is_file_; }  // a plain one

 private:
  RawInput(std::string path, int fd, const std::atomic<bool>* cancelled);
  Result<void> wait() const;
  Result<size_t> read_on(void* to, size_t most);

  std::string path_;
  int fd_;
  const std::atomic<bool>* cancelled_;
  bool is_file_ = false;  // which never waits
  bool at_end_ = false;
  i64 bytes_read_ = 0;
  std::unique_ptr<u8[]> buffer_;
  size_t begin_ = 0, end_ = 0;
};

// Whether a file that begins so may be JSON. Errors, which say what it is instead and what to do about it:
// invalid where a trace may be inside, unsupported where it is none.
Result<void> check_format(std::string_view begin, const std::string& path);

size_t leading_zeros(std::span<const u8> bytes);

// Chooses the decoder. The input must outlive the source. An error says what the file is instead, if it is
// known.
Result<std::unique_ptr<Source>> open_source(RawInput& input);

// The beginning of a plain file's text, uncompressed: `most` bytes, or all if there are less. What is no
// plain file, and might keep its reader waiting, is invalid.
Result<std::string> read_text(const std::string& path, size_t most, Notes& notes);
// The same of a file that may hold anything.
Result<std::string> read_bytes(const std::string& path, size_t most, Notes& notes);

// The decoders, one file each.
std::unique_ptr<Source> plain_source(RawInput& input);
std::unique_ptr<Source> gzip_source(RawInput& input);
std::unique_ptr<Source> zstd_source(RawInput& input);

}  // namespace spotter::read
