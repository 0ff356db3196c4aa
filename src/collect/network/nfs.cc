// nfs: what the NFS client asked its servers for, and how long they took. /proc/net/rpc/nfs,
// /proc/*/mountstats. Nobody is asked: the kernel answers from memory, even while a server is away.
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/saturated.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/host/mounts.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/network/mount_stats.h"
#include "collect/process/namespaces.h"
#include "collect/values.h"
#include "collect/wrapped_counter.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostOperations = 1000;

constexpr Field count(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help};
}
constexpr Field bytes(const char* name, const char* help) {
  return {name, Type::integer, Unit::bytes, Role::counter, help};
}
constexpr Field time(const char* name, const char* help) {
  return {name, Type::integer, Unit::ns, Role::counter, help};
}
constexpr Field kMountPoint = {"mount_point", Type::text, Unit::none, Role::key, "Where it is mounted."};
constexpr Field kTransmissionsAgain =
    count("retransmissions", "Times that a request was sent again since no answer came.");
constexpr Field kMajorTimeouts =
    count("major_timeouts", "Requests that were sent again in vain: the server does not answer.");
constexpr Field kQueueTime = time("queue_time_ns", "Time of all operations until they were sent.");
constexpr Field kResponseTime =
    time("response_time_ns", "Time of all operations from when they were sent until the answer came.");
constexpr Field kExecuteTime =
    time("execute_time_ns", "Time of all operations from their beginning to their end.");

constexpr Field kClientColumns[] = {
    count("requests", "Requests to all servers."),
    count("retransmissions", "Requests that were sent again."),
    count("authentication_refreshes", "Credentials that were made anew."),
};
constexpr Field kMountColumns[] = {
    kMountPoint,
    {"device", Type::text, Unit::none, Role::detail, "Server and its path."},
    {"version", Type::text, Unit::none, Role::detail, "Version of NFS."},
    {"protocol", Type::text, Unit::none, Role::detail, "What it goes by: tcp, rdma."},
    {"age_ns", Type::integer, Unit::ns, Role::value, "Time since it was mounted."},
    bytes("read_bytes", "Read by programs, from the cache or the server."),
    bytes("write_bytes", "Written by programs."),
    bytes("direct_read_bytes", "Read by programs past the cache (O_DIRECT)."),
    bytes("direct_write_bytes", "Written by programs past the cache (O_DIRECT)."),
    bytes("server_read_bytes", "Read from the server."),
    bytes("server_write_bytes", "Written to the server."),
    count("connects", "Connections to the server that were made; more than a few mean that they break."),
    count("operations", "Operations of all kinds."),
    kTransmissionsAgain,
    kMajorTimeouts,
    kQueueTime,
    kResponseTime,
    kExecuteTime,
};
constexpr Field kOperationColumns[] = {
    kMountPoint,
    {"operation", Type::text, Unit::none, Role::key, "Kind of operation: READ, GETATTR."},
    count("operations", "Operations that were done."),
    kTransmissionsAgain,
    kMajorTimeouts,
    count("errors", "Operations that ended with an error."),
    bytes("sent_bytes", "Sent for them."),
    bytes("received_bytes", "Received for them."),
    kQueueTime,
    kResponseTime,
    kExecuteTime,
};
constexpr TableKind kTables[] = {
    {"nfs_client", "/proc/net/rpc/nfs", "The NFS client of this machine.", kClientColumns},
    {"nfs_mount", "/proc/self/mountstats", "A mounted file system of an NFS server.", kMountColumns},
    {"nfs_operation", "/proc/self/mountstats", "A kind of operation on one of them.", kOperationColumns},
};

i64 again(const NfsOperation& operation) {
  return std::max<i64>(operation.transmissions - operation.operations, 0);
}

class Nfs : public Collector {
 public:
  static Result<std::unique_ptr<Collector>> open(const Surroundings& s) {
    auto nfs = std::make_unique<Nfs>(process_of_namespaces(s.host));
    if (!nfs->client_.read() && nfs->mounts().empty())
      return fail(Code::not_found, "this machine has no NFS client: {} is not there", nfs->client_.path());
    return nfs;
  }

