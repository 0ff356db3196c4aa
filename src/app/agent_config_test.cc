#include "app/agent_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace spotter {
namespace {

namespace fs = std::filesystem;

class AgentConfigTest : public testing::Test {
 protected:
  ~AgentConfigTest() override { fs::remove(path_); }
  Result<void> read(std::string_view text) {
    std::ofstream(path_) << text;
    return read_agent_config(path_, config_);
  }
  std::string error(std::string_view text) {
    const Result<void> r = read(text);
    EXPECT_FALSE(r) << text;
    if (r) return {};
    EXPECT_EQ(r.error().code, Code::invalid) << text;
    EXPECT_NE(r.error().message.find(path_), std::string::npos) << r.error().message;
    return r.error().message;
  }
  bool fails_with(std::string_view text, std::string_view words) {
    const std::string message = error(text);
    EXPECT_NE(message.find(words), std::string::npos) << message;
    return message.find('\n') == message.npos;
  }

  const std::string path_ = fmt::format("/tmp/sp_config_{}.yaml", getpid());
  AgentConfig config_;
};

TEST_F(AgentConfigTest, AllKeys) {
  const Result<void> r = read(
      "api_socket: /run/x.sock\nipc_directory: /run/ipc\nrpc_port: 17\n"
      "output_directories: [/tmp, /data]\nlog_level: warning\n");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(config_.options.api_socket, "/run/x.sock");
  EXPECT_EQ(config_.options.ipc_directory, "/run/ipc");
  EXPECT_EQ(config_.options.rpc_port, u16{17});
  EXPECT_EQ(config_.options.output_directories, (std::vector<std::string>{"/tmp", "/data"}));
  EXPECT_EQ(config_.log_level, Level::warning);
}

TEST_F(AgentConfigTest, WhatItDoesNotSayStays) {
  config_.options.api_socket = "/before";
  for (const char* text : {"", "# nothing\n", "---\n", "log_level: debug\n"}) EXPECT_TRUE(read(text)) << text;
  EXPECT_EQ(config_.options.api_socket, "/before");
  EXPECT_EQ(config_.options.rpc_port, u16{1778});
  EXPECT_TRUE(read("rpc_port: \"off\"\n"));
  EXPECT_EQ(config_.options.rpc_port, std::nullopt);
  EXPECT_TRUE(read("rpc_port: off\n"));
  EXPECT_EQ(config_.options.rpc_port, std::nullopt);
}

TEST_F(AgentConfigTest, WhatIsWrongIsToldWithItsLine) {
  EXPECT_TRUE(fails_with("log_level: info\nrcp_port: 1\n", "line 2: there is no key rcp_port"));
  EXPECT_TRUE(fails_with("\nrpc_port: 65536\n", "line 2: rpc_port: "));
  EXPECT_TRUE(fails_with("rpc_port: [1]\n", "line 1"));
  EXPECT_TRUE(fails_with("log_level: loud\n", "no log level"));
  EXPECT_TRUE(fails_with("output_directories: /tmp\n", "line 1"));
  EXPECT_TRUE(fails_with("output_directories: [/tmp, data]\n", "must be absolute"));
  EXPECT_TRUE(fails_with("output_directories: [\"\"]\n", "must be absolute"));
  EXPECT_TRUE(fails_with("- a\n- b\n", "KEY: VALUE"));
  EXPECT_TRUE(fails_with("just words\n", "KEY: VALUE"));
  EXPECT_TRUE(fails_with("a: [\n", "line 2"));
  EXPECT_TRUE(fails_with("[a]: 1\n", "line 1"));
  EXPECT_TRUE(fails_with("\"a\\n\": 1\n", "no key"));
}

TEST_F(AgentConfigTest, FilesThatAreNone) {
  EXPECT_EQ(read_agent_config("/tmp/nowhere/at/all", config_).error().code, Code::not_found);
  EXPECT_EQ(read_agent_config("/tmp", config_).error().code, Code::io);
  EXPECT_FALSE(read(std::string(2 << 20, '#')));
}

TEST(AgentConfigWords, Ports) {
  EXPECT_EQ(parse_port("0").value(), u16{0});
  EXPECT_EQ(parse_port("65535").value(), u16{65535});
  EXPECT_EQ(parse_port("off").value(), std::nullopt);
  for (const char* word : {"", "65536", "-1", "on", "1.5"}) EXPECT_FALSE(parse_port(word)) << word;
}

}  // namespace
}  // namespace spotter
