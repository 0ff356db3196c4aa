#include "collect/host/mounts.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text/words.h"

namespace spotter::collect {
namespace {

constexpr std::string_view kPseudo[] = {"autofs",
                                        "bdev",
                                        "binder",
                                        "binfmt_misc",
                                        "bpf",
                                        "cgroup",
                                        "cgroup2",
                                        "configfs",
                                        "cpuset",
                                        "debugfs",
                                        "devfs",
                                        "devpts",
                                        "devtmpfs",
                                        "efivarfs",
                                        "fusectl",
                                        "hugetlbfs",
                                        "mqueue",
                                        "nfsd",
                                        "nsfs",
                                        "pipefs",
                                        "proc",
                                        "pstore",
                                        "ramfs",
                                        "resctrl",
                                        "rootfs",
                                        "rpc_pipefs",
                                        "securityfs",
                                        "selinuxfs",
                                        "smackfs",
                                        "sockfs",
                                        "squashfs",
                                        "sysfs",
                                        "tracefs",
                                        "usbfs",
                                        "erofs",
                                        "iso9660",
                                        "fuse.lxcfs",
                                        "fuse.portal",
                                        "fuse.gvfsd-fuse",
                                        "fuse.snapfuse",
                                        "fuse.fuse-overlayfs"};

// A path begins with one of these: mounts of the system and of containers.
constexpr std::string_view kSystemPaths[] = {"/proc/",
                                             "/sys/",
                                             "/dev/",
                                             "/run/",
                                             "/snap/",
                                             "/var/snap/",
                                             "/var/lib/docker/",
                                             "/var/lib/containers/",
                                             "/var/lib/containerd/",
                                             "/var/lib/lxcfs",
                                             "/var/lib/rancher/",
                                             "/boot/efi"};
// Volumes of pods: disks and shares of theirs count, secrets and the like, which are in memory, do not.
constexpr std::string_view kVolumes = "/var/lib/kubelet/";
constexpr std::string_view kSharedMemory = "/dev/shm";

constexpr std::string_view kRemote[] = {
    "nfs",       "nfs4",   "cifs",   "smb3",  "smbfs",    "ceph",  "lustre", "gpfs",     "9p",   "afs",
    "glusterfs", "beegfs", "wekafs", "panfs", "orangefs", "ocfs2", "gfs2",   "virtiofs", "fuse", "fuseblk"};

bool is_one_of(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// Whether one of the options, parted by commas, is this one.
bool has_option(std::string_view options, std::string_view option) {
  while (!options.empty()) {
    const size_t comma = std::min(options.find(','), options.size());
    if (options.substr(0, comma) == option) return true;
    options.remove_prefix(std::min(comma + 1, options.size()));
  }
  return false;
}

// "36 35 98:0 /root /mount\040point rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
std::optional<Mount> parse_line(std::string_view line) {
  Mount mount;
  next_word(line);  // its number and that of its parent
  next_word(line);
  const std::string_view numbers = next_word(line);
  const size_t colon = numbers.find(':');
  const auto major = to_integer(numbers.substr(0, colon));
  const auto minor = colon == numbers.npos ? std::nullopt : to_integer(numbers.substr(colon + 1));
  if (!major || !minor) return std::nullopt;
  mount.major = static_cast<u32>(*major);
  mount.minor = static_cast<u32>(*minor);
  next_word(line);  // what of the file system is mounted
  mount.mount_point = unescaped_mount_word(next_word(line));
  next_word(line);  // options of the mount
  for (std::string_view word = next_word(line); word != "-"; word = next_word(line)) {
    if (word.empty()) return std::nullopt;
  }
  mount.type = next_word(line);
  mount.device = unescaped_mount_word(next_word(line));
  mount.read_only = has_option(next_word(line), "ro");
  mount.is_remote = is_one_of(kRemote, mount.type) || mount.type.starts_with("fuse.");
  if (mount.mount_point.empty() || mount.mount_point.front() != '/' || mount.type.empty())
    return std::nullopt;
  return mount;
}

bool holds_data(const Mount& mount) {
  if (is_one_of(kPseudo, mount.type)) return false;
  const std::string_view path = mount.mount_point;
  if (path == "/" || path == kSharedMemory) return true;
  if (mount.type == "overlay" || (mount.type == "tmpfs" && path.starts_with(kVolumes))) return false;
  return std::ranges::none_of(kSystemPaths, [&](auto beginning) { return path.starts_with(beginning); }) &&
         path != "/run";
}

}  // namespace

std::string unescaped_mount_word(std::string_view word) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string text;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 3 < word.size() && is_octal(word[i + 1]) && is_octal(word[i + 2]) &&
        is_octal(word[i + 3])) {
      text += static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 + (word[i + 3] - '0'));
      i += 3;
    } else {
      text += word[i];
    }
  }
  return text;
}

std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  mountinfo = whole_lines(mountinfo);
  while (!mountinfo.empty()) {
    auto mount = parse_line(next_line(mountinfo));
    if (!mount) continue;
    // What is covered by a mount that is left out is covered, too.
    std::erase_if(mounts, [&](const Mount& other) { return other.mount_point == mount->mount_point; });
    if (!holds_data(*mount)) continue;
    const auto same = std::ranges::find_if(mounts, [&](const Mount& other) {
      return other.major == mount->major && other.minor == mount->minor;
    });
    if (same == mounts.end()) {
      mounts.push_back(std::move(*mount));
    } else if (mount->mount_point.size() < same->mount_point.size()) {
      *same = std::move(*mount);
    }
  }
  return mounts;
}

}  // namespace spotter::collect
