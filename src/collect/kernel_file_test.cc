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
  for (const size_t size : {0, 1, 3071, 3072, 3073, 4095, 4096, 4097, 8192, 100'000}) {
    const std::string text(size, 'x');
    machine.write("file", text);
    KernelFile file(machine.path("file"));
    for (int time = 0; time < 2; ++time) EXPECT_EQ(file.read().value_or("none"), text) << size;
  }
}

// The kernel gives them record by record, so that a page of them is seldom full.
TEST(KernelFile, ReadsTheWholeTextOfTheKernel) {
  for (const char* path :
       {"/proc/devices", "/proc/filesystems", "/proc/misc", "/proc/kallsyms", "/proc/crypto",
        "/proc/self/limits", "/proc/cmdline", "/proc/ioports", "/proc/consoles"}) {
    const std::string text = read_whole(path);
    KernelFile file(path);
    if (text.empty()) continue;  // not on this machine
    for (int time = 0; time < 2; ++time) EXPECT_EQ(file.read().value_or("none"), text) << path;
  }
}

TEST(KernelFile, ReadsLongRecordsThatItIsToldOf) {
  for (const char* path : {"/proc/self/mountinfo", "/proc/cpuinfo"}) {
    KernelFile file(path, KernelFile::kAnyRecords);
    const auto lines = [](std::string_view text) { return std::ranges::count(text, '\n'); };
    const auto text = file.read();
    ASSERT_TRUE(text) << path;
    EXPECT_EQ(lines(*text), lines(read_whole(path))) << path;
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
