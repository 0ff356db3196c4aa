// Safe folders: a path that nobody but root and this process's own user can make lead elsewhere. Each
// directory from / on belongs to one of the two, and nobody else may write there, or it is sticky: then
// others can add names but not take away or replace ours. Symbolic links on the way belong to one of the two.
//
// Who is not root may let a group write in his own directories: that is his arrangement. In a user namespace
// the system's directories may look as if they were of nobody (base/system/user_ids.h); on the way that
// counts as root.
#pragma once
#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/system/descriptor.h"

namespace spotter {

// With O_PATH. Errors: not_found, io; denied (it is not safe: which directory, why, and what would mend it).
Result<Descriptor> open_safe_folder(const std::string& path);

// The same; what is missing is made with this mode, whatever the umask. Errors: also denied (it may not be
// made).
Result<Descriptor> make_safe_folder(const std::string& path, mode_t mode);

// Whether a path leads through a link that somebody planted: in a directory where others may write a link
// counts only if it is ours, root's, or of the directory's owner (the rule of Linux' fs.protected_symlinks,
// also where that is off). What is not there is fine. Errors: denied.
Result<void> check_links(const std::string& path);

// Gives a socket file of ours in this folder its mode; nothing else than the socket is ever changed. `name`
// has no slash. Errors: io (it is not there, or something else is).
Result<void> set_mode_of_socket(const Descriptor& folder, const std::string& name, mode_t mode);

}  // namespace spotter
