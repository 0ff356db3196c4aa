// For tests: the fake libtorch_cpu.so (tests/fakes/torch.cc), which lies beside the test program.
#pragma once
#include <filesystem>
#include <string>

namespace spotter::collect {

inline std::string fake_torch_library() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fakes" / "libtorch_cpu.so";
}

}  // namespace spotter::collect
