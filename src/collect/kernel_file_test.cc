#include "collect/kernel_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(KernelFile, ReadsTheWholeTextWhateverItsSize) {
  const TestMachine machine;
  for (const size_t size : {0, 1, 4095, 4096, 4097, 8192, 100'000}) {
    const std::string text(size, 'x');
    machine.write("file", text);
    KernelFile file(machine.path("file"));
    for (int time = 0; time < 2; ++time) EXPECT_EQ(file.read().value_or("none"), text) << size;
  }
}

// The kernel gives them record by record, so that a page of them is seldom full.
TEST(KernelFile, ReadsTheWholeTextOfTheKernel) {
  for (const char* path : {"/proc/devices", "/proc/filesystems", "/proc/misc", "/proc/self/limits",
                           "/proc/self/mountinfo", "/proc/cmdline", "/proc/ioports", "/proc/consoles"}) {
    const std::string text = read_whole(path);
    KernelFile file(path);
    if (text.empty()) continue;  // not on this machine
    for (int time = 0; time < 2; ++time) EXPECT_EQ(file.read().value_or("none"), text) << path;
  }
}

TEST(KernelFile, IsOpenedAnewOnceItIsThere) {
  const TestMachine machine;
  KernelFile file(machine.path("late"));
  EXPECT_EQ(file.read().error().code, Code::not_found);
  machine.write("late", "5\n");
  EXPECT_EQ(file.read_number(), 5);
}

}  // namespace
}  // namespace spotter::collect
