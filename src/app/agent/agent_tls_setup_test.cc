#include "app/agent/agent_tls_setup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/agent/agent_config.h"
#include "client/credentials.h"

namespace spotter::app {
namespace {

namespace fs = std::filesystem;

class TlsSetupTest : public testing::Test {
 protected:
  ~TlsSetupTest() override { fs::remove_all(folder_); }
  std::string text(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(folder_ + "/" + name).rdbuf();
    return out.str();
  }
  const std::string folder_ = fmt::format("/tmp/sp_tls_setup_{}", getpid());
};

TEST_F(TlsSetupTest, WhatItMakesWorks) {
  const auto made = set_up_tls(folder_, {"n1", "10.0.0.1"});
  ASSERT_TRUE(made) << made.error().message;
  AgentConfig config;
  const auto read = read_agent_config(folder_ + "/agent/agent.yaml", config);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(config.doors.remote);
  EXPECT_TRUE(net::Tls::server(config.doors.remote->tls));
  EXPECT_EQ(config.doors.remote->port, 1779);
  const auto credentials = client::read_credentials(folder_ + "/client");
  ASSERT_TRUE(credentials) << credentials.error().message;
  EXPECT_EQ(credentials->authorization, "");
  for (const char* secret : {"ca-key.pem", "agent/agent-key.pem", "client/client-key.pem"})
    EXPECT_EQ(fs::status(folder_ + "/" + secret).permissions(), fs::perms(0600)) << secret;
}

TEST_F(TlsSetupTest, ItReplacesNothing) {
  ASSERT_TRUE(set_up_tls(folder_, {"n1"}));
  const std::string authority = text("ca.pem"), agent = text("agent/agent.pem");
  EXPECT_EQ(set_up_tls(folder_, {"n1"}).error().code, Code::invalid);
  EXPECT_EQ(text("agent/agent.pem"), agent);
  fs::rename(folder_ + "/agent", folder_ + "/for-n1");
  fs::remove_all(folder_ + "/client");
  ASSERT_TRUE(set_up_tls(folder_, {"n2"}));  // by the same authority
  EXPECT_EQ(text("ca.pem"), authority);
  EXPECT_NE(text("agent/agent.pem"), agent);
  fs::remove_all(folder_ + "/agent");
  fs::remove_all(folder_ + "/client");
  fs::remove(folder_ + "/ca-key.pem");
  EXPECT_NE(set_up_tls(folder_, {"n1"}).error().message.find("only one of"), std::string::npos);
}

TEST_F(TlsSetupTest, CredentialsThatAreNone) {
  fs::create_directories(folder_);
  EXPECT_EQ(client::read_credentials(folder_).error().code, Code::not_found);
  ASSERT_TRUE(set_up_tls(folder_ + "/x", {"n1"}));
  fs::copy(folder_ + "/x/ca.pem", folder_);
  EXPECT_EQ(client::read_credentials(folder_).error().code, Code::not_found);
  std::ofstream(folder_ + "/token") << "secret\n";
  const auto token = client::read_credentials(folder_);
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->authorization, "Bearer secret");
  std::ofstream(folder_ + "/ca.pem") << "no certificate";
  EXPECT_EQ(client::read_credentials(folder_).error().code, Code::invalid);
}

}  // namespace
}  // namespace spotter::app
