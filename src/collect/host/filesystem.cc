// filesystem: how full the file systems are that hold data. /proc/*/mountinfo, statvfs(3).
#include "collect/host/file_system_usage.h"
#include "collect/host/mounts.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/process/namespaces.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kColumns[] = {
    {"mount_point", Type::text, Unit::none, Role::key, "Where it is mounted."},
    {"device", Type::text, Unit::none, Role::detail,
     "What is mounted: a block device, or a server and its path."},
    {"type", Type::text, Unit::none, Role::detail, "Kind of file system."},
    {"reachable", Type::flag, Unit::none, Role::value,
     "Whether it answers within a second; null where it cannot be seen from here."},
    {"read_only", Type::flag, Unit::none, Role::value, "Whether nothing can be written to it."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size."},
    {"free_bytes", Type::integer, Unit::bytes, Role::value, "Free."},
    {"available_bytes", Type::integer, Unit::bytes, Role::value, "Free for those who are not root."},
    {"files", Type::integer, Unit::count, Role::value, "Files that it can hold (inodes)."},
    {"files_free", Type::integer, Unit::count, Role::value, "Files that can still be made."},
};
constexpr TableKind kTables[] = {
    {"filesystem", "/proc/self/mountinfo", "A mounted file system that holds data.", kColumns}};

// The kernel tells of new mounts (poll(2)), but not of a file system that becomes read-only.
constexpr Ns kReadAgain = 10 * kSecond - kSecond / 2;

class FileSystem : public Collector {
 public:
  explicit FileSystem(const Host& host)
      : root_(host.root), now_(host.steady_now), mountinfo_(process_of_namespaces(host) + "/mountinfo") {}

  Result<std::vector<Table>> sample() override {
    if (read_ == 0 || now_() - read_ >= kReadAgain) {
      TRY_ASSIGN(const std::string_view text, mountinfo_.read());
      mounts_ = parse_mounts(text);
      read_ = now_();
    }
    const std::vector<UsageAnswer> answers = asker_.ask(root_, mounts_);
    std::vector<Table> tables;
    Table& table = tables.emplace_back("filesystem", kColumns);
    for (size_t i = 0; i < mounts_.size(); ++i) {
      const Mount& mount = mounts_[i];
      const auto& usage = answers[i].usage;
      const auto told = [&](auto member) { return usage ? Value((*usage).*member) : Value(); };
      table.append({std::string_view(mount.mount_point), or_null(std::string_view(mount.device)),
                    std::string_view(mount.type), or_null(answers[i].is_reachable), mount.read_only,
                    told(&Usage::size_bytes), told(&Usage::free_bytes), told(&Usage::available_bytes),
                    usage ? or_null(usage->files) : Value(), usage ? or_null(usage->files_free) : Value()});
    }
    return tables;
  }

 private:
  std::string root_;
  Ns (*now_)();
  KernelFile mountinfo_;
  std::vector<Mount> mounts_;
  Ns read_ = 0;
  UsageAsker asker_{kSecond};
};

}  // namespace

const CollectorKind kFileSystem = {
    .name = "filesystem",
    .help = "How full the file systems are that hold data.",
    .period = 10 * kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<FileSystem>(s.host);
    },
};

}  // namespace spotter::collect
