// AskRas: asks NCCL what the ranks of a job have launched (wire/nccl_ras.h), by a process of the job on this
// host, whichever answers. An answer is gathered from all ranks, so it is asked for on suspicion only, and
// no more often than may_ask() says. The loop's thread.
#pragma once
#include <functional>
#include <string>

#include "base/result.h"
#include "base/system/host.h"
#include "net/loop.h"
#include "net/loopback_question.h"
#include "wire/nccl_ras.h"

namespace spotter::agent {

inline constexpr const char* kUsualRasAddress = "localhost:28028";
// As NCCL_RAS_ADDR of a process says, or the usual one.
std::string ras_address_of(const Host& host, i64 pid);

class AskRas {
 public:
  explicit AskRas(net::Loop& loop) : loop_(loop), question_(loop) {}

  // After the last answer ten seconds, or twenty times as long as it took; never while one is awaited.
  bool may_ask(Ns now) const;

  // `uid`: whose job it is; another user who listens there is not asked. The port is one of this agent's own
  // network namespace. `done` is called later, unless this goes before. Errors: busy (it may not be asked
  // yet), invalid (no such address, or no answer of NCCL's), denied (not this machine, or not that user's),
  // not_found (nobody listens there: NCCL is older than 2.24, or has it switched off), io.
  using Done = std::function<void(Result<wire::RasAnswer>)>;
  Result<void> ask(const std::string& address, i64 uid, Done done);

 private:
  net::Loop& loop_;
  bool is_asking_ = false;
  Ns began_ = 0, next_ = 0;
  net::LoopbackQuestion question_;
};

}  // namespace spotter::agent
