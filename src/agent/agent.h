// The agent of a host: what comes in by its doors (datagrams of training processes, Dynolog's RPC, HTTP on a
// UNIX socket and, by TLS, for other hosts) meets the registry of processes and the captures under way. All
// on one loop's thread.
//
//   process --poll--> Datagrams -> Registry -> Captures --request--> process
//   dyno ------------> FramedServer -> dynolog_rpc ---^
//   spotter ---------> HttpServers --> routes --------^
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/access.h"
#include "agent/analysis_process.h"
#include "agent/telemetry.h"
#include "base/host.h"
#include "base/log.h"
#include "base/result.h"
#include "capture/captures.h"
#include "kineto/registry.h"
#include "net/datagrams.h"
#include "net/framed_server.h"
#include "net/http.h"
#include "net/loop.h"

namespace spotter::agent {

// The API for other hosts.
struct RemoteDoor {
  std::string address = "0.0.0.0";
  u16 port = 0;  // 0: any free one
  net::TlsFiles tls;
  std::vector<ClientRule> clients;
};

// The page /metrics alone, for whoever may connect.
struct MetricsDoor {
  std::string address = "127.0.0.1";
  u16 port = 0;  // 0: any free one
};

struct AgentOptions {
  std::string ipc_directory;  // of the sockets of training processes; empty: the abstract namespace
  std::string api_socket;
  std::optional<u16> rpc_port = 1778;  // of Dynolog's RPC; 0: any free one; nullopt: none
  bool rpc_on_all_addresses_without_authentication = false;
  std::optional<RemoteDoor> remote;
  std::vector<std::string> output_directories = {"/tmp"};
  TelemetryOptions telemetry = {};  // nothing is measured without collectors
  std::optional<MetricsDoor> prometheus;
};

// What has gone through a door.
struct Counters {
  i64 polls = 0, requests_sent = 0, sends_failed = 0, bad_datagrams = 0, rpc_requests = 0, http_requests = 0;
};

class Agent {
 public:
  // Opens all doors or none. Errors: denied, io, with the name of the door.
  static Result<std::unique_ptr<Agent>> open(net::Loop& loop, AgentOptions options, Host host);
  ~Agent();

  // For the doors.
  capture::Times now() const;
  Result<std::string> begin_capture(const Peer& peer, const capture::Request& request, std::string_view what);
  kineto::Registry& registry();
  capture::Captures& captures() { return captures_; }
  AnalysisProcesses& analyses() { return analyses_; }
  const Access& access() const { return access_; }
  Telemetry& telemetry() { return *telemetry_; }
  const Telemetry& telemetry() const { return *telemetry_; }
  const AgentOptions& options() const { return options_; }
  const Counters& counters() const { return counters_; }
  const Host& host() const { return host_; }
  const std::string& host_name() const { return host_name_; }
  Ns started() const { return started_; }
  size_t connections() const;
  i64 closed_for_room() const;  // connections, of all servers
  u16 prometheus_port() const { return prometheus_ ? prometheus_->port() : u16{0}; }
  u16 remote_port() const { return remote_ ? remote_->port() : u16{0}; }
  void refresh_processes();  // some of what changes while they run
  void set_access(std::vector<std::string> output_directories, std::vector<ClientRule> clients) {
    access_ = Access(std::move(output_directories), std::move(clients));
  }
  // For the log: `what` somebody may not do.
  void refused(const Peer& peer, std::string_view what, const Error& why);
  // Ends it for all processes. Errors: not_found, denied.
  Result<void> end_capture(const Peer& peer, const std::string& id);
  // Leaves the GPUs' profiling counters to somebody else for this time; 0: no longer. Errors: denied.
  Result<void> pause_profiling(const Peer& peer, Ns duration);
  // Acts when the capture has a revision beyond `seen` or is over, or at the end of `patience`.
  void when_changed(const std::string& id, i64 seen, Ns patience, std::function<void()> act);

 private:
  Agent(net::Loop& loop, AgentOptions options, Host host);
  Result<void> open_rpc();
  Result<void> open_metrics_door();
  void receive(const net::Datagram& datagram);
  void arrived(const net::Datagram& datagram, const kineto::Poll& poll);
  void meet_newcomers();
  void meet_one();
  void poll(const net::Datagram& datagram, const kineto::Poll& poll);
  bool watch(i64 pid);  // false: it is not, and no longer registered
  void bad(const net::Datagram& datagram, std::string_view why);
  void keep_ticking();
  void leave_profiling_alone();  // DCGM's, while captures are under way
  void changed(const capture::Capture& capture);

  struct Waiter;
  // A poll of a process that is not registered, or has another name since.
  struct Newcomer {
    i64 uid;
    std::string address;
    kineto::Poll poll;
  };
  net::Loop& loop_;
  AgentOptions options_;
  Host host_;
  std::string host_name_;
  Ns started_;
  Access access_;
  kineto::Registry registry_;
  capture::Captures captures_;
  AnalysisProcesses analyses_;
  std::unique_ptr<Telemetry> telemetry_;
  Counters counters_;
  LogLimit bad_datagrams_log_, refused_polls_log_, refused_log_;
  net::Timer tick_, meet_;
  bool ticking_ = false;
  std::map<i64, std::unique_ptr<net::ProcessWatch>> watches_;  // by pid
  std::map<i64, Newcomer> newcomers_;                          // by pid
  i64 last_met_ = 0;
  Ns meet_pause_ = 0;
  bool meeting_ = false;
  std::map<u64, std::unique_ptr<Waiter>> waiters_;
  u64 next_waiter_ = 0;
  std::map<std::pair<i64, i32>, std::map<i64, bool>> contexts_;  // (job, GPU) -> pids, of `ctxt` messages
  std::unique_ptr<net::Datagrams> datagrams_;
  std::unique_ptr<net::HttpServer> http_, remote_, prometheus_;
  std::unique_ptr<net::FramedServer> rpc_;
};

}  // namespace spotter::agent
