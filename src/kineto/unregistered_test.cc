#include "kineto/unregistered.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter::kineto {
namespace {

namespace fs = std::filesystem;

// A tree like /proc, of processes that have PyTorch or not.
class UnregisteredTest : public testing::Test {
 protected:
  UnregisteredTest()
      : root_(fs::temp_directory_path() / ("spotter-unregistered-" + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~UnregisteredTest() override { fs::remove_all(root_); }

  void add(i64 pid, i64 parent, const std::string& command, const std::string& environment,
           bool has_torch = true) {
    const fs::path folder = root_ / std::to_string(pid);
    fs::create_directories(folder / "ns");
    write(folder / "stat", std::to_string(pid) + " (python) S " + std::to_string(parent) +
                               " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 77 0 0\n");
    write(folder / "cmdline", command + std::string(1, '\0'));
    write(folder / "environ", environment);
    write(folder / "maps", has_torch ? "7f00-7f01 r-xp 0 0:0 1 /usr/lib/torch/lib/libtorch_cpu.so\n" : "");
    fs::create_symlink("net:[1]", folder / "ns/net");
  }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  std::vector<Unregistered> find(i64 registered = 0) const {
    return find_unregistered(Host{root_.string()}, [&](i64 pid) { return pid == registered; });
  }

  fs::path root_;
};

TEST_F(UnregisteredTest, OnlyPyTorchThatIsNotKnown) {
  add(10, 1, "bash", "A=1", false);
  add(11, 1, "train", "A=1");
  add(12, 1, "known", "A=1");
  const auto found = find(12);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, 11);
  EXPECT_EQ(found[0].command, "train");
  EXPECT_NE(found[0].reason.find("no KINETO_USE_DAEMON=1"), std::string::npos);
}

TEST_F(UnregisteredTest, ForkedChildrenNeverAsk) {
  add(11, 1, "train", "A=1");
  add(12, 11, "train", "A=1");
  add(13, 11, "other", "A=1");
  const auto found = find(11);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, 13);
}

TEST_F(UnregisteredTest, Reasons) {
  fs::create_directories(root_ / "self/ns");
  fs::create_symlink("net:[1]", root_ / "self/ns/net");
  const std::string enabled = std::string("KINETO_USE_DAEMON=1") + '\0';
  add(11, 1, "a", "");
  add(12, 1, "b", enabled + "KINETO_IPC_SOCKET_DIR=/run/x");
  add(13, 1, "c", enabled);
  fs::remove(root_ / "13/ns/net");
  fs::create_symlink("net:[2]", root_ / "13/ns/net");
  add(14, 1, "d", enabled);
  const auto found = find();
  ASSERT_EQ(found.size(), 4u);
  const char* wanted[] = {"may not be read", "asks in the directory /run/x", "another network namespace",
                          "has not asked yet"};
  for (size_t i = 0; i < 4; i++)
    EXPECT_NE(found[i].reason.find(wanted[i]), std::string::npos) << found[i].reason;
}

}  // namespace
}  // namespace spotter::kineto