  explicit Nfs(const std::string& process)
      : client_(process + "/net/rpc/nfs"),
        mount_stats_(process + "/mountstats"),
        mountinfo_(process + "/mountinfo") {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    for (const TableKind& kind : kTables) tables.emplace_back(kind.name, kind.columns);
    append_client(tables[0]);
    i64 left_out = 0;
    for (const NfsMount& mount : mounts()) {
      append_mount(tables[1], mount);
      for (const NfsOperation& operation : mount.operations) {
        if (tables[2].rows() < kMostOperations)
          append_operation(tables[2], mount, operation);
        else
          ++left_out;
      }
    }
    if (left_out > 0)
      tables[2].notes.add("operations_left_out", Severity::loss,
                          fmt::format("rows beyond the first {} were left out", kMostOperations), -1,
                          left_out);
    std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
    return tables;
  }

 private:
  // Those of the collector filesystem: a file system that is mounted at several places counts once.
  std::vector<NfsMount> mounts() {
    std::vector<NfsMount> mounts = parse_mount_stats(mount_stats_.read().value_or(""));
    if (mounts.empty()) return mounts;
    std::set<std::string> once;
    for (Mount& mount : parse_mounts(mountinfo_.read().value_or("")))
      once.insert(std::move(mount.mount_point));
    std::erase_if(mounts, [&](const NfsMount& mount) { return !once.contains(mount.mount_point); });
    return mounts;
  }

  // "rpc REQUESTS RETRANSMISSIONS REFRESHES", of 32 bits each.
  void append_client(Table& table) {
    std::string_view text = whole_lines(client_.read().value_or(""));
    while (!text.empty()) {
      std::string_view line = next_line(text);
      if (next_word(line) != "rpc") continue;
      std::array<Value, std::size(kClientColumns)> row;
      for (size_t i = 0; i < row.size(); ++i) {
        if (const auto number = scaled(to_integer(next_word(line)), 1))
          row[i] = totals_[i].update(*number, true);
      }
      return table.append(row);
    }
  }

  static void append_mount(Table& table, const NfsMount& mount) {
    NfsOperation all;
    i64 sent_again = 0;
    for (const NfsOperation& one : mount.operations) {
      all.operations = add_saturated(all.operations, one.operations);
      sent_again = add_saturated(sent_again, again(one));
      all.major_timeouts = add_saturated(all.major_timeouts, one.major_timeouts);
      all.queue_ns = add_saturated(all.queue_ns, one.queue_ns);
      all.response_ns = add_saturated(all.response_ns, one.response_ns);
      all.execute_ns = add_saturated(all.execute_ns, one.execute_ns);
    }
    table.append({std::string_view(mount.mount_point), or_null(mount.device), or_null(mount.version),
                  or_null(mount.protocol), or_null(mount.age_ns), or_null(mount.read_bytes),
                  or_null(mount.write_bytes), or_null(mount.direct_read_bytes),
                  or_null(mount.direct_write_bytes), or_null(mount.server_read_bytes),
                  or_null(mount.server_write_bytes), or_null(mount.connects), all.operations, sent_again,
                  all.major_timeouts, all.queue_ns, all.response_ns, all.execute_ns});
  }

  static void append_operation(Table& table, const NfsMount& mount, const NfsOperation& one) {
    table.append({std::string_view(mount.mount_point), std::string_view(one.name), one.operations, again(one),
                  one.major_timeouts, or_null(one.errors), one.sent_bytes, one.received_bytes, one.queue_ns,
                  one.response_ns, one.execute_ns});
  }

  KernelFile client_, mount_stats_, mountinfo_;
  std::array<WrappedCounter, std::size(kClientColumns)> totals_;
};

}  // namespace

const CollectorKind kNfs = {
    .name = "nfs",
    .help = "What the NFS client asked its servers for, and how long they took.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = Nfs::open,
};

}  // namespace spotter::collect
