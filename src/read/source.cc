#include "read/source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace spotter::read {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr size_t kSniffBytes = 16;  // what the longest of the magics below needs

// Files that are no JSON at all, by their first bytes.
struct Magic {
  std::string_view bytes;
  const char* what;
  Code code = Code::invalid;  // a trace may be inside; unsupported: it is none
};
constexpr const char* kPickle = "a Python pickle (a memory snapshot looks so), not a Kineto JSON trace";
constexpr Magic kOthers[] = {
    {"PK\x03\x04", "a zip archive: unpack it and give the trace files inside"},
    {"\xFD"
     "7zXZ",
     "an xz file: unpack it first (xz -d)"},
    {"BZh", "a bzip2 file: unpack it first (bunzip2)"},
    {"SQLite format 3",
     "an SQLite database (exports of Nsight Systems and ROCm's rocprofv3 look so), not a Kineto JSON trace",
     Code::unsupported},
    {"\x7F"
     "ELF",
     "a program, not a trace", Code::unsupported},
    {"%PDF", "a PDF document, not a trace", Code::unsupported},
    {"\x80\x02", kPickle, Code::unsupported},
    {"\x80\x03", kPickle, Code::unsupported},
    {"\x80\x04", kPickle, Code::unsupported},
    {"\x80\x05", kPickle, Code::unsupported},
    {{"\xFF\xFE\0\0", 4}, "UTF-32 text: convert it first (iconv -t UTF-8)"},
    {{"\0\0\xFE\xFF", 4}, "UTF-32 text: convert it first (iconv -t UTF-8)"},
    {"\xFF\xFE", "UTF-16 text: convert it first (iconv -t UTF-8)"},
    {"\xFE\xFF", "UTF-16 text: convert it first (iconv -t UTF-8)"},
};

constexpr std::string_view kTar = "ustar";
constexpr size_t kTarAt = 257;  // behind the name, mode, owner, size and time of its first file

// A zstd file may begin with frames that hold no data: 0x184D2A50 to 0x184D2A5F (RFC 8878, 3.1.2).
bool is_skippable_frame(std::string_view text) {
  return text.size() >= 4 && (text[0] & 0xF0) == 0x50 && text.substr(1, 3) == "\x2A\x4D\x18";
}

class PlainSource final : public Source {
 public:
  explicit PlainSource(RawInput& input) : input_(input) {}
  Result<size_t> read(std::span<char> out, Notes&) override {
    size_t done = 0;
    while (done < out.size()) {
      TRY_ASSIGN(const size_t n, input_.read(out.subspan(done)));
      if (n == 0) break;
      done += n;
    }
    return done;
  }

 private:
  RawInput& input_;
};

Result<std::string_view> head_of(RawInput& input) {
  TRY_ASSIGN(const std::span<const u8> head, input.peek(kSniffBytes));
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size());
}

std::unique_ptr<Source> decoder_of(RawInput& input, std::string_view head) {
  if (head.starts_with("\x1F\x8B")) return gzip_source(input);
  if (head.starts_with("\x28\xB5\x2F\xFD") || is_skippable_frame(head)) return zstd_source(input);
  return plain_source(input);
}

Result<std::unique_ptr<RawInput>> open_plain_file(const std::string& path) {
  TRY_ASSIGN(std::unique_ptr<RawInput> input, RawInput::open(path));
  if (!input->is_file()) return fail(Code::invalid, "{}: is no plain file", path);
  return input;
}

Result<std::string> beginning_of(Source& source, size_t most, Notes& notes) {
  constexpr size_t kFirst = size_t{64} << 10;
  std::string text;
  while (text.size() < most) {
    const size_t used = text.size();
    text.resize(std::min(most, std::max(kFirst, used * 2)));
    TRY_ASSIGN(const size_t got, source.read(std::span(text).subspan(used), notes));
    const bool at_end = got < text.size() - used;
    text.resize(used + got);
    if (at_end) break;
  }
  return text;
}

}  // namespace

RawInput::RawInput(std::string path, int fd, const std::atomic<bool>* cancelled)
    : path_(std::move(path)), fd_(fd), cancelled_(cancelled) {
  struct stat info;
  is_file_ = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
}

