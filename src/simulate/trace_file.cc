#include "simulate/trace_file.h"

namespace spotter::simulate {

TraceFile::TraceFile(AtomicFile file, bool gzip) : file_(std::move(file)) {
  if (gzip)
    gzip_ = std::make_unique<GzipWriter>(
        [this](std::span<const char> bytes) { return file_.write({bytes.data(), bytes.size()}); });
}

Result<std::unique_ptr<TraceFile>> TraceFile::create(const std::string& path, bool gzip) {
  TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  return std::unique_ptr<TraceFile>(new TraceFile(std::move(file), gzip));
}

void TraceFile::write(std::string_view text) {
  if (written_) written_ = gzip_ ? gzip_->write(text) : file_.write(text);
}

Result<void> TraceFile::finish() {
  TRY(written_);
  if (gzip_) TRY(gzip_->finish());
  return file_.commit();
}

}  // namespace spotter::simulate
