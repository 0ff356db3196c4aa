#include "export/trace_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text/utf8.h"
#include "read/strict_json.h"

namespace spotter::export_ {
namespace {

constexpr size_t kBuffer = size_t{256} << 10;

// The last of several with one key counts, as everywhere.
bool comes_again(const Members& members, size_t i) {
  return std::any_of(members.begin() + static_cast<std::ptrdiff_t>(i) + 1, members.end(),
                     [&](const auto& other) { return other.first == members[i].first; });
}

std::string strict(const std::string& value) {
  if (read::json::is_strict(value)) return value;
  const std::string mended = read::json::to_strict(value);
  return mended.empty() ? "null" : mended;
}

}  // namespace

Result<std::unique_ptr<TraceWriter>> TraceWriter::open(const std::string& path) {
  if (ascii_lower(path).ends_with(".zst"))
    return fail(Code::invalid, "{}: traces are written as .json or .json.gz", path);
  std::optional<AtomicFile> file;
  if (path != "-") {
    TRY_ASSIGN(AtomicFile created, AtomicFile::create(path));
    file.emplace(std::move(created));
  }
  std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(file)));
  if (ascii_lower(path).ends_with(".gz")) writer->pack();
  return writer;
}

std::unique_ptr<TraceWriter> TraceWriter::into(std::string& text) {
  std::unique_ptr<TraceWriter> writer(new TraceWriter(std::nullopt));
  writer->text_ = &text;
  writer->pack();
  return writer;
}

void TraceWriter::pack() {
  gzip_ = std::make_unique<GzipWriter>(
      [this](std::span<const char> bytes) { return put({bytes.data(), bytes.size()}); });
}

Result<void> TraceWriter::begin(const Members& members) {
  buffer_ += "{\n";
  for (size_t i = 0; i < members.size(); ++i)
    if (!comes_again(members, i))
      fmt::format_to(std::back_inserter(buffer_), "  {}: {},\n", read::json::quoted(members[i].first),
                     strict(members[i].second));
  buffer_ += "  \"traceEvents\": [";
  return {};
}

Result<void> TraceWriter::event(std::string_view text) {
  buffer_ += any_event_ ? ",\n" : "\n";
  any_event_ = true;
  buffer_ += text;
  return buffer_.size() < kBuffer ? Result<void>() : flush();
}

Result<void> TraceWriter::finish(const Members& members) {
  buffer_ += "\n  ]";
  for (size_t i = 0; i < members.size(); ++i)
    if (!comes_again(members, i))
      fmt::format_to(std::back_inserter(buffer_), ",\n  {}: {}", read::json::quoted(members[i].first),
                     strict(members[i].second));
  buffer_ += "\n}\n";
  TRY(flush());
  if (gzip_) TRY(gzip_->finish());
  if (file_) return file_->commit();
  if (text_) return {};
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    return fail(Code::io, "standard output cannot be written: {}", errno_text(errno));
  return {};
}

Result<void> TraceWriter::flush() {
  const Result<void> done = gzip_ ? gzip_->write(buffer_) : put(buffer_);
  buffer_.clear();
  return done;
}

Result<void> TraceWriter::put(std::string_view bytes) {
  if (file_) return file_->write(bytes);
  if (text_) {
    text_->append(bytes);
    return {};
  }
  if (reader_is_gone_ || std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
  reader_is_gone_ = errno == EPIPE;
  if (reader_is_gone_) return {};
  return fail(Code::io, "standard output cannot be written: {}", errno_text(errno));
}

}  // namespace spotter::export_
