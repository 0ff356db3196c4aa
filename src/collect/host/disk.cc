// disk: what was read from and written to block devices, and how long that took. /proc/diskstats,
// Documentation/admin-guide/iostats.rst; /sys/block, Documentation/ABI/stable/sysfs-block.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text/words.h"
#include "base/time.h"
#include "collect/facts.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/values.h"
#include "collect/wrapped_counter.h"

namespace spotter::collect {
namespace {

// Devices that are no disks of their own: files, memory, removable media.
constexpr std::string_view kLeftOut[] = {"loop", "ram", "zram", "fd", "sr"};

constexpr i64 kSector = 512;  // in these files, whatever the device has

constexpr Field kColumns[] = {
    {"device", Type::text, Unit::none, Role::key, "Block device, without partitions."},
    {"model", Type::text, Unit::none, Role::detail, "As the device says."},
    {"mapper_name", Type::text, Unit::none, Role::detail,
     "Name of a device of the device mapper (LVM, dm-crypt)."},
    {"rotational", Type::flag, Unit::none, Role::detail, "Whether it is a disk that turns."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size."},
    {"in_flight", Type::integer, Unit::count, Role::value, "Requests that the device works on."},
    {"reads", Type::integer, Unit::count, Role::counter, "Reads that were done."},
    {"reads_merged", Type::integer, Unit::count, Role::counter, "Reads that became part of another one."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Read."},
    {"read_time_ns", Type::integer, Unit::ns, Role::counter, "Time of all reads, one by one."},
    {"writes", Type::integer, Unit::count, Role::counter, "Writes that were done."},
    {"writes_merged", Type::integer, Unit::count, Role::counter, "Writes that became part of another one."},
    {"write_bytes", Type::integer, Unit::bytes, Role::counter, "Written."},
    {"write_time_ns", Type::integer, Unit::ns, Role::counter, "Time of all writes, one by one."},
    {"io_time_ns", Type::integer, Unit::ns, Role::counter, "Time in which there was any request."},
    {"weighted_io_time_ns", Type::integer, Unit::ns, Role::counter,
     "Time of all requests together; its rate is the mean length of the queue."},
    {"discards", Type::integer, Unit::count, Role::counter, "Discards that were done."},
    {"discards_merged", Type::integer, Unit::count, Role::counter,
     "Discards that became part of another one."},
    {"discard_bytes", Type::integer, Unit::bytes, Role::counter, "Discarded."},
    {"discard_time_ns", Type::integer, Unit::ns, Role::counter, "Time of all discards, one by one."},
    {"flushes", Type::integer, Unit::count, Role::counter, "Flushes of the device's cache that were done."},
    {"flush_time_ns", Type::integer, Unit::ns, Role::counter, "Time of all flushes, one by one."},
};
constexpr TableKind kTables[] = {{"disk", "/proc/diskstats", "A block device.", kColumns}};

// The numbers of a line in its order: what a one means. Kernels before 4.18 end before the discards, those
// before 5.5 before the flushes.
constexpr i64 kScales[] = {
    1, 1, kSector, kMillisecond, 1, 1,           kSector, kMillisecond, 1, kMillisecond, kMillisecond,
    1, 1, kSector, kMillisecond, 1, kMillisecond};
constexpr size_t kNumbers = std::size(kScales), kInFlight = 8;

// The kernel writes times as 32 bits of milliseconds, which wrap after 50 days of them.
class Times {
 public:
  i64 whole(size_t number, i64 written) {
    return written >> 32 ? written : counters_[number].update(written, true);
  }
  bool is_there = false;  // in this round: a disk of the same name that comes later is another one

 private:
  std::array<WrappedCounter, kNumbers> counters_;
};

struct Facts {
  bool is_disk = false;
  std::string model, mapper_name;
  std::optional<bool> rotational;
  std::optional<i64> size_bytes;
};

// Of NVMe with several paths nvme0c1n2 is a path to nvme0n2, which counts what goes through it, too, since
// Linux 6.4; before, the path alone does. Empty: it is no path.
std::string whole_of_path(std::string_view device) {
  constexpr std::string_view kNvme = "nvme";
  constexpr std::string_view kDigits = "0123456789";
  if (!device.starts_with(kNvme)) return {};
  const size_t path = device.find_first_not_of(kDigits, kNvme.size());
  if (path == device.npos || device[path] != 'c') return {};
  const size_t space = device.find_first_not_of(kDigits, path + 1);
  if (space == device.npos || device[space] != 'n') return {};
  return std::string(device.substr(0, path)) += device.substr(space);
}

// Whether a device has done anything, by these lines.
bool counts(std::string_view text, std::string_view device) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    next_word(line);
    next_word(line);
    if (next_word(line) != device) continue;
    for (std::string_view number = next_word(line); !number.empty(); number = next_word(line))
      if (number != "0") return true;
  }
  return false;
}

class Disk : public Collector {
 public:
  static Result<std::unique_ptr<Collector>> open(const Surroundings& s) {
    auto disk = std::make_unique<Disk>(s.host);
    if (const auto text = disk->stats_.read(); !text) return tl::unexpected(text.error());
    if (access(disk->block_.c_str(), X_OK) != 0)
      return fail(Code::not_found, "{} cannot be read, and without it disks and partitions look alike",
                  disk->block_);
    return disk;
  }

