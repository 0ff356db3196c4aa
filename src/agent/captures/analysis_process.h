// Analyses of files that processes of this host have written, each by a process of its own: `spotter
// analyze-part`, as the user whose files they are (a trace may be made to harm its reader, and so gets the
// rights of who made it and no more), and out of the way of the training. A few run at one time, and not all
// of them for one who asks.
//
// An agent that is not root asks the helper for readers that are not itself (helper.h).
//
// The files are opened here, where the process that wrote them sees them, and handed over open: no name has a
// meaning to the one that reads.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "agent/shares.h"
#include "base/system/host.h"
#include "base/time.h"
#include "capture/captures.h"
#include "net/child.h"

namespace spotter::agent {

struct AnalysisLimits {
  std::string program = "/proc/self/exe";
  std::string helper = {};  // the socket of one who may become other users (helper.h); empty: there is none
  Ns time = 2 * kMinute;
  size_t output_bytes = 0;  // 0: what file_results.h takes
  size_t memory_bytes = size_t{4} << 30;

  // With numbers for what is left open, and as they can be kept: sanitizers take terabytes of address space.
  AnalysisLimits kept() const;
};

class AnalysisProcesses {
 public:
  static constexpr size_t kMost = 3, kMostFiles = 512;

  AnalysisProcesses(net::Loop& loop, Host host, std::string host_name, const AnalysisLimits& limits = {});
  ~AnalysisProcesses();  // ends those that run

  // `who` asks. `written`: receipts of one user's processes. `request`: analyze_request.h. `done` gets the
  // text that file_results.h reads, in which files are called HOST:PATH. Errors: busy; denied (the files are
  // not all one user's, or not the process's user's, or this process may not become that user); not_found (a
  // file has gone); invalid (too many); io.
  Result<void> start(const std::string& who, const std::vector<capture::Receipt>& written,
                     const std::string& request, std::function<void(Result<std::string>)> done);

 private:
  net::Loop& loop_;
  Host host_;
  std::string host_name_;
  AnalysisLimits limits_;
  Shares shares_{kMost, "analyses"};
  std::list<std::unique_ptr<net::Child>> running_;
};

}  // namespace spotter::agent
