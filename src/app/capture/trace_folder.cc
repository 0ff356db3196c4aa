#include "app/capture/trace_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "base/system/descriptor.h"
#include "base/system/file.h"

namespace spotter::app {
namespace {

constexpr mode_t kEverybodyMayWrite = 01777, kEverybodyMayRead = 0755;

// Of one that was made just now: where others may write in its parent, something else may be there already.
Result<void> set_mode_of_folder(const std::string& path, mode_t mode) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat file;
  if (folder.fd >= 0 && fstat(folder.fd, &file) == 0 && file.st_uid != geteuid())
    return fail(Code::denied, "the directory {} is not ours any more: it belongs to user {}", path,
                file.st_uid);
  if (folder.fd < 0 || fchmod(folder.fd, mode) != 0)
    return fail(Code::io, "the directory {}: {}", path, errno_text(errno));
  return {};
}

// The processes write as their own users, who may be others where root asks.
Result<TraceFolder> make_folder(const std::string& path) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  if (error) return fail(Code::io, "the directory {} cannot be made: {}", path, error.message());
  if (is_new && geteuid() == 0) TRY(set_mode_of_folder(path, kEverybodyMayWrite));
  const std::string whole = std::filesystem::canonical(path, error).string();
  if (error) return fail(Code::io, "{}: {}", path, error.message());
  return TraceFolder{whole, is_new};
}

}  // namespace

Result<TraceFolder> make_new_folder() {
  std::string path = fmt::format("/tmp/spotter-{:%Y%m%dT%H%M%S}-XXXXXX", fmt::gmtime(std::time(nullptr)));
  if (!mkdtemp(path.data()))
    return fail(Code::io, "the directory {} cannot be made: {}", path, errno_text(errno));
  TRY(set_mode_of_folder(path, geteuid() == 0 ? kEverybodyMayWrite : kEverybodyMayRead));
  return TraceFolder{path, true};
}

Result<TraceFolder> prepare_folder(const std::string& wanted, bool is_local) {
  if (!wanted.empty()) return make_folder(wanted);
  if (is_local) return make_new_folder();
  return TraceFolder{};
}

}  // namespace spotter::app
