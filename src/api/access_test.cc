#include "api/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace spotter::api {
namespace {

const Peer kRoot{0, "root"}, kUser{12345, "user"}, kNobodyKnows{-1, "?"};

kineto::Process process_of(i64 uid) {
  kineto::Process process;
  process.facts.pid = 42;
  process.facts.uid = uid;
  return process;
}

Code write(const Access& access, const Peer& peer, const std::string& path) {
  const Result<void> r = access.may_write(peer, path);
  return r ? Code::internal : r.error().code;  // internal: he may
}

TEST(AccessTest, WhoMayTraceWhat) {
  const Access access({"/tmp"});
  const Peer own{geteuid(), "own"};
  EXPECT_TRUE(access.is_admin(kRoot) && access.is_admin(own));
  EXPECT_FALSE(access.is_admin(kUser) || access.is_admin(kNobodyKnows));
  for (const i64 uid : {i64{0}, i64{12345}, i64{12346}}) {
    EXPECT_TRUE(access.may_trace(kRoot, process_of(uid)));
    EXPECT_TRUE(access.may_trace(own, process_of(uid)));
    EXPECT_EQ(access.may_trace(kUser, process_of(uid)).has_value(), uid == 12345);
  }
  EXPECT_EQ(access.may_trace(kUser, process_of(0)).error().code, Code::denied);
  EXPECT_FALSE(access.may_trace(kNobodyKnows, process_of(-1)));
}

TEST(AccessTest, WhereTracesMayBeWritten) {
  const Access access({"/tmp", "/data/traces//"});
  for (const char* path : {"/tmp", "/tmp/", "/tmp/a/b", "/tmp//a", "/tmp/..a", "/tmp/a..", "/data/traces/x"})
    EXPECT_EQ(write(access, kRoot, path), Code::internal) << path;
  for (const char* path :
       {"/", "/tmpx", "/data", "/data/tracesx", "/etc/x", "/tmp/..", "/tmp/../etc/x", "//tmp"})
    EXPECT_EQ(write(access, kRoot, path), Code::denied) << path;
  EXPECT_EQ(write(Access({}), kRoot, "/tmp"), Code::denied);
  EXPECT_EQ(write(Access({"/"}), kRoot, "/etc/x"), Code::internal);
}

TEST(AccessTest, AUserMayWriteWhereHisProcessesMay) {
  const Access access({"/tmp"});
  EXPECT_EQ(write(access, kUser, "/home/user/x"), Code::internal);
  EXPECT_EQ(write(access, kUser, "/home/../etc"), Code::denied);
  EXPECT_EQ(write(access, kNobodyKnows, "/home/user/x"), Code::denied);
}

TEST(AccessTest, PathsThatARequestCannotCarry) {
  const Access access({"/tmp"});
  for (const std::string& path :
       {std::string(), std::string("tmp"), std::string("./tmp"), std::string("/tmp/a=b"),
        std::string("/tmp/#"), std::string("/tmp/a\nPROFILE_MEMORY"), std::string("/tmp/\0x", 7),
        std::string("/tmp/\x7f"), std::string("/tmp/\xff"), "/tmp/" + std::string(1024, 'x')}) {
    EXPECT_EQ(write(access, kRoot, path), Code::invalid) << path;
    EXPECT_EQ(write(access, kUser, path), Code::invalid) << path;
  }
  EXPECT_EQ(write(access, kRoot, "/tmp/\xc3\xa4 b"), Code::internal);
}

}  // namespace
}  // namespace spotter::api
