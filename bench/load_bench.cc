// load_bench FILE.gz [ROUNDS [THREADS]]: loads against the floor (floor_walk.h), interleaved in one process.
// First the answer is checked: every load must give the floor's event count and sums, or no time is printed.
// Then each round runs the floor and every load once; what counts is the median over rounds of floor time /
// load time. The peak memory of each load is that of a child process that does nothing else. Prints one JSON
// object.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/system/file.h"
#include "bench/floor_walk.h"
#include "read/open.h"

namespace spotter::bench {
namespace {

struct Mode {
  const char* args;  // "lean" or "lossless"
  ArgSet keep;
  int threads;
  std::vector<Ns> times, cpu_times;
  std::vector<double> x_floor;  // per round
  i64 peak_bytes = 0;           // of the child process
  u64 trace_bytes = 0;          // Trace::memory_bytes
};

Result<TracePtr> load_file(const TraceFile& file, const Mode& mode) {
  LoadRequest request;
  request.args = mode.keep;
  request.threads = mode.threads;
  return read::load(file, request);
}

bench::Sums sums_of(const Trace& trace, const ArgSet& loaded) {
  bench::Sums sums;
  sums.events = trace.size();
  const auto add = [&](u64& sum, Arg arg, EventId e) {
    if (loaded.has(arg)) sum += static_cast<u64>(trace.integer(e, arg).value_or(0));
  };
  for (EventId e = 0; e < trace.size(); ++e) {
    sums.ts += static_cast<u64>(trace.ts[e]);
    sums.dur += static_cast<u64>(trace.dur[e]);
    add(sums.correlation, Arg::correlation, e);
    add(sums.external_id, Arg::external_id, e);
    add(sums.stream, Arg::stream, e);
    add(sums.device, Arg::device, e);
    add(sums.bytes, Arg::bytes, e);
  }
  return sums;
}

// A load that does not keep `bytes` cannot be asked for its sum.
Result<void> check_answer(const TraceFile& file, const Mode& mode, bench::Sums expected) {
  TRY_ASSIGN(const TracePtr trace, load_file(file, mode));
  if (!mode.keep.has(Arg::bytes)) expected.bytes = 0;
  const bench::Sums got = sums_of(*trace, mode.keep);
  if (got == expected) return {};
  return fail(Code::internal, "{}, {} threads: wrong answer\n  floor: {}\n  trace: {}", mode.args,
              mode.threads, bench::to_json(expected), bench::to_json(got));
}

// Loads in a child process and takes its peak from the kernel. Fork while this process is still small: a
// child begins with its parent's pages.
Result<void> measure_memory(const TraceFile& file, Mode& mode) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return fail(Code::io, "pipe: {}", errno_text(errno));
  const pid_t child = fork();
  if (child < 0) return fail(Code::io, "fork: {}", errno_text(errno));
  if (child == 0) {
    const Result<TracePtr> trace = load_file(file, mode);
    const u64 bytes = trace ? (*trace)->memory_bytes() : 0;
    _exit(trace && write(pipe_ends[1], &bytes, sizeof bytes) == ssize_t{sizeof bytes} ? 0 : 1);
  }
  close(pipe_ends[1]);
  int status = 0;
  rusage usage{};
  const bool told =
      ::read(pipe_ends[0], &mode.trace_bytes, sizeof mode.trace_bytes) == ssize_t{sizeof mode.trace_bytes};
  close(pipe_ends[0]);
  if (wait4(child, &status, 0, &usage) != child || status != 0 || !told)
    return fail(Code::internal, "{}, {} threads: the child that measures memory failed", mode.args,
                mode.threads);
  mode.peak_bytes = i64{usage.ru_maxrss} * 1024;
  return {};
}

// Processor time shows whether the machine was free: on one thread it equals the wall time then.
struct Taken {
  Ns wall, cpu;
};

Ns now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return i64{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

template <class F>
Taken timed(F&& work) {
  const Ns wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<void> bench(const std::string& path, int rounds, int threads) {
  const std::string paths[] = {path};
  TRY_ASSIGN(const Job job, read::open_job(paths));
  const TraceFile& trace_file = job.files.at(0);
  const ArgSet lean{Arg::correlation, Arg::external_id, Arg::stream, Arg::device};
  std::vector<Mode> modes = {{"lean", lean, 1, {}, {}, {}},
                             {"lean", lean, threads, {}, {}, {}},
                             {"lossless", ArgSet::everything(), 1, {}, {}, {}},
                             {"lossless", ArgSet::everything(), threads, {}, {}, {}}};
  for (Mode& mode : modes) TRY(measure_memory(trace_file, mode));

  TRY_ASSIGN(const std::string gzip_file, read_small_file(path, ~size_t{0}));
  bench::Floor floor;
  TRY_ASSIGN(const bench::Sums sums, floor.run(gzip_file));
  for (const Mode& mode : modes) TRY(check_answer(trace_file, mode, sums));

  std::vector<Ns> floor_times, floor_cpu_times;
  for (int round = 0; round < rounds; ++round) {
    Result<bench::Sums> again;
    const Taken floor_taken = timed([&] { again = floor.run(gzip_file); });
    floor_times.push_back(floor_taken.wall);
    floor_cpu_times.push_back(floor_taken.cpu);
    if (!again) return tl::unexpected(again.error());
    for (size_t i = 0; i < modes.size(); ++i) {
      Mode& mode =
          modes[(i + static_cast<size_t>(round)) % modes.size()];  // no mode always follows the same one
      Result<TracePtr> trace;
      const Taken taken = timed([&] { trace = load_file(trace_file, mode); });
      if (!trace) return tl::unexpected(trace.error());
      mode.times.push_back(taken.wall);
      mode.cpu_times.push_back(taken.cpu);
      mode.x_floor.push_back(static_cast<double>(floor_taken.wall) / static_cast<double>(taken.wall));
    }
  }

  fmt::print(
      "{{\"events\": {}, \"json_bytes\": {}, \"rounds\": {}, \"floor_ns\": {}, \"floor_cpu_ns\": {}, "
      "\"sums\": {}, \"loads\": [",
      sums.events, floor.json_bytes(), rounds, median(floor_times), median(floor_cpu_times),
      bench::to_json(sums));
  for (const Mode& mode : modes)
    fmt::print(
        "{}\n  {{\"args\": \"{}\", \"threads\": {}, \"ns\": {}, \"cpu_ns\": {}, \"x_floor\": {:.3f}, "
        "\"peak_bytes\": {}, \"trace_bytes\": {}}}",
        &mode == modes.data() ? "" : ",", mode.args, mode.threads, median(mode.times), median(mode.cpu_times),
        median(mode.x_floor), mode.peak_bytes, mode.trace_bytes);
  fmt::print("\n]}}\n");
  return {};
}

}  // namespace
}  // namespace spotter::bench

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const int threads = argc > 3 ? std::atoi(argv[3]) : static_cast<int>(std::thread::hardware_concurrency());
  if (argc < 2 || rounds < 1 || threads < 1) {
    fmt::print(stderr, "usage: load_bench FILE.gz [ROUNDS [THREADS]]\n");
    return 2;
  }
  if (const auto done = spotter::bench::bench(argv[1], rounds, threads); !done) {
    fmt::print(stderr, "load_bench: {}: {}\n", argv[1], done.error().message);
    return 1;
  }
}
