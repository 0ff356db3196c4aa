// KernelFile: a file of /proc or /sys that is read again and again. It stays open, and is opened anew when it
// cannot be read any more.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::collect {

class KernelFile {
 public:
  explicit KernelFile(std::string path) : path_(std::move(path)) {}

  // What it says now; until the next read. Errors: not_found, denied, io; invalid where it is longer than 16
  // MiB.
  Result<std::string_view> read();
  // Of a file that holds one number; null where it cannot be read or holds something else.
  std::optional<i64> read_number();
  const std::string& path() const { return path_; }

 private:
  Result<size_t> read_open();

  std::string path_;
  Descriptor file_;
  std::string text_;
};

}  // namespace spotter::collect
