#include "capture/repository.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter::capture {
namespace {

namespace fs = std::filesystem;

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";
const std::string kSource = "https://github.com/owner/repo@" + kCommit;
constexpr const char* kConfig =
    "[core]\n\trepositoryformatversion = 0\n[remote \"fork\"]\n\turl = https://github.com/other/repo\n"
    "[remote \"origin\"]\n\turl = https://user:ghp_secret@github.com/owner/repo.git\n\tfetch = +refs/heads/*\n";

// Process 42, whose root is fs/ and whose working directory fs/project/src.
class RepositoryTest : public testing::Test {
 protected:
  RepositoryTest() : root_(fs::path("/tmp") / fmt::format("sp_repository_{}", getpid())) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "proc/42");
    fs::create_directories(root_ / "fs/project/src");
    fs::create_directories(git() / "refs/heads/feature");
    fs::create_directory_symlink(root_ / "fs", root_ / "proc/42/root");
    fs::create_directory_symlink(root_ / "fs/project/src", root_ / "proc/42/cwd");
    write("HEAD", "ref: refs/heads/feature/one\n");
    write("refs/heads/feature/one", kCommit + "\n");
    write("config", kConfig);
  }
  ~RepositoryTest() override { fs::remove_all(root_); }

  fs::path git() const { return root_ / "fs/project/.git"; }
  void write(const char* name, const std::string& text) const {
    fs::remove(git() / name);
    std::ofstream(git() / name) << text;
  }
  std::optional<Repository> find(i64 uid = geteuid(), std::optional<i64> unmapped = std::nullopt) const {
    return repository_of(Host{(root_ / "proc").string()}, 42, uid, unmapped);
  }
  std::string source(i64 uid = geteuid()) const { return find(uid).value_or(Repository{"none", ""}).source; }

  fs::path root_;
};

TEST_F(RepositoryTest, WhatIsCheckedOutOfWhere) {
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, kSource);
  EXPECT_EQ(found->root, "/project");
  write("HEAD", kCommit);  // no branch
  EXPECT_EQ(source(), kSource);
}

TEST_F(RepositoryTest, ABranchMayBePacked) {
  fs::remove(git() / "refs/heads/feature/one");
  EXPECT_EQ(source(), "none");
  const std::string other(40, 'f');
  write("packed-refs", "# pack-refs with: peeled\n" + other + " refs/heads/feature/one/more\n" + kCommit +
                           " refs/heads/feature/one\n^" + other + "\n");
  EXPECT_EQ(source(), kSource);
}

TEST_F(RepositoryTest, HostileFilesGiveNothing) {
  for (const std::string& head : std::initializer_list<std::string>{
           "", "ref: ", "ref: HEAD", "ref: refs/heads/none", "ref: refs/../../../etc/shadow",
           "ref: /etc/shadow", "ref: refs/heads//feature/one", "ref: refs/heads/./feature/one",
           kCommit + kCommit, "0123", std::string(5000, ' ') + kCommit,
           std::string("ref: refs/heads/feature/one\0", 28)}) {
    write("HEAD", head);
    EXPECT_EQ(source(), "none") << head;
  }
  write("HEAD", "ref: refs/heads/a");
  write("refs/heads/a", "ref: refs/heads/b");
  write("refs/heads/b", "ref: refs/heads/a");  // of one another
  EXPECT_EQ(source(), "none");
  write("HEAD", kCommit);
  for (const std::string& config : std::initializer_list<std::string>{
           "", "[remote \"origin\"]\n", "[remote \"origin\"]\n\turl = /srv/git/repo\n",
           "[remote \"origin\"]\n\turl = ext::sh -c id\n", "[include]\n\tpath = /etc/shadow\n",
           "[remote \"origin\"]\n\turl = \"https://github.com/owner/repo\"\n",
           std::string(kConfig) + std::string(10 << 20, '\n'), std::string(kConfig) + '\0'}) {
    write("config", config);
    EXPECT_EQ(source(), "none") << config.substr(0, 100);
  }
  write("config", kConfig);
  EXPECT_EQ(source(), kSource);
}

TEST_F(RepositoryTest, NoLinkIsFollowed) {
  const fs::path away = root_ / "fs/away";
  std::ofstream(away) << kConfig;
  fs::remove(git() / "config");
  fs::create_symlink("/away", git() / "config");
  EXPECT_EQ(source(), "none");
  write("config", kConfig);
  EXPECT_EQ(source(), kSource);
  fs::rename(git(), root_ / "fs/elsewhere");
  fs::create_directory_symlink("/elsewhere", git());
  EXPECT_EQ(source(), "none");
}

