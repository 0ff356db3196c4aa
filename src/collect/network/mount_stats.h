// What the kernel counts for each mount of NFS: /proc/*/mountstats; fs/nfs/super.c (nfs_show_stats),
// net/sunrpc/stats.c and xprtsock.c have its lines.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter::collect {

struct NfsOperation {
  std::string name;  // READ, GETATTR; a number where the kernel has no name
  i64 operations = 0;
  i64 transmissions = 0;  // each operation has one at least
  i64 major_timeouts = 0;
  i64 sent_bytes = 0, received_bytes = 0;
  Ns queue_ns = 0, response_ns = 0, execute_ns = 0;
  std::optional<i64> errors;  // since Linux 5.3
};

struct NfsMount {
  std::string mount_point, device;  // device: "server:/path"
  std::string type;                 // nfs or nfs4
  std::string version, protocol;    // of its options: "4.2", "tcp"
  std::optional<Ns> age_ns;
  // What programs read and wrote, then past the cache (O_DIRECT), and what came from and went to the server.
  std::optional<i64> read_bytes, write_bytes, direct_read_bytes, direct_write_bytes, server_read_bytes,
      server_write_bytes;
  std::optional<i64> connects;           // of all its connections together
  std::vector<NfsOperation> operations;  // those that there were
};

// In their order; of a mount point with several, the last one, which covers the others. A line that is cut
// off or garbled is left out.
std::vector<NfsMount> parse_mount_stats(std::string_view text);

}  // namespace spotter::collect
