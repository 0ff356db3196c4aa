// For tests: where the fakes of others' libraries (tests/fakes) lie, beside the test program.
#pragma once
#include <filesystem>

namespace spotter::collect {

inline std::filesystem::path fakes() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fakes";
}

}  // namespace spotter::collect
