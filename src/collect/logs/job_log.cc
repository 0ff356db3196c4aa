// job_log: the lines that the processes of jobs write to files (log_places.h): what they tell of steps, which
// the collector `step` says, and those that are fatal. Looked at are the processes of jobs and those that
// somebody noticed, as far as Identities knows them.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "collect/list.h"
#include "collect/logs/job_logs.h"
#include "collect/logs/log_places.h"
#include "collect/process/identities.h"
#include "process/process_facts.h"

namespace spotter::collect {
namespace {

constexpr Field kLogColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"user", Type::text, Unit::none, Role::key, "Whose job it is."},
    {"files", Type::integer, Unit::count, Role::value, "Log files of the job that are read."},
    {"read_bytes", Type::integer, Unit::bytes, Role::counter, "Read of them.", Since::agent},
    {"lines", Type::integer, Unit::count, Role::counter, "Lines in that.", Since::agent},
    {"skipped_bytes", Type::integer, Unit::bytes, Role::counter,
     "Not read, since too much was written at once.", Since::agent},
    {"cut_lines", Type::integer, Unit::count, Role::counter,
     "Lines of which only the first 4 KiB were looked at.", Since::agent},
    {"replaced", Type::integer, Unit::count, Role::counter, "Files that took the place of another one.",
     Since::agent},
    {"cut_off", Type::integer, Unit::count, Role::counter, "Files that became shorter.", Since::agent},
    {"other_lines", Type::integer, Unit::count, Role::counter,
     "Lines that tell of steps of another loop than the one whose steps are told.", Since::agent},
};
constexpr Field kFatalColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"user", Type::text, Unit::none, Role::key, "Whose job it is."},
    {"kind", Type::text, Unit::none, Role::key, "As that of log_event."},
    {"lines", Type::integer, Unit::count, Role::counter, "Such lines.", Since::agent},
};
constexpr Field kEventColumns[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, "When it was read, since 1970."},
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"user", Type::text, Unit::none, Role::key, "Whose job it is."},
    {"kind", Type::text, Unit::none, Role::key,
     "collective_timeout, cuda_out_of_memory, cuda_error, nccl_error, worker_failed, crash, loss_not_a_number or "
     "traceback; new_line: one of a kind that was not there before; more_often: one that comes ten times as often."},
    {"rank", Type::integer, Unit::none, Role::detail, "Rank that the line names."},
    {"lines", Type::integer, Unit::count, Role::value,
     "Such lines since the event before of the job and kind; there is one a minute at most."},
    {"text", Type::text, Unit::none, Role::detail,
     "The first of them, as the job wrote it: 200 characters; null where not everybody may read the file."},
    {"file", Type::text, Unit::none, Role::detail, "Where it is, as the job sees it."},
    {"offset", Type::integer, Unit::bytes, Role::detail, "Where in the file it begins."},
};
constexpr TableKind kTables[] = {
    {"job_log", "log files", "The log files of a job on this host.", kLogColumns},
    {"job_log_fatal", "log files", "Fatal lines of one kind in the log files of a job.", kFatalColumns},
    {.name = "log_event",
     .source = "log files",
     .help = "A line of a job's log that tells why it ends, or that it trains no more, or that is unusual.",
     .columns = kEventColumns,
     .is_events = true},
};

constexpr size_t kMostNew = 64;  // processes that are read for the first time at one look
constexpr size_t kMostProcesses = 4096, kMostJobs = 64;
constexpr size_t kMostWriters = 128;  // of a job: its workers have the files of its ranks
constexpr Ns kLate = 10 * kSecond;
constexpr Ns kLongestElapsed = 10 * kSecond;   // after longer ones there is no more room for bytes
constexpr i64 kBytesPerSecond = i64{4} << 20;  // of all jobs
constexpr Ns kLongestRead = 250 * kMillisecond;

class JobLog : public Collector {
 public:
  JobLog(const Surroundings& s, respond::StepLines lines)
      : host_(s.host),
        identities_(s.identities),
        board_(s.logged_steps),
        globs_(s.step_logs),
        readers_{std::move(lines), {}} {}

  Result<std::vector<Table>> sample() override {
    const Ns now = host_.steady_now(), unix_now = host_.unix_now();
    const Ns elapsed = last_ == 0 ? kSecond : std::max<Ns>(now - last_, 1);
    last_ = now;
    if (last_look_ == 0 || now - last_look_ >= JobLogs::kLookEvery) {
      last_look_ = now;
      look();
    }
    read(now, unix_now, elapsed);
    put_steps(now + 3 * elapsed + kLate);
    std::vector<Table> tables;
    tables.push_back(logs());
    tables.push_back(fatal_lines());
    if (Table events = log_events(now, unix_now); events.rows() > 0) tables.push_back(std::move(events));
    std::erase_if(jobs_, [](const auto& job) { return job.second.is_over(); });
    return tables;
  }

