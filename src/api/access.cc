#include "api/access.h"

#include <unistd.h>

#include <algorithm>

#include "base/utf8.h"

namespace spotter::api {
namespace {

constexpr size_t kMostPath = 1024;  // of 4,095 that the system allows, so that names have room

bool goes_up(const std::string& path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.find("/../") != path.npos;
}

bool is_in(const std::string& path, const std::string& directory) {
  if (directory == "/") return true;
  return path == directory || path.starts_with(directory + "/");
}

std::string without_slashes_at_end(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Access::Access(std::vector<std::string> directories)
    : directories_(std::move(directories)), own_uid_(geteuid()) {
  for (std::string& d : directories_) d = without_slashes_at_end(d);
}

bool Access::is_admin(const Peer& peer) const { return peer.uid == 0 || peer.uid == own_uid_; }

Result<void> Access::may_trace(const Peer& peer, const kineto::Process& process) const {
  if (is_admin(peer) || (peer.uid >= 0 && peer.uid == process.facts.uid)) return {};
  return fail(Code::denied, "user {} may not trace process {}, which is user {}'s", peer.uid,
              process.facts.pid, process.facts.uid);
}

Result<void> Access::may_write(const Peer& peer, const std::string& path) const {
  const std::string shown = to_printable(path);
  if (path.size() > kMostPath)
    return fail(Code::invalid, "the path has {} bytes; {} at most", path.size(), kMostPath);
  if (!path.starts_with('/')) return fail(Code::invalid, "the path {} must be absolute", shown);
  if (goes_up(path)) return fail(Code::denied, "the path {} must not have \"..\"", shown);
  // '=' and '#' would end the line of the request, a control character the whole of it.
  if (path.find_first_of("=#") != path.npos || shown != path)
    return fail(Code::invalid, "the path {} must have no '=', '#' or control characters", shown);
  const auto inside = [&](const std::string& directory) { return is_in(path, directory); };
  if (std::any_of(directories_.begin(), directories_.end(), inside)) return {};
  if (peer.uid > 0 && peer.uid != own_uid_) return {};  // traces his own processes only
  return fail(Code::denied, "{} is not in {}, where this agent lets traces be written (output_directories)",
              shown, fmt::join(directories_, " or "));
}

}  // namespace spotter::api
