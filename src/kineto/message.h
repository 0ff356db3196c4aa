// The datagrams between a training process (libkineto's daemon client) and the daemon. Every datagram is a
// header of 40 bytes (u64 size of the body; a tag of 32 bytes, padded with NUL) and a body, in the machine's
// byte order with C's natural layout:
//
//   req   process -> daemon  i32 type bits, i32 n, i64 job id, i32 pids[n]    "have you a config for me?"
//   req   daemon -> process  the text of a config, without a NUL at its end; empty: nothing to do
//   ctxt  process -> daemon  i32 gpu, i32 pid, i64 job id                     registration, no longer sent
//   ctxt  daemon -> process  i32 number of processes of that job on that GPU
//
// A client trusts a reply's size field and its tag is ignored; a wrong size makes it deaf or garbles its
// config. So replies are made here only, and nothing else may send to a client.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::kineto {

// Names of the sockets. Abstract names end in a NUL that belongs to the name.
inline constexpr std::string_view kDaemonName = "dynolog", kClientPrefix = "dynoconfigclient";

inline constexpr size_t kHeaderBytes = 40;
inline constexpr size_t kMaxPids = 64;             // libkineto sends 11 at most
inline constexpr size_t kMaxConfigBytes = 60'000;  // what a datagram may carry with room to spare

struct Poll {
  i32 type = 0;    // bits: 1 counters, 2 traces
  i64 job_id = 0;  // SLURM_JOB_ID, else 0
  std::vector<i32>
      pids;  // as the process sees them: its own, then its ancestors'; empty from PyTorch 2.0 as pid 1

  bool takes_trace() const { return (type & 2) != 0; }  // false while it captures
};

struct Registration {
  i32 gpu = 0, pid = 0;
  i64 job_id = 0;
};

using Message = std::variant<Poll, Registration>;

// What a process sent. An error (invalid) says what is wrong with the datagram, without its contents.
Result<Message> decode(std::span<const u8> datagram);

// The answer to a Poll. CHECKs that the config is not too long.
std::string encode_config(std::string_view config);
// The answer to a Registration.
std::string encode_count(i32 processes);

// What a process sends; for simulated ones.
std::string encode(const Message& message);

}  // namespace spotter::kineto
