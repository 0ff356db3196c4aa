// Analyses over the rows that Holistic Trace Analysis has, or what users have left of them, for the package
// spotter.hta. What a file says of the frame that HTA would make of it is told with the answer, so that no
// frame has to be made for it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <ranges>

#include "analyze/run.h"
#include "beat.h"
#include "core.h"
#include "held_table.h"
#include "read/open.h"
#include "requests.h"
#include "trace/hta_rows.h"
#include "trace/microseconds.h"
#include "values.h"

namespace spotter::python {

namespace {

enum class Rows : int { kept, kept_with_last_step, all, these };

struct HtaFile {
  std::string path;
  i64 rank = 0;
  Rows which = Rows::kept;
  std::vector<EventId> rows;  // ascending, for `these`
};

struct Extent {
  i64 least = -1, most = -1;  // what has none has -1
  void add(i64 value) { least = std::min(least, value), most = std::max(most, value); }
};

// What the frame of a file looks like.
struct HtaFacts {
  bool has_whole_durations = true;  // every event of the file has a duration, in whole microseconds
  i64 base_ns = 0;
  double first_us = 0;  // the earliest start, as HTA has it
  EventId last_row = 0;
  Extent streams, correlations;
  bool has_text_processes = false;    // some of the file's
  std::vector<i64> order_of_streams;  // in which they first have work among the rows analysed
  std::vector<std::string> losses;
  std::vector<EventId> kept;  // rows of the file that were analysed
};

HtaFacts look_at(const Trace& trace, bool rounds) {
  HtaFacts facts;
  facts.base_ns = trace.info().base_ns;
  const std::vector<EventId> rows = trace::rows_hta_reads(trace);
  facts.has_whole_durations =
      !(rounds && trace::hta_rounds(trace)) &&
      std::ranges::all_of(std::views::iota(EventId{0}, static_cast<EventId>(trace.size())),
                          [&](EventId e) { return trace.is_span(e) && trace.dur[e] % kMicrosecond == 0; });
  std::optional<Ns> first;
  for (const EventId e : rows) {
    facts.streams.add(trace.integer(e, Arg::stream).value_or(-1));
    facts.correlations.add(trace.integer(e, Arg::correlation).value_or(-1));
    first = std::min(first.value_or(trace.ts[e]), trace.ts[e]);
  }
  facts.has_text_processes =
      std::ranges::any_of(trace.tracks(), [](const Track& track) { return track.pid_text != 0; });
  if (!rows.empty()) facts.last_row = rows.back();
  for (const Note& note : trace.notes().all())
    if (note.severity == Severity::loss) facts.losses.push_back(to_text(note));
  facts.first_us = trace::microseconds(first.value_or(0));
  if (rounds) facts.first_us = std::ceil(facts.first_us);
  return facts;
}

std::vector<EventId> rows_of(const Trace& trace, const HtaFile& file, bool rounds) {
  switch (file.which) {
    case Rows::kept:
    case Rows::kept_with_last_step:
      return trace::rows_hta_keeps(trace, file.which == Rows::kept_with_last_step, rounds);
    case Rows::all:
      return trace::rows_hta_reads(trace);
    case Rows::these:
      break;
  }
  return file.rows;
}

void add_order_of_streams(const Trace& trace, HtaFacts& facts) {
  for (const EventId e : facts.kept) {
    if (!is_device_work(trace.category(e))) continue;
    const i64 stream = trace.integer(e, Arg::stream).value_or(-1);
    if (std::ranges::find(facts.order_of_streams, stream) == facts.order_of_streams.end())
      facts.order_of_streams.push_back(stream);
  }
}

class HtaLoader {
 public:
  HtaLoader(const std::vector<HtaFile>& files, bool rounds, bool wants_rows)
      : files_(files), rounds_(rounds), wants_rows_(wants_rows) {}

  Result<TracePtr> operator()(const TraceFile& file, LoadRequest how) {
    how.args |= ArgSet{Arg::correlation, Arg::stream};
    const auto wanted = std::ranges::find_if(files_, [&](const HtaFile& f) { return f.rank == file.rank; });
    Result<TracePtr> loaded = read::load(file, how);
    if (!loaded) return failed(loaded.error());
    const Trace& trace = **loaded;
    HtaFacts facts = look_at(trace, rounds_);
    std::vector<EventId> rows = rows_of(trace, *wanted, rounds_);
    if (!rows.empty() && rows.back() >= trace.size())
      return failed(fail(Code::invalid,
                         "{}: it has {} events now, and had more when its frame was made; make that anew",
                         file.path, trace.size())
                        .value());
    TraceData data = trace::as_hta_has(trace, std::move(rows), rounds_, facts.kept);
    add_order_of_streams(trace, facts);
    if (!wants_rows_) facts.kept = {};
    data.info.rank = wanted->rank;
    const std::scoped_lock lock(mutex_);
    facts_[wanted->rank] = std::move(facts);
    return std::make_unique<Trace>(std::move(data));
  }

