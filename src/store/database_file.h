// The file that a database is in, apart from what is in it: whose it is, who writes it, and where it goes
// when it is damaged. One process writes it (a lock on NAME.lock, which the kernel takes back when the
// process ends, however it does).
#pragma once
#include <string>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"

namespace spotter::store {

struct DatabaseKind {
  i64 application_id;  // in the file's header: https://www.sqlite.org/fileformat.html, section 1.3
  const char* noun;    // "history"
};

// Which file is open, so that one that was removed or replaced is noticed.
struct FileIdentity {
  u64 device = 0, inode = 0;
};

// Before SQLite sees it, which would lay hands on it. False: it is not there, or empty. Errors: invalid (it
// is another's, and stays as it is), denied, io.
Result<bool> is_of_kind(const DatabaseKind& kind, const std::string& path);
// Errors: busy (another process has it), not_found (no such folder), denied, io.
Result<Descriptor> lock_database(const std::string& path);
Result<FileIdentity> identity_of(const std::string& path);
// False once somebody has removed it, or put another file in its place: nobody would find what is written
// from then on.
bool is_in_place(const std::string& path, const FileIdentity& opened);
// To NAME.corrupt, in place of an older one; where it went.
Result<std::string> move_aside(const std::string& path);

}  // namespace spotter::store
