// Who may do what.
//
//   view    sees the status, the processes, the receipts of captures, the samples, the history, and incidents
//           with their reports: who is limited to one user's processes, no reports of others'
//   trace   also begins captures and has their files analysed: of all processes, or of one user's
//   admin   also ends captures that somebody else began
//
// A peer on this host is the user that the kernel says it is: the agent's own user and root are admins,
// anybody else may trace the processes that are his own. All users that a user namespace does not map look
// like one: they are nobody, and so are their processes (base/system/user_ids.h). One on another host is a
// client of the configuration: by the name in its certificate, or by its token. A part of the agent that asks
// by itself is nobody of these, and comes by no socket.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/user_ids.h"
#include "kineto/registry.h"
#include "net/http/http.h"

namespace spotter::agent {

enum class AccessRole : u8 { nobody, view, trace, admin };
std::optional<AccessRole> role_of(std::string_view name);  // "view", "trace" or "admin"

struct Peer {
  AccessRole role = AccessRole::nobody;
  std::optional<i64> only_uid;  // whose processes it may trace; nullopt: everybody's
  bool is_local = false;
  std::string name;  // "user 1000", "client alice"
  std::string from;  // how it came, for the audit log: "unix, process 12"
};

// A client on another host.
struct ClientRule {
  std::string name;  // common name of its certificate, unless it has a token
  AccessRole role = AccessRole::nobody;
  std::optional<i64> only_uid;
  std::string token_sha256;  // hexadecimal, in lower case; empty: it shows a certificate
};

class Access {
 public:
  // `directories`: where traces may be written to.
  Access(std::vector<std::string> directories, std::vector<ClientRule> clients,
         std::optional<i64> unmapped = unmapped_uid());

  Peer local(i64 uid, std::string from) const;  // -1: not known; who is nobody may do nothing
  Peer remote(const net::StreamPeer& peer, std::string_view authorization) const;
  // What this agent asks of itself: it may trace every process. `name`: of the part, for the log.
  static Peer own(std::string_view name);

  Result<void> may(const Peer& peer, AccessRole role) const;
  Result<void> may_trace(const Peer& peer, const kineto::Process& process) const;
  // `path`: of a directory or a file as the process will name it. It must be absolute, have no ".." and lie
  // in one of the directories; a user of this host may also name another one for his own processes, since
  // they could write there anyhow.
  Result<void> may_write(const Peer& peer, const std::string& path) const;
  const std::vector<std::string>& directories() const { return directories_; }
  // Of traces whose request names none.
  std::string default_directory() const { return directories_.empty() ? "/tmp" : directories_.front(); }

 private:
  std::vector<std::string> directories_;
  std::vector<ClientRule> clients_;
  i64 own_uid_;
  std::optional<i64> unmapped_;
};

}  // namespace spotter::agent
