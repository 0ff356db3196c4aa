#include "collect/network/mount_stats.h"

#include <algorithm>

#include "base/saturated.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/host/mounts.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

// "device server:/path mounted on /mnt with fstype nfs4 statvers=1.1"; also of other file systems, and "no
// device mounted on /mnt ..".
std::optional<NfsMount> parse_device(std::string_view line) {
  NfsMount mount;
  if (next_word(line) != "device") return std::nullopt;
  mount.device = unescaped_mount_word(next_word(line));
  if (next_word(line) != "mounted" || next_word(line) != "on") return std::nullopt;
  mount.mount_point = unescaped_mount_word(next_word(line));
  if (next_word(line) != "with" || next_word(line) != "fstype") return std::nullopt;
  mount.type = next_word(line);
  if (mount.type != "nfs" && mount.type != "nfs4") return std::nullopt;
  return mount;
}

// "rw,vers=4.2,proto=tcp".
std::string option(std::string_view options, std::string_view key) {
  while (!options.empty()) {
    const size_t comma = std::min(options.find(','), options.size());
    const std::string_view one = options.substr(0, comma);
    if (one.starts_with(key) && one.substr(key.size()).starts_with('='))
      return std::string(one.substr(key.size() + 1));
    options.remove_prefix(std::min(comma + 1, options.size()));
  }
  return {};
}

std::optional<i64> next_count(std::string_view& line, i64 factor = 1) {
  return scaled(to_integer(next_word(line)), factor);
}

// "xprt: tcp PORT BINDS CONNECTS .."; of UDP there is no third number that is one of connections.
void add_connection(NfsMount& mount, std::string_view line) {
  if (next_word(line) == "udp") return;
  next_word(line);
  next_word(line);
  if (const auto connects = next_count(line))
    mount.connects = add_saturated(mount.connects.value_or(0), *connects);
}

// "READ: 5 5 0 640 2048 1 20 22 0".
std::optional<NfsOperation> parse_operation(std::string_view name, std::string_view line) {
  std::optional<i64> numbers[8];
  for (size_t i = 0; i < std::size(numbers); ++i) {
    numbers[i] = next_count(line, i >= 5 ? kMillisecond : 1);
    if (!numbers[i]) return std::nullopt;
  }
  if (*numbers[0] == 0) return std::nullopt;
  return NfsOperation{std::string(name), *numbers[0], *numbers[1], *numbers[2], *numbers[3],
                      *numbers[4],       *numbers[5], *numbers[6], *numbers[7], next_count(line)};
}

void read_line(NfsMount& mount, bool& in_operations, std::string_view line) {
  std::string_view key = next_word(line);
  if (key == "per-op") in_operations = true;
  if (!key.ends_with(':')) return;
  key.remove_suffix(1);
  if (in_operations) {
    if (auto operation = parse_operation(key, line)) mount.operations.push_back(std::move(*operation));
  } else if (key == "opts") {
    const std::string_view options = next_word(line);
    mount.version = option(options, "vers");
    mount.protocol = option(options, "proto");
  } else if (key == "age") {
    mount.age_ns = next_count(line, kSecond);
  } else if (key == "bytes") {
    for (auto* bytes : {&mount.read_bytes, &mount.write_bytes, &mount.direct_read_bytes,
                        &mount.direct_write_bytes, &mount.server_read_bytes, &mount.server_write_bytes})
      *bytes = next_count(line);
  } else if (key == "xprt") {
    add_connection(mount, line);
  }
}

}  // namespace

std::vector<NfsMount> parse_mount_stats(std::string_view text) {
  std::vector<NfsMount> mounts;
  text = whole_lines(text);
  bool is_nfs = false, in_operations = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with("device ") || line.starts_with("no device ")) {
      auto mount = parse_device(line);
      is_nfs = mount.has_value();
      in_operations = false;
      if (!is_nfs) continue;
      std::erase_if(mounts, [&](const NfsMount& other) { return other.mount_point == mount->mount_point; });
      mounts.push_back(std::move(*mount));
    } else if (is_nfs) {
      read_line(mounts.back(), in_operations, line);
    }
  }
  return mounts;
}

}  // namespace spotter::collect