  // The first one ends the run: to users a rank without numbers would be one without work.
  tl::unexpected<Error> failed(Error error) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = error;
    return tl::unexpected(std::move(error));
  }

  const std::optional<Error>& failure() const { return failure_; }
  std::map<i64, HtaFacts> take_facts() { return std::move(facts_); }

 private:
  const std::vector<HtaFile>& files_;
  bool rounds_, wants_rows_;
  std::mutex mutex_;  // of what follows
  std::map<i64, HtaFacts> facts_;
  std::optional<Error> failure_;
};

Result<Job> hta_job(const std::vector<HtaFile>& files) {
  Job job;
  for (const HtaFile& file : files) {
    TRY_ASSIGN(Job one, read::open_job(std::span(&file.path, 1)));
    if (one.files.size() != 1)
      return fail(Code::invalid, "{}: it holds {} traces; name one file for rank {}", file.path,
                  one.files.size(), file.rank);
    job.files.push_back(std::move(one.files[0]));
    job.files.back().rank = file.rank;
    job.files.back().rank_source = RankSource::file_contents;
  }
  return job;
}

std::vector<HtaFile> hta_files(const nb::list& said) {
  std::vector<HtaFile> files;
  for (const nb::handle file : said) {
    HtaFile& to = files.emplace_back();
    const auto path = nb::cast<nb::bytes>(file[0]);
    to.path.assign(path.c_str(), path.size());
    to.rank = nb::cast<i64>(file[1]);
    to.which = static_cast<Rows>(nb::cast<int>(file[2]));
    const nb::bytes rows = nb::cast<nb::bytes>(file[3]);
    to.rows.resize(rows.size() / sizeof(EventId));
    std::copy_n(rows.c_str(), to.rows.size() * sizeof(EventId), reinterpret_cast<char*>(to.rows.data()));
  }
  return files;
}

nb::dict python_of(const std::map<i64, HtaFacts>& all) {
  nb::dict by_rank;
  for (const auto& [rank, facts] : all) {
    nb::dict of;
    of["has_whole_durations"] = facts.has_whole_durations;
    of["base_ns"] = facts.base_ns;
    of["first_us"] = facts.first_us;
    of["last_row"] = facts.last_row;
    of["streams"] = nb::make_tuple(facts.streams.least, facts.streams.most);
    of["correlations"] = nb::make_tuple(facts.correlations.least, facts.correlations.most);
    of["has_text_processes"] = facts.has_text_processes;
    of["order_of_streams"] = nb::cast(facts.order_of_streams);
    of["losses"] = nb::cast(facts.losses);
    of["rows"] =
        nb::bytes(reinterpret_cast<const char*>(facts.kept.data()), facts.kept.size() * sizeof(EventId));
    by_rank[nb::int_(rank)] = of;
  }
  return by_rank;
}

// Of each file (path, rank, which rows, their numbers as 32-bit integers). Tables in the order of `names`,
// and by rank what its file's frame looks like.
nb::tuple hta_run(const nb::list& said, const std::vector<std::string>& names, const nb::list& params,
                  const Part& part, bool rounds, bool wants_rows, nb::callable tell) {
  const std::vector<HtaFile> files = hta_files(said);
  analyze::RunRequest request = asked(names, params, part, "").run;
  HtaLoader loader(files, rounds, wants_rows);
  Beat beat(std::move(tell));
  request.on_progress = beat.on_progress();
  request.cancelled = beat.cancelled();
  analyze::RunResult result = beat.run<analyze::RunResult>([&]() -> Result<analyze::RunResult> {
    TRY_ASSIGN(const Job job, hta_job(files));
    auto done = analyze::run(
        job, request, [&](const TraceFile& file, const LoadRequest& how) { return loader(file, how); });
    if (loader.failure()) return tl::unexpected(*loader.failure());
    return done;
  });
  nb::list tables;
  for (Table& table : result.tables) tables.append(nb::cast(HeldTable(std::move(table), result.start)));
  return nb::make_tuple(tables, python_of(loader.take_facts()));
}

}  // namespace

void bind_hta(nb::module_& module) {
  module.def("hta_run", hta_run, nb::arg("files"), nb::arg("names"), nb::arg("params"), nb::arg("part"),
             nb::arg("rounds"), nb::arg("wants_rows"), nb::arg("tell"));
}

}  // namespace spotter::python