 private:
  struct Process {
    i64 start_ticks = 0;
    u64 program = 0;
    LogWriter writer;
    bool is_settled = false;  // who it is will stay so
  };
  // Of a process without a job its number, too.
  using Key = std::tuple<std::string, std::string, i64>;
  using FileId = std::pair<dev_t, ino_t>;
  static FileId id_of(const FoundLog& log) { return {log.state.st_dev, log.state.st_ino}; }
  struct Job {
    i64 pid = 0;
    bool has_ended = false;
    JobLogs logs;
    bool is_over() const { return has_ended && logs.files() == 0; }
  };

  void look() {
    refused_ = {};
    know_processes();
    std::map<Key, std::vector<const LogWriter*>> writers;
    for (const auto& [pid, process] : processes_) {
      const Who& who = process.writer.who;
      if (who.user.empty()) continue;  // it has ended meanwhile
      writers[{who.job, who.user, who.job.empty() ? pid : 0}].push_back(&process.writer);
    }
    for (auto& [key, job] : jobs_) {
      job.has_ended = !writers.contains(key);
      if (job.has_ended) job.logs.find({}, refused_);
    }
    jobs_left_out_ = 0;
    // A launcher that has no job of its own writes to the file that its ranks have: the lines are the job's.
    std::set<FileId> of_jobs;
    for (const bool has_job : {true, false})
      for (auto& [key, writers_of] : writers)
        if (std::get<0>(key).empty() != has_job) find(key, writers_of, of_jobs);
  }

  void find(const Key& key, std::vector<const LogWriter*>& writers, std::set<FileId>& of_jobs) {
    if (jobs_.size() >= kMostJobs && !jobs_.contains(key)) {
      ++jobs_left_out_;
      return;
    }
    put_in_order(writers);
    if (writers.size() > kMostWriters) {
      processes_left_out_ += std::ssize(writers) - static_cast<i64>(kMostWriters);
      writers.resize(kMostWriters);
    }
    std::vector<FoundLog> found;
    for (const LogWriter* writer : writers) find_logs(host_, *writer, globs_, found, refused_);
    Job& job = jobs_[key];
    job.pid = writers.front()->pid;
    if (std::get<0>(key).empty()) {
      std::erase_if(found, [&](const FoundLog& log) {
        const bool is_of_job = of_jobs.contains(id_of(log));
        if (is_of_job) job.logs.forget(log.place);
        return is_of_job;
      });
    } else {
      for (const FoundLog& log : found) of_jobs.insert(id_of(log));
    }
    job.logs.find(std::move(found), refused_);
  }

  void know_processes() {
    std::vector<i64> pids = identities_->noticed();
    for (const i64 pid : identities_->in_jobs()) pids.push_back(pid);
    for (const auto& [pid, process] : processes_) pids.push_back(pid);  // others may know them no more
    std::ranges::sort(pids);
    pids.erase(std::ranges::unique(pids).begin(), pids.end());
    size_t looked_up = 0;
    processes_left_out_ = 0;
    for (const i64 pid : pids) {
      const auto life = identities_->life(pid);
      const auto known = processes_.find(pid);
      if (!life || life->has_ended || life->program == 0) {
        if (known != processes_.end()) processes_.erase(known);
        continue;
      }
      const bool is_same = known != processes_.end() && known->second.start_ticks == life->start_ticks &&
                           known->second.program == life->program;
      if (!is_same) {
        if (known != processes_.end()) processes_.erase(known);
        if (processes_.size() >= kMostProcesses) ++processes_left_out_;
        if (processes_.size() >= kMostProcesses || looked_up++ >= kMostNew) continue;
        const auto facts = process::read_process_briefly(host_, pid);
        if (!facts) continue;
        const auto error_file = facts->environment.find("TORCHELASTIC_ERROR_FILE");
        LogWriter writer{
            pid, facts->uid, error_file == facts->environment.end() ? "" : error_file->second, {}};
        processes_[pid] = {life->start_ticks, life->program, std::move(writer), false};
      }
      Process& process = processes_[pid];
      if (process.is_settled) continue;
      process.writer.who = identities_->who(pid);
      process.is_settled = identities_->is_settled(pid);
    }
  }

  // The first and the last rank, who print what is of the whole job; then the others, then launchers and
  // workers.
  static void put_in_order(std::vector<const LogWriter*>& writers) {
    std::optional<i64> last;
    for (const LogWriter* writer : writers)
      if (!writer->who.is_helper) last = std::max(last, writer->who.rank);
    const auto place = [&](const LogWriter* writer) {
      const Who& who = writer->who;
      const bool is_last = who.rank && who.rank == last;
      return std::tuple(who.is_helper, is_last ? std::min<i64>(*who.rank, 0) : who.rank.value_or(0),
                        writer->pid);
    };
    std::ranges::sort(writers, {}, place);
  }

