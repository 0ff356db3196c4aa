#include "agent/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/digest.h"

namespace spotter::agent {
namespace {

const Peer kRoot = Access({}, {}).local(0, "root"), kUser = Access({}, {}).local(12345, "user"),
           kNobodyKnows = Access({}, {}).local(-1, "?");

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
  const Access access({"/tmp"}, {});
  const Peer own = access.local(geteuid(), "own");
  EXPECT_TRUE(access.may(kRoot, AccessRole::admin) && access.may(own, AccessRole::admin));
  EXPECT_TRUE(access.may(kUser, AccessRole::trace));
  EXPECT_FALSE(access.may(kUser, AccessRole::admin) || access.may(kNobodyKnows, AccessRole::view));
  for (const i64 uid : {i64{0}, i64{12345}, i64{12346}}) {
    EXPECT_TRUE(access.may_trace(kRoot, process_of(uid)));
    EXPECT_TRUE(access.may_trace(own, process_of(uid)));
    EXPECT_EQ(access.may_trace(kUser, process_of(uid)).has_value(), uid == 12345);
  }
  EXPECT_EQ(access.may_trace(kUser, process_of(0)).error().code, Code::denied);
  EXPECT_FALSE(access.may_trace(kNobodyKnows, process_of(-1)));
}

// In a user namespace everybody whom it does not map looks like one user, also the agent's own.
TEST(AccessTest, UsersThatNobodyCanTellApartHaveNoRights) {
  const i64 unmapped = 65534;
  const Access access({"/tmp"}, {{"eve", AccessRole::trace, unmapped, {}}}, unmapped);
  const Peer stranger = access.local(unmapped, "?");
  EXPECT_EQ(access.may(stranger, AccessRole::view).error().message,
            "user 65534, as all look whom this user namespace does not map, may not look");
  EXPECT_FALSE(access.may_trace(stranger, process_of(unmapped)));
  EXPECT_FALSE(access.may_trace(access.remote({-1, 0, "1.2.3.4:5", "eve"}, ""), process_of(unmapped)));
  EXPECT_TRUE(access.may_trace(access.local(0, "root"), process_of(unmapped)));
  EXPECT_TRUE(access.may_trace(access.local(12345, "user"), process_of(12345)));

  // Where everybody is mapped it is a user like any other.
  const Access all({"/tmp"}, {}, std::nullopt);
  EXPECT_TRUE(all.may_trace(all.local(unmapped, "nobody"), process_of(unmapped)));
}

TEST(AccessTest, TheOwnUserIsNobodyWhereHeIsNotMapped) {
  const Access access({"/tmp"}, {}, i64{geteuid()});
  EXPECT_FALSE(access.may(access.local(geteuid(), "own"), AccessRole::view));
}

TEST(AccessTest, WhoAnotherHostsPeerIs) {
  const std::string digest = net::sha256("secret");
  const Access access({"/tmp"}, {{"ann", AccessRole::admin, {}, {}},
                                 {"bob", AccessRole::trace, 12345, {}},
                                 {"eye", AccessRole::view, {}, digest},
                                 {"bob", AccessRole::view, {}, {}}});
  const auto role = [&](const char* certificate, const char* authorization) {
    return access.remote({-1, 0, "1.2.3.4:5", certificate}, authorization).role;
  };
  EXPECT_EQ(role("ann", ""), AccessRole::admin);
  EXPECT_EQ(role("bob", ""), AccessRole::trace);
  EXPECT_EQ(role("", "Bearer secret"), AccessRole::view);
  EXPECT_EQ(role("ann", "Bearer secret"), AccessRole::admin);
  EXPECT_EQ(role("ann", "Bearer wrong"), AccessRole::admin);
  // A name that has a token is none for a certificate; a digest is no token.
  for (const auto& [certificate, authorization] :
       {std::pair("", ""), std::pair("eye", ""), std::pair("Ann", ""), std::pair("", "Bearer "),
        std::pair("", "secret"), std::pair("", "bearer secret"), std::pair("", "Bearer secret "),
        std::pair("", digest.c_str())})
    EXPECT_EQ(role(certificate, authorization), AccessRole::nobody) << certificate << authorization;
  EXPECT_EQ(access.remote({-1, 0, "1.2.3.4:5", ""}, "Bearer " + digest).role, AccessRole::nobody);
  EXPECT_EQ(Access({}, {}).remote({-1, 0, "1.2.3.4:5", "ann"}, "Bearer x").role, AccessRole::nobody);

  const Peer bob = access.remote({-1, 0, "1.2.3.4:5", "bob"}, "");
  EXPECT_EQ(bob.name, "client bob");
  EXPECT_TRUE(access.may_trace(bob, process_of(12345)));
  EXPECT_FALSE(access.may_trace(bob, process_of(0)));
  EXPECT_EQ(write(access, bob, "/tmp/x"), Code::internal);
  EXPECT_EQ(write(access, bob, "/home/bob"), Code::denied);  // he is not on this host
  EXPECT_FALSE(access.may_trace(access.remote({-1, 0, "1.2.3.4:5", ""}, "Bearer secret"), process_of(12345)));
}

TEST(AccessTest, WhereTracesMayBeWritten) {
  const Access access({"/tmp", "/data/traces//"}, {});
  for (const char* path : {"/tmp", "/tmp/", "/tmp/a/b", "/tmp//a", "/tmp/..a", "/tmp/a..", "/data/traces/x"})
    EXPECT_EQ(write(access, kRoot, path), Code::internal) << path;
  for (const char* path :
       {"/", "/tmpx", "/data", "/data/tracesx", "/etc/x", "/tmp/..", "/tmp/../etc/x", "//tmp"})
    EXPECT_EQ(write(access, kRoot, path), Code::denied) << path;
  EXPECT_EQ(write(Access({}, {}), kRoot, "/tmp"), Code::denied);
  EXPECT_EQ(write(Access({"/"}, {}), kRoot, "/etc/x"), Code::internal);
}

TEST(AccessTest, AUserMayWriteWhereHisProcessesMay) {
  const Access access({"/tmp"}, {});
  EXPECT_EQ(write(access, kUser, "/home/user/x"), Code::internal);
  EXPECT_EQ(write(access, kUser, "/home/../etc"), Code::denied);
  EXPECT_EQ(write(access, kNobodyKnows, "/home/user/x"), Code::denied);
}

TEST(AccessTest, PathsThatARequestCannotCarry) {
  const Access access({"/tmp"}, {});
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
}  // namespace spotter::agent
