// An agent under measurement, and the bare loops that it is compared with. Each is a process of its own that
// ends with the object that stands for it.
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace spotter::bench {

// What a process has used since it began.
struct Usage {
  Ns cpu = 0;        // processor time, of all its threads that there have been
  Ns waiting = 0;    // its present threads could have run, but the processors had others to do
  i64 wake_ups = 0;  // of its present threads
};

class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child();  // ends it
  Child(const bench::Child&) = delete;
  bench::Child& operator=(const bench::Child&) = delete;
  pid_t pid() const { return pid_; }
  bool runs() const;
  bench::Usage usage() const;
  i64 kilobytes(std::string_view what) const;  // a line of /proc/PID/status: "VmRSS", "RssAnon" ...

 private:
  pid_t pid_;
};

// fork() for a child that ends when this process does.
pid_t fork_bound();

// A temporary folder, removed with what is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class AgentProcess {
 public:
  // Waits until its doors are open.
  static Result<std::unique_ptr<bench::AgentProcess>> start(const std::string& program,
                                                            const std::string& config = "collect: off\n");

  const std::string& ipc_directory() const { return folder_.path(); }
  u16 rpc_port() const { return rpc_port_; }
  const bench::Child& child() const { return *child_; }

  // The body of the answer. Errors: any other status than 200 (internal).
  Result<std::string> http(const std::string& method, const std::string& target,
                           const std::string& body = {}) const;
  // A capture of all processes: its id.
  Result<std::string> capture_all() const;
  // How many of its processes have written their trace.
  Result<i64> written(const std::string& capture) const;
  // The polls that it has taken.
  Result<i64> polls() const;

 private:
  AgentProcess() = default;
  bench::Folder folder_;
  u16 rpc_port_ = 0;
  std::unique_ptr<bench::Child> child_;
};

// The least that a server can do: receive, answer. Registrations get an answer, polls get none.
std::unique_ptr<bench::Child> bare_datagram_loop(const std::string& directory);
// Accept, read a framed request, write a framed answer, close. `port` is where it listens.
std::unique_ptr<bench::Child> bare_rpc_loop(u16& port);

// `count` requests in series, one connection each. Errors: internal (a wrong answer).
Result<Ns> ask_rpc(u16 port, int count);

}  // namespace spotter::bench