  explicit Disk(const Host& host)
      : now_(host.steady_now), stats_(host.proc + "/diskstats"), block_(host.sys + "/block") {}

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(std::string_view text, stats_.read());
    text = whole_lines(text);
    const std::string_view all = text;
    std::vector<Table> tables;
    Table& table = tables.emplace_back("disk", kColumns);
    known_.begin_round(now_());
    for (auto& [device, times] : times_) times.is_there = false;
    while (!text.empty()) {
      std::string_view line = next_line(text);
      next_word(line);  // major and minor number
      next_word(line);
      const std::string_view device = next_word(line);
      if (device.empty() || std::ranges::any_of(kLeftOut, [&](auto p) { return device.starts_with(p); }))
        continue;
      if (const std::string whole = whole_of_path(device); !whole.empty() && counts(all, whole)) continue;
      const Facts& facts = known_.at(device, [this](std::string_view name) { return read_facts(name); });
      if (facts.is_disk) append(table, device, facts, times_of(device), line);
    }
    known_.end_round();
    std::erase_if(times_, [](const auto& entry) { return !entry.second.is_there; });
    return tables;
  }

 private:
  Facts read_facts(std::string_view device) const {
    // /sys writes the slashes of a name so.
    std::string name(device);
    std::ranges::replace(name, '/', '!');
    const std::string folder = block_ + "/" + name;
    Facts facts;
    facts.is_disk = access(folder.c_str(), F_OK) == 0;
    if (!facts.is_disk) return facts;
    facts.model = read_fact(folder + "/device/model");
    facts.mapper_name = read_fact(folder + "/dm/name");
    facts.size_bytes = scaled(read_fact_number(folder + "/size"), kSector);
    const auto rotational = read_fact_number(folder + "/queue/rotational");
    if (rotational == 0 || rotational == 1) facts.rotational = *rotational == 1;
    return facts;
  }

  Times& times_of(std::string_view device) {
    auto it = times_.find(device);
    if (it == times_.end()) it = times_.emplace(std::string(device), Times()).first;
    it->second.is_there = true;
    return it->second;
  }

  static void append(Table& table, std::string_view device, const Facts& facts, Times& times,
                     std::string_view line) {
    std::array<Value, kNumbers> numbers;
    for (size_t i = 0; i < kNumbers; ++i) {
      auto number = to_integer(next_word(line));
      if (number && kScales[i] == kMillisecond) number = times.whole(i, *number);
      numbers[i] = or_null(scaled(number, kScales[i]));
    }
    std::array<Value, std::size(kColumns)> row{device,
                                               or_null(std::string_view(facts.model)),
                                               or_null(std::string_view(facts.mapper_name)),
                                               or_null(facts.rotational),
                                               or_null(facts.size_bytes),
                                               numbers[kInFlight]};
    size_t at = 6;
    for (size_t i = 0; i < kNumbers; ++i) {
      if (i != kInFlight) row[at++] = numbers[i];
    }
    table.append(row);
  }

  Ns (*now_)();
  KernelFile stats_;
  std::string block_;
  Known<Facts> known_;
  std::map<std::string, Times, std::less<>> times_;
};

}  // namespace

const CollectorKind kDisk = {
    .name = "disk",
    .help = "What was read from and written to disks, and how long that took.",
    .period = kSecond,
    .tables = kTables,
    .open = Disk::open,
};

}  // namespace spotter::collect
