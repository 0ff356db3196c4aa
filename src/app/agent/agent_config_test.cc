#include "app/agent/agent_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "api/doors.h"

namespace spotter::app {
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
    config_ = {};
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
      "output_directories: [/tmp, /data]\nlog_level: warning\nlog_format: json\n");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(config_.doors.api_socket, "/run/x.sock");
  EXPECT_EQ(config_.options.ipc_directory, "/run/ipc");
  EXPECT_EQ(config_.doors.said.at("rpc_port"), "17");
  EXPECT_EQ(config_.options.output_directories, (std::vector<std::string>{"/tmp", "/data"}));
  EXPECT_EQ(config_.log_level, Level::warning);
  EXPECT_EQ(config_.log_format, LogFormat::json);
}

TEST_F(AgentConfigTest, Telemetry) {
  const Result<void> r = read(
      "collect: all:2s, -vmstat, disk:10s, pmu\nper_core: true\nroot: /host\n"
      "textfile_directory: /var/lib/texts\n"
      "dcgm: {address: 'gpu1:5555', embedded: true}\n"
      "prometheus: 127.0.0.1:17\nhistory: {file: /data/h.db, size: 64M}\n"
      "sinks:\n  - {kind: otlp, endpoint: 'http://c:4318', tables: [cpu, 'gpu*']}\n  - {kind: json_lines, name: lines}\n");
  ASSERT_TRUE(r) << r.error().message;
  const agent::TelemetryOptions& t = config_.options.telemetry;
  std::map<std::string, Ns> periods;
  for (const collect::Wanted& wanted : t.collectors) periods[wanted.kind->name] = wanted.period;
  EXPECT_EQ(periods.at("cpu"), 2'000'000'000);
  EXPECT_EQ(periods.at("disk"), 10'000'000'000);
  EXPECT_EQ(periods.at("pmu"), 10'000'000'000);  // its own, as it is not among all
  EXPECT_FALSE(periods.contains("vmstat"));
  EXPECT_TRUE(t.per_core);
  EXPECT_EQ(config_.root, "/host");
  EXPECT_EQ(t.textfile_directory, "/var/lib/texts");
  EXPECT_EQ(t.dcgm_address, "gpu1:5555");
  EXPECT_TRUE(t.dcgm_embedded);
  EXPECT_EQ(config_.doors.said.at("prometheus"), "127.0.0.1:17");
  ASSERT_TRUE(t.history);
  EXPECT_EQ(t.history->path, "/data/h.db");
  EXPECT_EQ(t.history->most_bytes, i64{64} << 20);
  ASSERT_EQ(t.sinks.size(), 2U);
  EXPECT_EQ(t.sinks[0].kind, "otlp");
  EXPECT_EQ(t.sinks[0].settings.at("tables"), "cpu,gpu*");
  EXPECT_EQ(t.sinks[1].settings.at("name"), "lines");
  EXPECT_TRUE(api::check(config_.doors));
}

TEST_F(AgentConfigTest, WhatIsLeftOutIsLeftOutOfTheUsual) {
  const auto names = [&](const char* list) {
    EXPECT_TRUE(read(fmt::format("collect: {}", list))) << list;
    std::vector<std::string> all;
    for (const collect::Wanted& wanted : config_.options.telemetry.collectors)
      all.emplace_back(wanted.kind->name);
    return all;
  };
  EXPECT_EQ(names("-memory"), names("all, -memory"));
  EXPECT_EQ(names("-memory, pmu"), names("all, -memory, pmu"));
  EXPECT_EQ(names("-memory").size() + 1, names("all").size());
  EXPECT_EQ(names("cpu, disk, -cpu"), std::vector<std::string>{"disk"});
  EXPECT_TRUE(names("off").empty());
}

TEST_F(AgentConfigTest, TelemetryThatCannotBe) {
  EXPECT_TRUE(fails_with("collect: cpu,tape", "there is no collector \"tape\""));
  EXPECT_TRUE(fails_with("collect: ' , '", "no collector is named"));
  EXPECT_TRUE(fails_with("collect: cpu:1ms", "10 ms to 1 h"));
  EXPECT_TRUE(fails_with("collect: -all", "\"-all\" is not like -NAME"));
  EXPECT_TRUE(fails_with("collect: cpu, -all", "\"-all\" is not like -NAME"));
  EXPECT_TRUE(fails_with("collect: -memory:1s", "\"-memory:1s\" is not like -NAME"));
  EXPECT_TRUE(fails_with("collect: cpu, -cpu", "leaves no collector"));
  EXPECT_TRUE(fails_with("history: here.db", "neither an absolute path nor off"));
  EXPECT_TRUE(fails_with("history: {size: x}", "line 1: size"));
  EXPECT_TRUE(fails_with("history: {size: 1K}", "a history needs 1M at least"));
  EXPECT_TRUE(fails_with("sinks: [{endpoint: x}]", "needs a \"kind\""));
  EXPECT_TRUE(fails_with("sinks: [{kind: pigeon}]", "line 1: there is no sink \"pigeon\""));
  EXPECT_TRUE(
      fails_with("sinks:\n  - {kind: otlp, colour: red}", "line 2: the sink otlp has no option colour"));
  EXPECT_TRUE(fails_with("sinks:\n  - {kind: otlp}\n  - {kind: otlp}",
                         "line 3: another sink, or the history, is called otlp, too"));
  EXPECT_TRUE(fails_with("sinks: [{kind: otlp, name: history}]", "is called history, too"));
  EXPECT_TRUE(fails_with("sinks:\n  - {kind: json_lines}\n  - {kind: otlp, every: x}",
                         "line 3: every of the sink otlp"));
  EXPECT_TRUE(fails_with("sinks: [{kind: json_lines, tables: 'cpu, lod'}]",
                         "line 1: tables: there is no table \"lod\""));
  EXPECT_TRUE(fails_with("sinks: [{kind: otlp, tables: [gpux*]}]", "there is no table \"gpux*\""));
  EXPECT_TRUE(read("sinks: [{kind: otlp, tables: [gpu_*, '*', agent]}]"));
  EXPECT_TRUE(
      fails_with("sinks:\n  - {kind: json_lines, path: /a}\n  - {kind: json_lines, name: b, path: /a}",
                 "line 3: another sink has the path /a, too"));
  EXPECT_TRUE(fails_with("sinks: [{kind: json_lines}, {kind: json_lines, name: b}]", "has the path -, too"));
  EXPECT_TRUE(read("sinks: [{kind: otlp}, {kind: otlp, name: b}, {kind: json_lines}]"));
  EXPECT_TRUE(fails_with("history: off\nper_core: true\nhistory: /a\n", "line 3: history is there twice"));
  EXPECT_TRUE(fails_with("sinks: [{kind: otlp, every: 1s, every: 2s}]", "line 1: every is there twice"));
  EXPECT_TRUE(fails_with("root: host", "must be absolute"));
  EXPECT_TRUE(fails_with("textfile_directory: texts", "must be absolute"));
  ASSERT_TRUE(read("step_log: /logs/{job}/*.log\nstep_line: ['(?P<step>\\d+) (?P<s>\\d+)']"));
  EXPECT_EQ(config_.options.telemetry.step_logs, std::vector<std::string>{"/logs/{job}/*.log"});
  EXPECT_EQ(config_.options.telemetry.step_lines, std::vector<std::string>{"(?P<step>\\d+) (?P<s>\\d+)"});
  EXPECT_TRUE(fails_with("step_log: [/logs, '/../x']", "has a \"..\""));
  EXPECT_TRUE(fails_with("step_line: '(?P<step>'", "no expression of RE2"));
}

// What nobody asks who he is may not be for other hosts by mistake.
TEST_F(AgentConfigTest, PrometheusIsForThisMachine) {
  for (const char* address : {"127.0.0.1:9464", "127.1.2.3", "[::1]:17", "localhost", "off"}) {
    ASSERT_TRUE(read(fmt::format("prometheus: '{}'", address))) << address;
    EXPECT_TRUE(api::check(config_.doors)) << address;
  }
  for (const char* address : {"0.0.0.0:9464", "10.0.0.1", "[::]:17"}) {
    ASSERT_TRUE(read(fmt::format("prometheus: '{}'", address))) << address;
    EXPECT_EQ(api::check(config_.doors).error().code, Code::invalid) << address;
    ASSERT_TRUE(read(
        fmt::format("prometheus: '{}'\nprometheus_on_all_addresses_without_authentication: true", address)));
    EXPECT_TRUE(api::check(config_.doors)) << address;
    config_ = {};
  }
}

TEST_F(AgentConfigTest, TheExampleIsRead) {
  const Result<void> r = read_agent_config("packaging/agent.yaml", config_);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(config_.options.telemetry.history->path, "/var/lib/spotter/history.db");
  EXPECT_TRUE(api::check(config_.doors));
}

TEST_F(AgentConfigTest, TheExampleOfSinksIsRead) {
  std::ifstream in("packaging/agent.yaml");
  std::string example;
  for (std::string line; std::getline(in, line) && (example.empty() || line.starts_with('#'));) {
    if (!example.empty() || line == "# sinks:") example += line.substr(2) + "\n";
  }
  const Result<void> r = read(example);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(config_.options.telemetry.sinks.size(), 3U);
}

TEST_F(AgentConfigTest, TheExampleOfNotifiersIsRead) {
  std::ifstream in("packaging/agent.yaml");
  std::string example;
  for (std::string line; std::getline(in, line) && (example.empty() || line.starts_with('#'));) {
    if (!example.empty() || line == "# notifiers:") example += line.substr(2) + "\n";
  }
  const Result<void> r = read(example);
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(config_.options.notifiers.size(), 3U);
  EXPECT_EQ(agent::name_of(config_.options.notifiers[0]), "alertmanager");
  EXPECT_EQ(agent::name_of(config_.options.notifiers[1]), "team");
  EXPECT_EQ(config_.options.notifiers[1].settings.at("redact"), "users,log_lines");
  EXPECT_EQ(config_.options.notifiers[2].type, "webhook");
}

TEST_F(AgentConfigTest, NotifiersThatCannotBe) {
  EXPECT_TRUE(fails_with("notifiers: {type: webhook}", "it must be a list"));
  EXPECT_TRUE(fails_with("notifiers: [webhook]", "line 1: a notifier must be a list of KEY: VALUE"));
  EXPECT_TRUE(fails_with("notifiers: [{url: 'http://a'}]", "line 1: a notifier needs a \"type\""));
  EXPECT_TRUE(fails_with("notifiers:\n  - {type: pigeon}", "line 2: there is no notifier \"pigeon\""));
  EXPECT_TRUE(fails_with("notifiers: [{type: webhook, colour: red}]", "has no setting colour"));
  EXPECT_TRUE(fails_with("notifiers: [{type: webhook, url: 'http://a', redact: [faces]}]",
                         "redact of the notifier webhook: \"faces\" is none of names"));
  EXPECT_TRUE(fails_with("notifiers: [{type: webhook, url: {a: b}}]", "line 1: url: it must be a word"));
  EXPECT_TRUE(
      fails_with("notifiers:\n  - {type: webhook, url: 'http://a'}\n  - {type: webhook, url: 'http://b'}",
                 "line 3: another notifier is called webhook, too"));
  EXPECT_TRUE(fails_with("notifiers: [{type: webhook, url: 'http://a', name: ''}]", "no empty text"));
  EXPECT_TRUE(fails_with("notifiers: [{type: webhook, url: 'http://a', min_severity: bad}]",
                         "\"bad\" is none of info, warning and critical"));
  // A URL may be a secret: no error has it.
  const Result<void> r = read("notifiers: [{type: slack, url: 'hooks.slack.com/T0/secret'}]");
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message.find("secret"), std::string::npos) << r.error().message;
}

TEST_F(AgentConfigTest, RoomThatIsLeftToOthers) {
  ASSERT_TRUE(read("respond: {captures: automatic}"));
  EXPECT_EQ(config_.options.respond.least_free, i64{5} << 30);
  ASSERT_TRUE(read("respond: {least_free: 20G}"));
  EXPECT_EQ(config_.options.respond.least_free, i64{20} << 30);
  ASSERT_TRUE(read("respond: {least_free: 0}"));
  EXPECT_EQ(config_.options.respond.least_free, 0);
  EXPECT_TRUE(fails_with("respond: {least_free: much}", "\"much\" is no size"));
}

TEST_F(AgentConfigTest, WhereMessagesLinkTo) {
  ASSERT_TRUE(read("respond: {report_url: 'https://a/#/incidents?id={id}'}"));
  EXPECT_EQ(config_.options.respond.report_url, "https://a/#/incidents?id={id}");
  for (const char* wrong : {"javascript:alert(1)", "a/b", "https://a b"})
    EXPECT_TRUE(fails_with(fmt::format("respond: {{report_url: '{}'}}", wrong), "a URL of http or https"))
        << wrong;
}

TEST_F(AgentConfigTest, OtherHosts) {
  const Result<void> r = read(
      "listen: 10.0.0.1:17\n"
      "tls: {certificate: a.pem, key: /k.pem, client_ca: ca.pem}\n"
      "clients:\n"
      "  - {name: ann, role: admin}\n"
      "  - {name: bob, role: trace, user: root}\n"
      "  - {name: eye, role: view, token_sha256: " +
      std::string(64, 'A') +
      "}\n"
      "rpc_on_all_addresses_without_authentication: true\n");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_TRUE(config_.doors.remote);
  const api::RemoteDoorOptions& remote = *config_.doors.remote;
  EXPECT_EQ(remote.address, "10.0.0.1");
  EXPECT_EQ(remote.port, 17);
  EXPECT_EQ(remote.tls.certificate, "/tmp/a.pem");  // beside the file
  EXPECT_EQ(remote.tls.key, "/k.pem");
  ASSERT_EQ(config_.options.clients.size(), 3u);
  EXPECT_EQ(config_.options.clients[0].role, agent::AccessRole::admin);
  EXPECT_EQ(config_.options.clients[1].only_uid, 0);
  EXPECT_EQ(config_.options.clients[2].token_sha256, std::string(64, 'a'));
  EXPECT_EQ(config_.doors.said.at("rpc_on_all_addresses_without_authentication"), "true");
}

TEST_F(AgentConfigTest, OtherHostsComeInSafelyOrNotAtAll) {
  const std::string listen = "listen: 0.0.0.0:1779\n", tls = "tls: {certificate: a, key: b}\n",
                    client = "clients: [{name: ann, role: view}]\n";
  EXPECT_TRUE(fails_with(listen, "needs \"tls\""));
  EXPECT_TRUE(fails_with(listen + tls, "needs \"clients\""));
  EXPECT_TRUE(fails_with(listen + tls + "clients: []\n", "needs \"clients\""));
  EXPECT_TRUE(fails_with(listen + tls + client, "ann has no token"));
  EXPECT_TRUE(fails_with(listen + "tls: {certificate: a}\n" + client, "needs \"tls\""));
  EXPECT_TRUE(fails_with("clients: [{role: view}]\n", "line 1: a client needs a name"));
  EXPECT_TRUE(fails_with("clients: [{name: a}]\n", "needs a role"));
  EXPECT_TRUE(fails_with("clients: [{name: a, role: root}]\n", "none of view, trace, admin"));
  EXPECT_TRUE(fails_with("clients: [{name: a, role: view, user: no-such-user}]\n", "no user no-such-user"));
  EXPECT_TRUE(fails_with("clients: [{name: a, role: view, token_sha256: 12}]\n", "64 hexadecimal digits"));
  EXPECT_TRUE(fails_with("clients: {name: a}\n", "must be a list"));
  EXPECT_TRUE(fails_with("\ntls:\n  certifcate: a\n", "line 3: there is no key certifcate"));
  EXPECT_TRUE(fails_with("rpc_on_all_addresses_without_authentication: yes\n", "neither true nor false"));
  config_ = {};
  EXPECT_TRUE(read(tls + client));  // nobody listens
  EXPECT_FALSE(config_.doors.remote);
}

TEST_F(AgentConfigTest, WhatItDoesNotSayStays) {
  config_.doors.api_socket = "/before";
  for (const char* text : {"", "# nothing\n", "---\n", "log_level: debug\n"}) EXPECT_TRUE(read(text)) << text;
  EXPECT_EQ(config_.doors.api_socket, "/before");
  EXPECT_TRUE(config_.doors.said.empty());
  for (const char* text : {"rpc_port: \"off\"\n", "rpc_port: off\n"}) {
    config_.doors.said = {{"rpc_port", "17"}};
    EXPECT_TRUE(read(text));
    EXPECT_EQ(config_.doors.said.at("rpc_port"), "off");
  }
}

TEST_F(AgentConfigTest, WhatHasChanged) {
  const auto config = [&](std::string_view text) {
    config_ = {};
    EXPECT_TRUE(read(text)) << text;
    return config_;
  };
  const AgentConfig before = config("log_level: info\nper_core: true\nrpc_port: 17\nhistory: {size: 64M}\n");
  EXPECT_TRUE(changed_keys(before, before).empty());
  EXPECT_TRUE(
      changed_keys(
          before,
          config("# a word\nrpc_port:   17\nper_core: true\nhistory:\n    {size: 64M}\nclients: []\n"))
          .empty());
  EXPECT_EQ(
      changed_keys(before, config("log_level: error\nper_core: false\nhistory: {size: 65M}\ncollect: cpu\n")),
      (std::vector<std::string>{"collect", "history", "per_core", "rpc_port"}));
}

TEST_F(AgentConfigTest, WhatIsWrongIsToldWithItsLine) {
  EXPECT_TRUE(fails_with("log_level: info\nrcp_port: 1\n", "line 2: there is no key rcp_port"));
  EXPECT_TRUE(fails_with("\nrpc_port: 65536\n", "line 2: rpc_port: "));
  EXPECT_TRUE(fails_with("rpc_port: [1]\n", "line 1"));
  EXPECT_TRUE(fails_with("log_level: loud\n", "no log level"));
  EXPECT_TRUE(fails_with("log_format: xml\n", "neither text nor json"));
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
  const Setting* port = api::find_door_setting("rpc_port");
  for (const char* word : {"0", "65535", "off"}) EXPECT_TRUE(port->check(word)) << word;
  for (const char* word : {"", "65536", "-1", "on", "1.5"}) EXPECT_FALSE(port->check(word)) << word;
}

}  // namespace
}  // namespace spotter::app
