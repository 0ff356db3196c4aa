// gzip through ISA-L's deflate, which keeps up with the simulation; level 1 is its best ratio for the time.
#include "simulate/trace_file.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/types.h"

namespace spotter::sim {

TraceFile::TraceFile(std::string path, bool gzip) : path_(std::move(path)), temporary_(path_ + ".tmp") {
  if (!gzip) return;
  stream_ = std::make_unique<isal_zstream>();
  level_.resize(ISAL_DEF_LVL1_DEFAULT);
  out_.resize(size_t{1} << 18);
  isal_deflate_init(stream_.get());
  stream_->gzip_flag = IGZIP_GZIP;
  stream_->level = 1;
  stream_->level_buf = level_.data();
  stream_->level_buf_size = static_cast<u32>(level_.size());
}

TraceFile::~TraceFile() {
  if (descriptor_.fd >= 0 && !is_finished_) unlink(temporary_.c_str());
}

Result<std::unique_ptr<TraceFile>> TraceFile::create(const std::string& path, bool gzip) {
  std::unique_ptr<TraceFile> file(new TraceFile(path, gzip));
  file->descriptor_ =
      Descriptor(open(file->temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file->descriptor_.fd < 0) return fail(Code::io, "{}: cannot create: {}", path, errno_text(errno));
  return file;
}

void TraceFile::put(const char* bytes, size_t size) {
  while (size > 0 && error_ == 0) {
    const ssize_t n = ::write(descriptor_.fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error_ = errno;
      return;
    }
    bytes += n;
    size -= static_cast<size_t>(n);
  }
}

void TraceFile::compress(std::string_view text, bool is_last) {
  stream_->next_in = reinterpret_cast<u8*>(const_cast<char*>(text.data()));  // ISA-L does not write there
  stream_->avail_in = static_cast<u32>(text.size());
  stream_->end_of_stream = is_last ? 1 : 0;
  do {
    stream_->next_out = out_.data();
    stream_->avail_out = static_cast<u32>(out_.size());
    isal_deflate(stream_.get());
    put(reinterpret_cast<const char*>(out_.data()), out_.size() - stream_->avail_out);
  } while (error_ == 0 && (stream_->avail_in > 0 || stream_->avail_out == 0));
}

void TraceFile::write(std::string_view text) {
  if (stream_)
    compress(text, false);
  else
    put(text.data(), text.size());
}

Result<void> TraceFile::finish() {
  if (stream_) compress({}, true);
  const int fd = std::exchange(descriptor_.fd, -1);
  if (close(fd) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ == 0) {
    is_finished_ = true;
    return {};
  }
  unlink(temporary_.c_str());
  return fail(Code::io, "{}: cannot write: {}", path_, errno_text(error_));
}

}  // namespace spotter::sim
