// TraceFile: a trace file that is being written, compressed or not. It has a temporary name until it is
// finished; one that is not finished is removed.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

struct isal_zstream;

namespace spotter::sim {

class TraceFile {
 public:
  static Result<std::unique_ptr<TraceFile>> create(const std::string& path, bool gzip);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void write(std::string_view text);  // an error is told by finish()
  Result<void> finish();

 private:
  TraceFile(std::string path, bool gzip);
  void compress(std::string_view text, bool is_last);
  void put(const char* bytes, size_t size);

  std::string path_, temporary_;
  Descriptor descriptor_;
  int error_ = 0;
  bool is_finished_ = false;
  std::unique_ptr<isal_zstream> stream_;  // null: not compressed
  std::vector<unsigned char> level_, out_;
};

}  // namespace spotter::sim
