// TraceFile: a trace file that is being written, compressed or not. It is there once it is finished.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/gzip_writer.h"
#include "base/system/file.h"

namespace spotter::simulate {

class TraceFile {
 public:
  static Result<std::unique_ptr<TraceFile>> create(const std::string& path, bool gzip);

  void write(std::string_view text);  // an error is told by finish()
  Result<void> finish();

 private:
  TraceFile(AtomicFile file, bool gzip);

  AtomicFile file_;
  std::unique_ptr<GzipWriter> gzip_;  // null: not compressed
  Result<void> written_;
};

}  // namespace spotter::simulate
