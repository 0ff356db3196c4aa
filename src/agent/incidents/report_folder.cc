#include "agent/incidents/report_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <vector>

#include "base/log.h"
#include "base/system/file.h"
#include "base/system/safe_folder.h"
#include "base/text/utf8.h"
#include "base/time.h"
#include "wire/target.h"

namespace spotter::agent {
namespace {

constexpr std::string_view kEnding = ".html";
constexpr size_t kMostName = 200;  // bytes, of the 255 that file systems allow
constexpr mode_t kFolderMode = 0700, kFileMode = 0600;

struct File {
  std::string name;
  i64 changed, bytes;
};

// Whatever else is there is somebody's else, and stays.
std::vector<File> reports_in(const std::string& folder) {
  std::vector<File> all;
  for (std::string& name : names_in(folder)) {
    struct stat facts{};
    if (!name.ends_with(kEnding) || lstat((folder + "/" + name).c_str(), &facts) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    all.push_back({std::move(name), facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec, facts.st_size});
  }
  return all;
}

}  // namespace

std::string ReportFolder::beside(const std::string& incidents_file) {
  constexpr std::string_view kDatabase = ".db";
  const bool is_database = incidents_file.ends_with(kDatabase);
  return incidents_file.substr(0, incidents_file.size() - (is_database ? kDatabase.size() : 0)) + "-reports";
}

// Escaped as a word of a URL: no slash is left, and two ids are never one name.
Result<std::string> ReportFolder::file_of(const std::string& id) const {
  const std::string name = wire::escaped_parameter(id);
  if (name.size() > kMostName)
    return fail(Code::invalid, "its id is too long for the name of a file: {} bytes", name.size());
  return fmt::format("{}/{}{}", path_, name, kEnding);
}

Result<void> ReportFolder::write(const std::string& id, std::string_view page) {
  TRY_ASSIGN(const std::string file, file_of(id));
  const std::lock_guard lock(mutex_);
  TRY(make_safe_folder(path_, kFolderMode));
  TRY(replace_file_atomically(file, page, kFileMode));
  make_room(std::string(base_name(file)));
  return {};
}

Result<void> ReportFolder::keep(const std::string& id, std::string_view page) {
  auto written = write(id, page);
  if (!written) lose(id, written.error());
  return written;
}

void ReportFolder::lose(const std::string& id, const Error& why) {
  ++lost_;
  log(Level::warning, "the report of incident {} is not kept: {}", to_printable(id), why.message);
}

void ReportFolder::make_room(const std::string& newest) {
  std::vector<File> all = reports_in(path_);
  std::ranges::sort(all, {}, [](const File& file) { return std::tie(file.changed, file.name); });
  i64 files = std::ssize(all), bytes = 0;
  for (const File& file : all) bytes += file.bytes;
  for (const File& file : all) {
    if (files <= limits_.files && bytes <= limits_.bytes) return;
    if (file.name == newest) continue;
    if (unlink((path_ + "/" + file.name).c_str()) != 0) {
      log(Level::warning, "{}/{}: cannot be removed: {}", path_, file.name, errno_text(errno));
      continue;
    }
    ++removed_;
    --files;
    bytes -= file.bytes;
    log(Level::info, "the report {}/{} was removed: there is room for {} reports of {} MB", path_, file.name,
        limits_.files, limits_.bytes / 1'000'000);
  }
}

Result<std::string> ReportFolder::read(const std::string& id) const {
  TRY_ASSIGN(const std::string file, file_of(id));
  auto page = read_small_file(file, static_cast<size_t>(limits_.bytes));
  if (!page && page.error().code == Code::not_found)
    return fail(Code::not_found,
                "its report was removed: the agent keeps the newest {} of them, of {} MB in all",
                limits_.files, limits_.bytes / 1'000'000);
  return page;
}

}  // namespace spotter::agent