// A pipe is opened without waiting for its writer; wait() does that, as it can be cancelled.
Result<std::unique_ptr<RawInput>> RawInput::open(const std::string& path,
                                                 const std::atomic<bool>* cancelled) {
  if (path == "-") return std::unique_ptr<RawInput>(new RawInput("standard input", STDIN_FILENO, cancelled));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    const Code code = errno == ENOENT ? Code::not_found : errno == EACCES ? Code::denied : Code::io;
    return fail(code, "{}: {}", path, errno_text(errno));
  }
  std::unique_ptr<RawInput> input(new RawInput(path, fd, cancelled));
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
    return fail(Code::invalid, "{}: is a directory", path);
  return input;
}

Result<std::unique_ptr<RawInput>> RawInput::of(int descriptor, const std::string& path) {
  const int fd = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd < 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
  std::unique_ptr<RawInput> input(new RawInput(path, fd, nullptr));
  if (::lseek(fd, 0, SEEK_SET) != 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
  return input;
}

// Until there is something to read, or the end.
Result<void> RawInput::wait() const {
  constexpr int kLookMs = 100;  // for `cancelled_`
  while (!is_file_) {
    if (cancelled_ && cancelled_->load(std::memory_order_relaxed))
      return fail(Code::cancelled, "{}: cancelled while waiting for input", path_);
    pollfd ready = {fd_, POLLIN, 0};
    if (::poll(&ready, 1, kLookMs) > 0) break;
  }
  return {};
}

RawInput::~RawInput() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

Result<std::span<const u8>> RawInput::peek(size_t least) {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<u8[]>(kBufferBytes);
  while (end_ - begin_ < least && !at_end_) {
    if (begin_ > 0) {
      std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    TRY_ASSIGN(const size_t n, read_on(buffer_.get() + end_, kBufferBytes - end_));
    end_ += n;
  }
  return std::span<const u8>(buffer_.get() + begin_, end_ - begin_);
}

Result<size_t> RawInput::read(std::span<char> out) {
  if (begin_ == end_) return at_end_ ? 0 : read_on(out.data(), out.size());
  const size_t n = std::min(end_ - begin_, out.size());
  std::memcpy(out.data(), buffer_.get() + begin_, n);
  use(n);
  return n;
}

Result<size_t> RawInput::read_on(void* to, size_t most) {
  while (true) {
    TRY(wait());
    const ssize_t n = ::read(fd_, to, most);
    // Some of the kernel's own files say that they are plain, and have nothing to read yet.
    if (n < 0 && (errno == EINTR || (errno == EAGAIN && !is_file_))) continue;
    if (n < 0) return fail(Code::io, "{}: cannot be read: {}", path_, errno_text(errno));
    at_end_ = n == 0;
    bytes_read_ += n;
    return static_cast<size_t>(n);
  }
}

Result<void> check_format(std::string_view begin, const std::string& path) {
  for (const Magic& m : kOthers)
    if (begin.starts_with(m.bytes)) return fail(m.code, "{}: this is {}", path, m.what);
  if (begin.size() > kTarAt && begin.substr(kTarAt).starts_with(kTar))
    return fail(Code::invalid,
                "{}: this is a tar archive: unpack it (tar -xf) and give the trace files inside", path);
  return {};
}

size_t leading_zeros(std::span<const u8> bytes) {
  return static_cast<size_t>(std::ranges::find_if(bytes, [](u8 byte) { return byte != 0; }) - bytes.begin());
}

std::unique_ptr<Source> plain_source(RawInput& input) { return std::make_unique<PlainSource>(input); }

Result<std::unique_ptr<Source>> open_source(RawInput& input) {
  TRY_ASSIGN(const std::string_view head, head_of(input));
  if (head.empty()) {
    return fail(Code::corrupt,
                "{}: the file is empty; the process that wrote it may have ended before its trace did",
                input.path());
  }
  TRY(check_format(head, input.path()));
  return decoder_of(input, head);
}

Result<std::string> read_text(const std::string& path, size_t most, Notes& notes) {
  TRY_ASSIGN(const std::unique_ptr<RawInput> input, open_plain_file(path));
  TRY_ASSIGN(const std::unique_ptr<Source> source, open_source(*input));
  return beginning_of(*source, most, notes);
}

Result<std::string> read_bytes(const std::string& path, size_t most, Notes& notes) {
  TRY_ASSIGN(const std::unique_ptr<RawInput> input, open_plain_file(path));
  TRY_ASSIGN(const std::string_view head, head_of(*input));
  return beginning_of(*decoder_of(*input, head), most, notes);
}

}  // namespace spotter::read
