#include "base/source_revision.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";

TEST(SourceRevision, ARemotesWebPageHasNobodysName) {
  const std::string page = "https://github.com/owner/repo";
  for (const char* remote :
       {"https://github.com/owner/repo", "https://github.com/owner/repo.git",
        "https://github.com/owner/repo/", "https://user@github.com/owner/repo.git",
        "https://user:ghp_secret@github.com/owner/repo.git", "https://oauth2:p@ss@github.com/owner/repo",
        "git@github.com:owner/repo.git", "git@github.com:/owner/repo", "ssh://git@github.com/owner/repo.git",
        "ssh://git@github.com:22/owner/repo", "git://github.com/owner/repo.git",
        "git://github.com:9418/owner/repo"})
    EXPECT_EQ(web_page_of(remote), page) << remote;
  EXPECT_EQ(web_page_of("https://git.example.org:8443/a/b/c-d_e.f.git"),
            "https://git.example.org:8443/a/b/c-d_e.f");
}

TEST(SourceRevision, WhatIsNoRepositoryOfAHostIsNone) {
  for (const std::string& remote :
       std::initializer_list<std::string>{"",
                                          "/srv/git/repo.git",
                                          "../repo",
                                          "file:///srv/git/repo",
                                          "http://github.com/owner/repo",
                                          "C:/repo",
                                          "ext::sh -c id",
                                          "javascript://github.com/owner/repo",
                                          "https://github.com",
                                          "https://github.com/",
                                          "https:///owner/repo",
                                          "https://github.com/owner/repo?token=secret",
                                          "https://github.com/owner/repo#x",
                                          "https://github.com/../repo",
                                          "https://github.com/a//b",
                                          "https://[::1]/owner/repo",
                                          "https://-x/owner/repo",
                                          "https://github.com:/owner/repo",
                                          "https://github.com:123456/owner/repo",
                                          "https://git hub.com/owner/repo",
                                          "https://github.com/owner/re po",
                                          "https://github.com/owner/\"onclick",
                                          "git@github.com:owner/repo@x",
                                          "https://a..b/owner/repo",
                                          "ssh://git@host:port/owner/repo",
                                          std::string("https://h/\0x", 11),
                                          "https://h/" + std::string(400, 'a')})
    EXPECT_EQ(web_page_of(remote), "") << remote;
}

TEST(SourceRevision, WhereItsFilesAre) {
  EXPECT_EQ(web_root_of("https://github.com/o/r@" + kCommit), "https://github.com/o/r/blob/" + kCommit);
  EXPECT_EQ(web_root_of("https://gitlab.com/g/s/r@" + kCommit), "https://gitlab.com/g/s/r/-/blob/" + kCommit);
  EXPECT_EQ(web_root_of("https://gitlab.example.org/g/r@" + kCommit),
            "https://gitlab.example.org/g/r/-/blob/" + kCommit);
  for (const std::string& revision : std::initializer_list<std::string>{
           "", kCommit, "@" + kCommit, "https://github.com/o/r", "https://github.com/o/r@main",
           "https://github.com/o/r@" + kCommit + "0", "http://github.com/o/r@" + kCommit,
           "https://user@github.com/o/r@" + kCommit, "https://github.com/o/r.git@" + kCommit,
           "git@github.com:o/r@" + kCommit, "javascript:alert(1)@" + kCommit,
           "https://github.com/o/r x=y@" + kCommit})
    EXPECT_EQ(web_root_of(revision), "") << revision;
}

}  // namespace
}  // namespace spotter
