#include "serve/job.h"

#include <algorithm>

#include "base/system/descriptor.h"
#include "read/open.h"

namespace spotter::serve {

Result<Job> open(const FoundJob& job) { return read::open_job(job.paths, read::Links::passed_over); }

const JobFile* find_file(const FoundJob& job, const std::string& path) {
  const auto file = std::ranges::find(job.files, path, &JobFile::path);
  return file == job.files.end() ? nullptr : &*file;
}

Loader loader_of(JobPtr job) {
  return [job = std::move(job)](const TraceFile& file, const LoadRequest& how) -> Result<TracePtr> {
    const JobFile* const found = find_file(*job, file.path);
    if (!found)
      return fail(Code::io, "{}: came after the job was looked at; ask again in a second", file.path);
    TRY_ASSIGN(const int descriptor, open_found(file.path, found->found));
    const Descriptor opened(descriptor);
    TraceFile here = file;
    here.descriptor = opened.fd;
    return read::load(here, how);
  };
}

}  // namespace spotter::serve
