// Who may do what. A local peer is the user that the kernel says it is. The agent's own user and root may do
// everything; anybody else may see the processes and trace those that are his own.
#pragma once
#include <span>
#include <string>

#include "base/result.h"
#include "kineto/registry.h"

namespace spotter::api {

struct Peer {
  i64 uid = -1;      // -1: not known, who may do nothing
  std::string from;  // how it came, for the audit log: "unix, process 12"
};

class Access {
 public:
  // `directories`: where traces may be written to.
  explicit Access(std::vector<std::string> directories);

  bool is_admin(const Peer& peer) const;
  Result<void> may_trace(const Peer& peer, const kineto::Process& process) const;
  // `path`: of a directory or a file as the process will name it. It must be absolute, have no ".." and lie
  // in one of the directories; a user may also name another one for his own processes, since they could write
  // there anyhow.
  Result<void> may_write(const Peer& peer, const std::string& path) const;

 private:
  std::vector<std::string> directories_;
  i64 own_uid_;
};

}  // namespace spotter::api
