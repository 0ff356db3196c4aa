#include "net/listener_check.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/system/safe_folder.h"
#include "base/system/user_ids.h"
#include "base/text/utf8.h"

namespace spotter::net {
namespace {

// Whose folder it is, if nobody else can have put it where it is; -1: that cannot be told.
i64 owner_by_right(const std::filesystem::path& folder) {
  const auto parent = open_safe_folder(folder.parent_path());
  struct stat above, file;
  if (!parent || fstat(parent->fd, &above) != 0 || (above.st_mode & (S_IWGRP | S_IWOTH)) != 0) return -1;
  return lstat(folder.c_str(), &file) == 0 && S_ISDIR(file.st_mode) ? static_cast<i64>(file.st_uid) : -1;
}

}  // namespace

Result<void> check_listener(const std::string& socket, i64 uid, i64 own) {
  const bool is_somebody = uid >= 0 && uid != unmapped_uid();
  if (is_somebody && (uid == 0 || uid == own)) return {};
  if (is_somebody && owner_by_right(std::filesystem::path(socket).parent_path()) == uid) return {};
  return fail(
      Code::denied,
      "user {} listens there, who is neither root nor you: that need not be the agent; --socket {} asks it "
      "all the same",
      uid, to_printable(socket));
}

}  // namespace spotter::net
