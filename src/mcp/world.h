// World: what answers are made from, behind the two things that tools ask: agents, and traces that can be
// analysed. Who starts the server says what there is: agents by their API, the agent itself, folders.
//
// All is called from worker threads, several at a time, and may take its time.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "base/result.h"
#include "diagnose/diff.h"
#include "net/http/http.h"
#include "net/http/http_client.h"
#include "table/table.h"

namespace spotter::mcp {

// For who waits for what takes long.
struct Patience {
  const std::atomic<bool>* cancelled = nullptr;
  std::function<void(i64 done, i64 total)> progress = {};  // any thread
};

class Agents {
 public:
  virtual ~Agents() = default;
  virtual std::vector<std::string> names() const = 0;  // of the hosts; empty for this one
  // The answer of each: questions by the place of its name. Each has `longest`. Errors: cancelled, too.
  virtual std::vector<Result<net::HttpAnswer>> ask(std::span<const size_t> which,
                                                   std::span<const net::HttpQuestion> questions, Ns longest,
                                                   const Patience& patience) const = 0;
  // How a command on a terminal is told to ask the same: "--socket /run/spotter/agent.sock".
  virtual std::string options() const = 0;
};

// Traces of one recording of a job: what a capture of agents has written, or a folder.
struct Capture {
  std::string id = {};                  // [A-Za-z0-9._-]{1,128}
  std::string job = {};                 // text from the job; empty: not known
  std::string state = {};               // "written", or how far it is
  std::vector<std::string> paths = {};  // what `spotter analyze` is given
  std::string host = {};                // where these are; empty: here
  std::optional<Ns> at = {};            // Unix time of it
  i64 files = 0, bytes = 0;             // 0 bytes: not known
  std::string version = {};             // another one when its files are
};

// A table of a capture.
struct WantedTable {
  const Analysis* analysis = nullptr;  // nullptr: the findings
  ParamSettings params = {};
};

class Traces {
 public:
  virtual ~Traces() = default;
  virtual Result<std::vector<Capture>> captures(const Patience& patience) = 0;  // the newest first
  // How a command on a terminal is told to look at the same: "--socket /run/spotter/agent.sock", "runs/".
  virtual std::string options() const = 0;
  // The table with its notes and those of the traces. Errors: those of diagnose::run(), and of agents.
  virtual Result<Table> table(const Capture& capture, const WantedTable& wanted,
                              const Patience& patience) = 0;
  // Whether the table `findings` is there already.
  virtual bool has_findings(const Capture& capture) = 0;
  // Name by name. Errors: those of diagnose::diff(); unsupported where the files are on other hosts.
  virtual Result<std::shared_ptr<const diagnose::Diff>> diff(const Capture& before, const Capture& after,
                                                             const Patience& patience) = 0;
};

struct World {
  std::unique_ptr<Agents> agents = {};  // none: there are none
  std::unique_ptr<Traces> traces = {};  // always there
  bool may_capture = false;             // whether the tool that begins captures is offered
};

}  // namespace spotter::mcp
