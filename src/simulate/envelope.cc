#include "simulate/envelope.h"

#include "simulate/costs.h"
#include "simulate/hash.h"

namespace spotter::simulate {
namespace {

constexpr Ns kBefore = 120'000, kAfter = 60'000;  // what the recording covers around the job

// A time in the era's unit.
std::string time_text(const Era& era, const RankPlace& place, Ns at) {
  const Ns time = kJobStart + place.clock.at(at);
  if (era.whole_us) return std::to_string((kClockBase + time) / 1000);
  return fmt::format("{}.{:03}", time / 1000, time % 1000);
}

std::string devices(const Job& job) {
  std::string text;
  for (i64 d = 0; d < job.spec.gpus_per_node; ++d)
    text += fmt::format(
        "{}\n    {{\n      \"id\": {}, \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": {},\n"
        "      \"computeMajor\": 9, \"computeMinor\": 0,\n"
        "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
        "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, \"numSms\": 132,\n"
        "      \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, \"sharedMemPerMultiprocessor\": 233472\n    }}",
        d == 0 ? "" : ",", d, kDeviceBytes);
  return text;
}

// The groups that the rank is in.
std::string groups(const Job& job, i64 rank) {
  const Layout& layout = job.layout;
  std::vector<i64> all;
  for (i64 r = 0; r < job.spec.ranks; ++r) all.push_back(r);
  std::string text;
  i64 count = 0;
  const auto add = [&](const std::string& name, const std::string& description,
                       const std::vector<i64>& ranks) {
    text += fmt::format(
        "{}{{\"pg_name\": \"{}\", \"pg_desc\": \"{}\", \"backend_config\": \"cuda:nccl\", \"pg_size\": {}, "
        "\"ranks\": [{}]}}",
        count++ == 0 ? "" : ", ", name, description, ranks.size(), fmt::join(ranks, ", "));
  };
  add("0", "default_pg", all);
  for (size_t k = 0; k < layout.kinds(); ++k) {
    const auto kind = static_cast<GroupKind>(k);
    const i64 group = layout.group(kind, rank);
    if (layout.size(kind) > 1 && !layout.is_whole_job(kind))
      add(layout.group_name(kind, group), layout.group_description(kind), layout.members(kind, group));
  }
  return fmt::format("\"pg_count\": {}, \"pg_config\": [{}], \"nccl_version\": \"2.27.5\"", count, text);
}

std::string distributed_info(const Job& job, i64 rank) {
  std::string text =
      fmt::format("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}", rank,
                  job.spec.ranks);
  if (job.spec.era->has_groups) text += ", " + groups(job, rank);
  return text + "},\n";
}

std::string base() {
  return fmt::format("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {},\n", kClockBase);
}

class Metadata {
 public:
  explicit Metadata(std::string ts) : ts_(std::move(ts)) {}

  void add(const char* name, const std::string& pid, const std::string& tid, const std::string& args) {
    text_ += fmt::format(
        "  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": {}, \"pid\": {}, \"tid\": {},\n    \"args\": {{\n      {}\n    }}\n  }},\n",
        name, ts_, pid, tid, args);
  }
  void process(i64 pid, const std::string& label, i64 sort) {
    const std::string id = std::to_string(pid);
    add("process_name", id, "0", "\"name\": \"python3\"");
    add("process_labels", id, "0", fmt::format("\"labels\": \"{}\"", label));
    add("process_sort_index", id, "0", fmt::format("\"sort_index\": {}", sort));
  }
  void thread(i64 pid, const std::string& tid, const std::string& name, i64 sort) {
    add("thread_name", std::to_string(pid), tid, fmt::format("\"name\": \"{}\"", name));
    add("thread_sort_index", std::to_string(pid), tid, fmt::format("\"sort_index\": {}", sort));
  }
  const std::string& text() const { return text_; }

 private:
  std::string ts_, text_;
};

std::string metadata(const Job& job, const RankPlace& place) {
  constexpr i64 kDeviceSort = 5'000'000;
  Metadata m(time_text(*job.spec.era, place, -kBefore));
  m.process(place.pid, "CPU", place.pid);
  m.process(place.device, fmt::format("GPU {}", place.device), kDeviceSort + place.device);
  for (u32 thread = 0; thread < 2; ++thread) {
    const i64 tid = place.thread_id(thread);
    m.thread(place.pid, std::to_string(tid),
             fmt::format("thread {} ({})", tid, thread == 0 ? "python3" : "pt_autograd_0"), tid);
  }
  const size_t streams = job.spec.expert > 1 ? size_t{kStreams} : size_t{kExpert};
  for (size_t s = 0; s < streams; ++s) {
    const i64 stream = kStreamIds[s];
    const std::string tid =
        job.spec.era->stream_words ? fmt::format("\"stream {}\"", stream) : std::to_string(stream);
    m.thread(place.device, tid, fmt::format("stream {} ", stream), stream);
  }
  if (const i64 row = job.spec.era->sync_row; row > 0)
    m.thread(place.device, std::to_string(kStreamIds[kCompute] + row),
             fmt::format("stream {} (sync)", kStreamIds[kCompute]), kStreamIds[kCompute] + row);
  return m.text();
}

}  // namespace

std::string trace_name(const RankPlace& place, bool gzip) {
  return fmt::format("rank_{:04}.{}.pt.trace.json{}", place.rank, place.host, gzip ? ".gz" : "");
}

std::string envelope_head(const Job& job, const RankPlace& place, const std::string& name) {
  const Era& era = *job.spec.era;
  std::string text =
      fmt::format("\n{{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{}\n  ],\n", devices(job));
  if (era.has_distributed_info) text += distributed_info(job, place.rank);
  if (era.has_facts)
    text += fmt::format(
        "  \"record_shapes\": 1,\n  \"host_name\": \"{}\",\n  \"cupti_version\": 28,\n  \"cuda_runtime_version\": 12090,\n"
        "  \"cuda_driver_version\": 13000,\n  \"trace_id\": \"{:016X}{:016X}\",\n",
        place.host, mix(static_cast<u64>(job.spec.seed)), mix(static_cast<u64>(place.rank)));
  if (era.base == TimeBase::before_events) text += base();
  if (era.base == TimeBase::epoch) text += fmt::format("  \"traceName\": \"{}\",\n", name);
  return text + "  \"traceEvents\": [\n";
}

std::string envelope_tail(const Job& job, const RankPlace& place, const std::string& name, Ns end) {
  const Era& era = *job.spec.era;
  const std::string start = time_text(era, place, -kBefore), stop = time_text(era, place, end + kAfter);
  const Ns from = kJobStart + place.clock.at(-kBefore), to = kJobStart + place.clock.at(end + kAfter);
  std::string dur = fmt::format("{}.{:03}", (to - from) / 1000, (to - from) % 1000);
  if (era.whole_us) dur = std::to_string(to / 1000 - from / 1000);
  std::string text = metadata(job, place);
  text += fmt::format(
      "  {{\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": {}, \"dur\": {},\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n"
      "    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {{\n      \"Op count\": 0\n    }}\n  }},\n"
      "  {{\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n"
      "    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": {}\n  }},\n"
      "  {{\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": {}\n  }}\n  ]",
      start, dur, start, stop);
  if (era.base == TimeBase::epoch) return text + "\n}";
  text += ",\n";
  if (era.base == TimeBase::after_events) text += base();
  return text + fmt::format("  \"traceName\": \"{}\"\n}}", name);
}

}  // namespace spotter::simulate
