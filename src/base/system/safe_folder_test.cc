#include "base/system/safe_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>

namespace spotter {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 12345;

class SafeFolderTest : public testing::Test {
 protected:
  SafeFolderTest() {
    std::string name = "/tmp/spotter-safe-XXXXXX";
    CHECK(mkdtemp(name.data()));
    root_ = name;
  }
  ~SafeFolderTest() override { fs::remove_all(root_); }
  std::string made(const std::string& name, mode_t mode, std::optional<uid_t> owner = {}) {
    const std::string path = root_ + "/" + name;
    CHECK(mkdir(path.c_str(), 0700) == 0 && chmod(path.c_str(), mode) == 0);
    CHECK(!owner || chown(path.c_str(), *owner, *owner) == 0);
    return path;
  }
  static std::string why(const std::string& path) {
    const auto folder = open_safe_folder(path);
    if (folder) return "";
    EXPECT_EQ(folder.error().code, Code::denied) << folder.error().message;
    return folder.error().message;
  }
  static bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }
  static mode_t mode_of(const std::string& path) {
    struct stat file;
    CHECK(lstat(path.c_str(), &file) == 0);
    return file.st_mode & 07777;
  }

  std::string root_;
};

TEST_F(SafeFolderTest, OursAndSticky) {
  EXPECT_EQ(why(made("own", 0755)), "");
  EXPECT_EQ(why(made("sticky", 01777)), "");
  EXPECT_EQ(why(root_ + "/./own/../own//"), "");
  EXPECT_EQ(why("/"), "");
  EXPECT_EQ(why("/tmp"), "");
  EXPECT_EQ(open_safe_folder(root_ + "/none").error().code, Code::not_found);
  EXPECT_EQ(open_safe_folder("/proc/self/status").error().code, Code::not_found);
}

TEST_F(SafeFolderTest, WhereOthersMayWrite) {
  const std::string open = made("open", 0777);
  EXPECT_TRUE(has(why(open), "open is not safe: others may write there (mode 777)")) << why(open);
  ASSERT_EQ(mkdir((open + "/in").c_str(), 0755), 0);
  EXPECT_TRUE(has(why(open + "/in"), "open is not safe")) << "also on the way";
  if (geteuid() == 0) {
    EXPECT_TRUE(has(why(made("group", 0775)), "others may write there (mode 775)"));
  }
}

TEST_F(SafeFolderTest, OfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  const std::string theirs = made("theirs", 0755, kStranger);
  EXPECT_TRUE(has(why(theirs), "it belongs to user 12345"));
  ASSERT_EQ(mkdir((theirs + "/ours").c_str(), 0755), 0);
  EXPECT_TRUE(has(why(theirs + "/ours"), "theirs is not safe: it belongs to user 12345"));
  EXPECT_TRUE(has(why(made("theirs-sticky", 01777, kStranger)), "it belongs to user 12345"));
}

TEST_F(SafeFolderTest, LinksOfOursAreFollowedThoseOfOthersAreNot) {
  made("own", 0755);
  fs::create_symlink("own", root_ + "/link");
  fs::create_symlink(root_ + "/own", root_ + "/absolute");
  EXPECT_EQ(why(root_ + "/link"), "");
  EXPECT_EQ(why(root_ + "/absolute/."), "");
  fs::create_symlink("loop", root_ + "/loop");
  EXPECT_EQ(open_safe_folder(root_ + "/loop").error().code, Code::io);
  if (geteuid() != 0) GTEST_SKIP() << "only root gives links away";
  ASSERT_EQ(lchown((root_ + "/link").c_str(), kStranger, kStranger), 0);
  EXPECT_TRUE(has(why(root_ + "/link"), "link is a link of user 12345"));
}

TEST_F(SafeFolderTest, LinksThatSomebodyPlanted) {
  const std::string shared = made("shared", 01777), own = made("own", 0755);
  close(open((own + "/victim").c_str(), O_CREAT | O_WRONLY, 0600));
  for (const char* where : {"shared/link", "own/link"})
    fs::create_symlink("../own/victim", root_ + "/" + where);
  fs::create_symlink("../own", shared + "/folder");
  fs::create_symlink("shared", root_ + "/far");
  for (const char* path :
       {"shared/link", "own/link", "shared/folder/victim", "far/link", "own/none", "none/at/all"})
    EXPECT_TRUE(check_links(root_ + "/" + path)) << path;
  if (geteuid() != 0) GTEST_SKIP() << "only root gives links away";
  for (const char* link : {"shared/link", "shared/folder", "own/link"})
    ASSERT_EQ(lchown((root_ + "/" + link).c_str(), kStranger, kStranger), 0);
  for (const char* path : {"shared/link", "shared/folder/victim", "far/link", "own/../shared/link"}) {
    const auto r = check_links(root_ + "/" + path);
    ASSERT_FALSE(r) << path;
    EXPECT_EQ(r.error().code, Code::denied);
    EXPECT_TRUE(
        has(r.error().message, "is a link that user 12345 put into a directory where others may write"));
  }
  EXPECT_TRUE(check_links(own + "/link")) << "where nobody else may write";
}

TEST_F(SafeFolderTest, WhatIsMissingIsMadeWithItsMode) {
  const mode_t mask = umask(077);
  EXPECT_TRUE(make_safe_folder(root_ + "/a/b", 0755));
  umask(mask);
  EXPECT_EQ(mode_of(root_ + "/a"), mode_t{0755});
  EXPECT_EQ(mode_of(root_ + "/a/b"), mode_t{0755});
  const std::string own = made("own", 0711);
  EXPECT_TRUE(make_safe_folder(own, 0755));
  EXPECT_EQ(mode_of(own), mode_t{0711}) << "what is there keeps its mode";
}

// Between bind() and chmod() by name somebody may put a link, or a socket of somebody else's, in its place.
TEST_F(SafeFolderTest, OnlyTheSocketGetsTheMode) {
  const std::string path = root_ + "/s", victim = root_ + "/victim";
  close(open(victim.c_str(), O_CREAT | O_WRONLY, 0600));
  const auto folder = open_safe_folder(root_);
  ASSERT_TRUE(folder);
  EXPECT_FALSE(set_mode_of_socket(*folder, "s", 0666));
  fs::create_symlink(victim, path);
  EXPECT_FALSE(set_mode_of_socket(*folder, "s", 0666));
  fs::remove(path);
  fs::create_hard_link(victim, path);
  EXPECT_FALSE(set_mode_of_socket(*folder, "s", 0666));
  EXPECT_EQ(mode_of(victim), mode_t{0600});
  fs::remove(path);

  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(set_mode_of_socket(*folder, "s", 0666));
  EXPECT_EQ(mode_of(path), mode_t{0666});
  fs::create_hard_link(path, root_ + "/second");
  EXPECT_FALSE(set_mode_of_socket(*folder, "second", 0600));
  EXPECT_EQ(mode_of(path), mode_t{0666});
  close(fd);
}

}  // namespace
}  // namespace spotter