  // Where there was no time for all, the next sample begins behind the last one that was read.
  void read(Ns now, Ns unix_now, Ns elapsed) {
    const auto bytes_in = [&](i64 per_second) {
      return per_second * (std::min(elapsed, kLongestElapsed) / kMillisecond + 1) / 1000;
    };
    i64 room = bytes_in(kBytesPerSecond);
    auto next = jobs_.upper_bound(last_read_);
    for (size_t i = 0; i < jobs_.size(); ++i, ++next) {
      if (next == jobs_.end()) next = jobs_.begin();
      if (room <= 0 || host_.steady_now() - now > kLongestRead) return;
      room -= next->second.logs.read(readers_, unix_now, elapsed,
                                     std::min(room, bytes_in(JobLogs::kBytesPerSecond)));
      last_read_ = next->first;
    }
  }

  // What was told counts for a while only: a file system that hangs is no job that does.
  void put_steps(Ns until) {
    if (!board_) return;
    std::vector<LoggedSteps> told;
    for (auto& [key, job] : jobs_) {
      respond::StepLoop& loop = job.logs.loop();
      if (loop.form().empty()) continue;
      told.push_back({.job = std::get<0>(key),
                      .user = std::get<1>(key),
                      .pid = job.pid,
                      .source = fmt::format("log:{}", loop.form()),
                      .ended = loop.take(),
                      .last = loop.last().value_or(0),
                      .steps = loop.steps()});
    }
    board_->put(std::move(told), until);
  }

  // Those of a user that have no job have one row.
  Table logs() {
    struct Sum {
      i64 files = 0, others = 0;
      LogCounts counts;
    };
    std::map<std::pair<std::string_view, std::string_view>, Sum> sums;
    i64 left_out = 0;
    for (auto& [key, job] : jobs_) {
      const LogCounts& counts = job.logs.counts();
      Sum& sum = sums[{std::get<0>(key), std::get<1>(key)}];
      sum.files += static_cast<i64>(job.logs.files());
      sum.others += job.logs.loop().others();
      for (i64 LogCounts::* count : {&LogCounts::read_bytes, &LogCounts::lines, &LogCounts::skipped_bytes,
                                     &LogCounts::cut_lines, &LogCounts::replaced, &LogCounts::cut_off})
        sum.counts.*count += counts.*count;
      left_out += job.logs.files_left_out();
    }
    Table table("job_log", kLogColumns);
    for (const auto& [key, sum] : sums) {
      const LogCounts& c = sum.counts;
      table.append({or_null(key.first), key.second, sum.files, c.read_bytes, c.lines, c.skipped_bytes,
                    c.cut_lines, c.replaced, c.cut_off, sum.others});
    }
    const auto note = [&](const char* kind, const std::string& sentence, i64 count) {
      if (count > 0) table.notes.add(kind, Severity::loss, sentence, -1, count);
    };
    for (const auto& [why, paths] : refused_.files())
      note("log_not_read", fmt::format("log files are not read: {}", why), std::ssize(paths));
    note("many_logs",
         fmt::format("log files are not read: there are more than {} of a job", JobLogs::kMostFiles),
         left_out);
    note("many_jobs", fmt::format("logs of jobs are not read: there are more than {}", kMostJobs),
         jobs_left_out_);
    note("many_processes", "processes of jobs are not asked for their logs", processes_left_out_);
    return table;
  }

  Table fatal_lines() {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, i64> sums;
    for (auto& [key, job] : jobs_)
      for (const auto& [kind, lines] : job.logs.fatal().totals())
        sums[{std::get<0>(key), std::get<1>(key), kind}] += lines;
    Table table("job_log_fatal", kFatalColumns);
    for (const auto& [key, lines] : sums)
      table.append({or_null(std::get<0>(key)), std::get<1>(key), std::get<2>(key), lines});
    return table;
  }

  Table log_events(Ns now, Ns unix_now) {
    Table table("log_event", kEventColumns);
    for (auto& [key, job] : jobs_) {
      std::vector<FatalEvent> all = job.logs.fatal().take(now, job.is_over());
      for (FatalEvent& event : job.logs.take_unusual()) all.push_back(std::move(event));
      for (const FatalEvent& event : all)
        table.append({unix_now, or_null(std::string_view(std::get<0>(key))),
                      std::string_view(std::get<1>(key)), event.kind, or_null(event.rank), event.lines,
                      or_null(std::string_view(event.text)), std::string_view(event.file), event.offset});
    }
    return table;
  }

  const Host host_;
  const std::shared_ptr<Identities> identities_;
  const std::shared_ptr<LoggedStepsBoard> board_;
  const std::vector<std::string> globs_;
  const LineReaders readers_;
  std::map<i64, Process> processes_;
  std::map<Key, Job> jobs_;
  Key last_read_;
  RefusedLogs refused_;  // at the last look
  i64 jobs_left_out_ = 0, processes_left_out_ = 0;
  Ns last_ = 0, last_look_ = 0;
};

}  // namespace

const CollectorKind kJobLog = {
    .name = "job_log",
    .help = "Log files of training jobs: lines that tell of steps, and those that tell why a job ends.",
    .period = kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      TRY_ASSIGN(respond::StepLines lines, respond::StepLines::make(s.step_lines));
      return std::make_unique<JobLog>(s, std::move(lines));
    },
};

}  // namespace spotter::collect
