// A job as it was found: the trace files of a folder, or of one span of its recordings. Constant once made;
// what changes is found as another one of the same id.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/find_files.h"
#include "trace/job.h"
#include "trace/load.h"

namespace spotter::serve {

struct JobFile {
  std::string path;  // as a command names it
  FoundFile found;
  bool is_trace = false;    // else a dump, receipts, or something else that is called as traces are
  std::optional<i64> rank;  // as far as its head and its name tell
  std::string host;
};

struct FoundJob {
  std::string id;                  // a digest of its place below the root
  std::string folder;              // its place below the root, as people see it
  std::string title;               // what people call it: its folder, that of the root by its own name
  std::vector<std::string> paths;  // of its folder or its files
  std::vector<std::string> named;  // the same as commands name it: a folder, FOLDER#2, files
  std::vector<JobFile> files;
  bool is_written = false;  // some file is perhaps not whole yet
  std::string version;      // a digest of all of the files' names, sizes and times
  bool operator==(const FoundJob& other) const {
    return id == other.id && version == other.version && is_written == other.is_written;
  }
};
using JobPtr = std::shared_ptr<const FoundJob>;

// Errors: as read::open_job().
Result<Job> open(const FoundJob& job);

// Loads the job's files and no others: what has come in the place of one is an error.
Loader loader_of(JobPtr job);

const JobFile* find_file(const FoundJob& job, const std::string& path);  // nullptr: none

}  // namespace spotter::serve
