// TraceWriter: the output file, as one JSON object with the list traceEvents, written piece by piece.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/gzip_writer.h"
#include "base/result.h"
#include "base/system/file.h"

namespace spotter::export_ {

using Members = std::vector<std::pair<std::string, std::string>>;  // key, JSON as our reader takes it

class TraceWriter {
 public:
  // gzip where the name ends in .gz; "-" is standard output. The file is there whole after finish(), or as it
  // was before. A reader of standard output that closes it has seen enough: that is no error.
  static Result<std::unique_ptr<TraceWriter>> open(const std::string& path);
  // Into a text that outlives it, gzip.
  static std::unique_ptr<TraceWriter> into(std::string& text);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  Result<void> begin(const Members& members);  // what stands before the events
  Result<void> event(std::string_view text);
  Result<void> finish(const Members& members);  // what stands behind them

 private:
  explicit TraceWriter(std::optional<AtomicFile> file) : file_(std::move(file)) {}
  Result<void> flush();
  Result<void> put(std::string_view bytes);

  void pack();

  std::optional<AtomicFile> file_;
  std::string* text_ = nullptr;  // else, without a file, standard output
  std::unique_ptr<GzipWriter> gzip_;
  std::string buffer_;
  bool any_event_ = false, reader_is_gone_ = false;
};

}  // namespace spotter::export_