TEST_F(RepositoryTest, AFurtherWorktreeAndASubmoduleNameTheirs) {
  const fs::path inner = root_ / "fs/project/src/.git";
  const std::string other(40, 'f');
  fs::create_directories(git() / "worktrees/src");
  write("worktrees/src/HEAD", other);
  write("worktrees/src/commondir", "../..\n");
  for (const char* place : {"gitdir: /project/.git/worktrees/src\n", "gitdir: ../.git/worktrees/src/"}) {
    std::ofstream(inner) << place;
    EXPECT_EQ(source(), "https://github.com/owner/repo@" + other) << place;
    EXPECT_EQ(find()->root, "/project/src");
  }
  write("worktrees/src/HEAD", "ref: refs/heads/feature/one\n");  // of all worktrees
  EXPECT_EQ(source(), kSource);
  fs::create_directories(git() / "modules/src");
  write("modules/src/HEAD", other);
  write("modules/src/config", "[remote \"origin\"]\n\turl = https://github.com/owner/part\n");
  std::ofstream(inner) << "gitdir: ../.git/modules/src\n";
  EXPECT_EQ(source(), "https://github.com/owner/part@" + other);
}

TEST_F(RepositoryTest, WhatNamesNoSuchPlaceIsNoneAndEndsTheSearch) {
  const fs::path inner = root_ / "fs/project/src/.git";
  fs::create_directories(root_ / "out");
  std::ofstream(root_ / "out/HEAD") << kCommit;
  std::ofstream(root_ / "out/config") << kConfig;
  fs::create_directory_symlink(git(), root_ / "fs/link");
  for (const std::string& place : std::initializer_list<std::string>{
           "", "gitdir:", "gitdir: ../.git/none", "../.git", "gitdir: ../../../out",
           "gitdir: " + (root_ / "out").string(), "gitdir: /link", "gitdir: ../.git/HEAD",
           "gitdir: " + std::string(5000, '/')}) {
    std::ofstream(inner) << place;
    EXPECT_EQ(source(), "none") << place.substr(0, 100);
  }
  std::ofstream(inner) << "gitdir: ../.git\n";
  EXPECT_EQ(source(), kSource);
  write("commondir", "/link");
  EXPECT_EQ(source(), "none");
  fs::remove(inner);
  ASSERT_EQ(mkfifo(inner.c_str(), 0600), 0);
  EXPECT_EQ(source(), "none");
}

TEST_F(RepositoryTest, NothingAboveTheProcessesRoot) {
  fs::rename(git(), root_ / ".git");
  EXPECT_EQ(source(), "none");
  fs::rename(root_ / ".git", root_ / "fs/.git");
  EXPECT_EQ(source(), kSource);
  EXPECT_EQ(find()->root, "/");
}

TEST_F(RepositoryTest, AWorkingDirectoryOutsideOfTheRootIsNotLookedAt) {
  fs::create_directories(root_ / "out/project/src");
  fs::remove(root_ / "proc/42/cwd");
  fs::create_directory_symlink(root_ / "out/project/src", root_ / "proc/42/cwd");
  EXPECT_EQ(source(), "none");
  fs::remove(root_ / "proc/42/cwd");
  EXPECT_EQ(source(), "none");
}

// Somebody else's process works in this folder.
TEST_F(RepositoryTest, WhatTheProcessesUserMayNotReadIsNotRead) {
  const i64 other = geteuid() + 1;
  EXPECT_EQ(source(other), kSource);
  fs::permissions(git() / "config", fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(source(other), "none");
  EXPECT_EQ(source(), kSource);
  EXPECT_EQ(source(0), kSource);
  if (geteuid() != 0) {
    EXPECT_FALSE(find(geteuid(), geteuid())) << "whom this namespace does not map";
  }
  fs::permissions(git() / "config", fs::perms::others_read, fs::perm_options::add);
  for (const char* folder : {"refs/heads", ".", "..", "../src"}) {
    fs::permissions(git() / folder, fs::perms::others_exec, fs::perm_options::remove);
    EXPECT_EQ(source(other), "none") << folder;
    fs::permissions(git() / folder, fs::perms::others_exec, fs::perm_options::add);
  }
  // Nor by a name for it.
  fs::rename(git(), root_ / "fs/kept");
  std::ofstream(root_ / "fs/project/.git") << "gitdir: /kept";
  EXPECT_EQ(source(other), kSource);
  fs::permissions(root_ / "fs/kept", fs::perms::others_exec, fs::perm_options::remove);
  EXPECT_EQ(source(other), "none");
  fs::permissions(root_ / "fs/kept", fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(root_ / "fs", fs::perms::others_exec, fs::perm_options::remove);
  EXPECT_EQ(source(other), "none");
  fs::permissions(root_ / "fs", fs::perms::others_exec, fs::perm_options::add);
  EXPECT_EQ(source(other), kSource);
}

}  // namespace
}  // namespace spotter::capture
