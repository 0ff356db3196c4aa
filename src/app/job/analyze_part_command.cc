// analyze-part NAME...: what an agent runs for POST /v1/captures/ID/analyze
// (agent/captures/analysis_process.h), as a user without rights and within limits. It opens nothing: the file
// that is called NAME is open for it, the first one as descriptor 3. The request (wire/analyze_request.h)
// comes by standard input, the results (wire/file_results.h) go to standard output. For GET
// /v1/captures/ID/file it gives bytes of the one file (wire/file_part.h), and of dumps of flight recorders
// who does not arrive (wire/recorded_hang.h).
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "analyze/flight_recorder/flight_records.h"
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/standard_input.h"
#include "base/system/memory.h"
#include "diagnose/mechanisms/recorded_hang.h"
#include "net/child.h"
#include "read/flight_recorder/flight_recorder.h"
#include "read/open.h"
#include "render/list.h"
#include "wire/analyze_request.h"
#include "wire/file_part.h"
#include "wire/file_results.h"
#include "wire/recorded_hang.h"

namespace spotter::app {
namespace {

Result<Job> job_of(const std::vector<std::string>& names) {
  Job job;
  for (const std::string& name : names) {
    TraceFile file;
    file.path = name;
    file.descriptor = net::Child::kFirstFile + static_cast<int>(job.files.size());
    struct stat info;
    if (fstat(file.descriptor, &info) != 0)
      return fail(Code::invalid, "{}: descriptor {}: {}", name, file.descriptor, errno_text(errno));
    if (!S_ISREG(info.st_mode)) return fail(Code::invalid, "{}: is not a plain file", name);
    file.bytes = info.st_size;
    job.files.push_back(std::move(file));
  }
  return job;
}

// As many bytes as one answer has; fewer at the end.
Result<int> give_bytes(const Job& job, i64 from) {
  if (job.files.size() != 1)
    return fail(Code::invalid, "bytes are asked of one file, not of {}", job.files.size());
  std::string bytes(wire::kFilePartBytes, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(job.files[0].descriptor, bytes.data() + done, bytes.size() - done,
                              from + static_cast<i64>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(Code::io, "{}: {}", job.files[0].path, errno_text(errno));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  TRY(write_output("", bytes));
  return 0;
}

// Of dumps of flight recorders. The record of one that cannot be read is a loss among the notes.
Result<int> tell_hang(const Job& job) {
  std::vector<FlightRecordFile> files;
  for (const TraceFile& file : job.files) {
    if (const auto rank = read::rank_of_flight_record(file.path))
      files.push_back({.path = fmt::format("/proc/self/fd/{}", file.descriptor), .rank = *rank});
  }
  analyze::FlightRecords records = analyze::read_flight_records(files, read::load_flight_record);
  Table table = wire::recorded_hang_table();
  if (const auto hang = diagnose::recorded_hang(records)) {
    for (const i64 rank : hang->ranks) table.append({rank, std::string_view(hang->what), hang->has_no_dump});
  }
  const std::vector<Table> tables = {std::move(table)};
  TRY(print(render::kJson, {tables, std::move(records.notes)}));
  return 0;
}

Result<int> analyze_part(const std::vector<std::string>& names) {
  keep_freed_memory();
  TRY_ASSIGN(const std::string text, standard_input());
  TRY_ASSIGN(const Job job, job_of(names));
  if (const auto from = wire::read_file_part(text)) return give_bytes(job, *from);
  if (text == wire::kRecordedHangRequest) return tell_hang(job);
  TRY_ASSIGN(const analyze::RunRequest request, wire::read_analyze_request(text));
  TRY_ASSIGN(const analyze::MappedJob mapped, analyze::map_files(job, request, read::load));
  const std::string results = wire::file_results_text(mapped.files, request.analyses);
  if (results.size() > wire::kMostResultsBytes)
    return fail(Code::invalid, "the tables have {} bytes; {} at most: ask for fewer analyses or rows",
                results.size(), wire::kMostResultsBytes);
  TRY(write_output("", results));
  return 0;
}

}  // namespace

Command analyze_part_command() {
  const auto names = std::make_shared<std::vector<std::string>>();
  return {
      .name = "analyze-part",  // without a summary: it is no command for people
      .arguments = {{.name = "NAME",
                     .help = "what the descriptors from 3 on are called",
                     .read = keep_each(*names),
                     .many = true}},
      .action = [names]() -> Result<int> { return analyze_part(*names); },
  };
}

}  // namespace spotter::app
