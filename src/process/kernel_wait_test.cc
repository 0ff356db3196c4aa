#include "process/kernel_wait.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter::process {
namespace {

TEST(KernelWait, StateFunctionAndStack) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("spotter_wait_{}", getpid());
  const fs::path process = folder / "42";
  fs::create_directories(process);
  std::ofstream(process / "stat")
      << "42 (python) D 7 42 7 0 -1 4194304 10 0 20 0 5 6 0 0 20 0 9 0 987654 1 300 3\n";
  std::ofstream(process / "wchan") << "nfs_wait_bit_killable";
  std::ofstream(process / "stack") << "[<0>] nfs_wait_bit_killable+0x1c/0x80\n[<0>] nfs_file_read+0x9/0x90\n";
  Host host;
  host.proc = folder.string();
  const KernelWait wait = read_kernel_wait(host, 42);
  EXPECT_EQ(wait.state, 'D');
  EXPECT_EQ(wait.function, "nfs_wait_bit_killable");
  EXPECT_EQ(wait.stack, (std::vector<std::string>{"nfs_wait_bit_killable", "nfs_file_read"}));
  std::ofstream(process / "wchan") << "0";
  fs::remove(process / "stack");
  EXPECT_EQ(read_kernel_wait(host, 42).function, "");
  EXPECT_TRUE(read_kernel_wait(host, 42).stack.empty());
  EXPECT_EQ(read_kernel_wait(host, 43).state, '?');
  fs::remove_all(folder);
}

}  // namespace
}  // namespace spotter::process
