#include "analyze/run.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/range_text.h"
#include "analyze/run_files.h"
#include "base/system/file.h"

namespace spotter::analyze {
namespace {

std::vector<std::string> phase_names(const RunRequest& request) {
  std::vector<std::string> names = {"load", "select_steps"};
  for (const Analysis* a : request.analyses) {
    names.push_back(fmt::format("map {}", a->name));
    names.push_back(fmt::format("reduce {}", a->name));
  }
  return names;
}

// Sets those of `settings` that the analysis has.
Result<void> set_params(const Analysis& analysis, const ParamSettings& settings, ParamValues& values) {
  for (const auto& [name, value] : settings) {
    for (const Param& param : analysis.params) {
      if (name != param.name) continue;
      if (value.index() != param.fallback.index())
        return fail(Code::invalid, "parameter {} must be a {}", name,
                    param.is_text() ? "text" : "whole number");
      if (param.check) TRY(param.check(std::get<std::string>(value)));
      values.set(name, value);
    }
  }
  return {};
}

// Every setting is of a parameter that one of the analyses has.
Result<void> check_names(std::span<const Analysis* const> analyses, const ParamSettings& settings) {
  std::vector<std::string_view> valid;
  for (const Analysis* analysis : analyses) {
    for (const Param& param : analysis->params)
      if (std::find(valid.begin(), valid.end(), param.name) == valid.end()) valid.push_back(param.name);
  }
  for (const auto& [name, value] : settings) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end())
      return fail(
          Code::invalid, "there is no parameter {}; {}", name,
          valid.empty() ? "these analyses have none" : fmt::format("there are: {}", fmt::join(valid, ", ")));
    if (const i64* number = std::get_if<i64>(&value); number && *number < 0)
      return fail(Code::invalid, "parameter {} must not be negative, but is {}", name, *number);
  }
  return {};
}

// A value per parameter of each analysis: its own setting, else what the request says, else the parameter's
// fallback.
Result<std::vector<ParamValues>> values_of(const RunRequest& request) {
  TRY(check_names(request.analyses, request.params));
  std::vector<ParamValues> all;
  for (size_t i = 0; i < request.analyses.size(); ++i) {
    const Analysis& analysis = *request.analyses[i];
    ParamValues values;
    for (const Param& param : analysis.params) values.set(param.name, fallback_of(param));
    TRY(set_params(analysis, request.params, values));
    if (const auto own = request.own_params.find(i); own != request.own_params.end()) {
      TRY(check_names(std::span(request.analyses).subspan(i, 1), own->second));
      TRY(set_params(analysis, own->second, values));
    }
    all.push_back(std::move(values));
  }
  return all;
}

// A file that the answer is about.
struct WantedFile {
  FileResult* file;
  std::optional<i64> rank;
  bool is_guess;  // the rank
};

// Where no file is left, the error: that of the only file, or the first one with its name.
Result<void> check_any_left(std::span<const FileResult* const> files) {
  const auto failed = [](const FileResult* file) { return file->error.has_value(); };
  if (files.empty() || !std::all_of(files.begin(), files.end(), failed)) return {};
  const FileResult& first = *files[0];
  const bool named = files.size() == 1 || first.error->message.find(first.evidence.path) != std::string::npos;
  if (named) return tl::unexpected(*first.error);
  return within(*first.error, first.evidence.path);
}

void append_missing(const Range& asked, const std::set<i64>& present, std::vector<Range>& missing) {
  i64 next = asked.first;
  for (auto it = present.lower_bound(next); it != present.end() && *it <= asked.last; ++it) {
    if (*it > next) missing.push_back({next, *it - 1});
    if (*it == asked.last) return;
    next = *it + 1;
  }
  missing.push_back({next, asked.last});
}

// Some of the ranks that were asked for are there.
void note_missing_ranks(const RunRequest& request, const std::set<i64>& present, Notes& notes) {
  std::vector<Range> asked = request.ranks, missing;
  std::ranges::sort(asked, {}, &Range::first);
  i64 seen = -1;  // the last rank that an earlier range has
  for (const auto& [first, last] : asked) {
    if (last > seen) append_missing({std::max(first, seen + 1), last}, present, missing);
    seen = std::max(seen, last);
  }
  if (!missing.empty())
    notes.add("missing_ranks", Severity::info,
              fmt::format("of the ranks that were asked for the job does not have {}; it has {}",
                          range_text(missing), range_text(present)));
}

// The wanted files by rank, those without a rank last; also those that failed, but not only such.
Result<std::vector<WantedFile>> wanted_parts(const RunRequest& request, std::vector<FileResult>& files,
                                             Notes& notes) {
  if (files.empty()) return std::vector<WantedFile>();  // there are flight records alone
  std::vector<RankEvidence> evidence;
  std::vector<const FileResult*> read, wanted;
  std::set<i64> unwanted;  // ranks; two files that claim one of them are nobody's trouble
  for (const FileResult& file : files) {
    evidence.push_back(file.evidence);
    if (!file.unwanted)
      read.push_back(&file);
    else if (!unwanted.insert(*file.evidence.contents_rank).second)
      evidence.back() = {file.evidence.path, {}, {}, false, 0, 0};
  }
  TRY(check_any_left(read));
  TRY_ASSIGN(const std::vector<ResolvedRank> ranks, resolve_ranks(evidence, notes));
  std::vector<WantedFile> parts;
  std::set<i64> present;
  bool is_guess = false;
  for (size_t i = 0; i < files.size(); ++i) {
    if (ranks[i].rank) present.insert(*ranks[i].rank);
    // A rank by order is a guess where the file was not read: it may be the one that is wanted.
    const bool may_be_wanted = files[i].error && ranks[i].source == RankSource::order;
    is_guess |= may_be_wanted;
    if (!files[i].unwanted && (may_be_wanted || wants(request, ranks[i].rank)))
      parts.push_back({&files[i], ranks[i].rank, may_be_wanted});
  }
  const auto order = [](const WantedFile& p) { return std::tuple(!p.rank, p.rank.value_or(0), p.file); };
  std::sort(parts.begin(), parts.end(),
            [&](const WantedFile& a, const WantedFile& b) { return order(a) < order(b); });
  for (const WantedFile& part : parts) wanted.push_back(part.file);
  TRY(check_any_left(wanted));
  if (parts.empty())
    return fail(Code::not_found, "no file has a rank that was asked for; the job has {}",
                present.empty() ? "no ranks" : "ranks " + range_text(present));
  if (!is_guess) note_missing_ranks(request, present, notes);
  return parts;
}

void tell_failures(std::span<const WantedFile> parts, RunResult& result) {
  for (const WantedFile& part : parts) {
    if (!part.file->error) continue;
    std::string_view reason = part.file->error->message;
    const std::string named = part.file->evidence.path + ": ";  // the note's scope says it
    if (reason.starts_with(named)) reason.remove_prefix(named.size());
    const bool is_trace = part.file->error->code != Code::unsupported;
    if (is_trace && part.rank && !part.is_guess) result.unread.insert(*part.rank);
    Notes loss;
    loss.add(is_trace ? "file_left_out" : "no_trace", Severity::loss,
             fmt::format("a file could not be analysed and was left out: {}", reason));
    result.notes.merge(loss, base_name(part.file->evidence.path));
  }
}

Result<Table> reduce_parts(const Analysis& analysis, const ParamValues& params,
                           std::span<const RankTable> tables, const FlightRecords* records) {
  Table answer;
  if (records && analysis.of_records) {
    answer = analysis.of_records(*records);
  } else if (analysis.reduce) {
    TRY_ASSIGN(answer, analysis.reduce(tables, params));
  } else {
    answer = stack(analysis.name, analysis.columns, tables);
  }
  CHECK(has_columns(answer, analysis.columns));
  for (const RankTable& part : tables) answer.notes.merge(part.table.notes, base_name(part.path));
  return answer;
}

}  // namespace

Result<void> check_request(const RunRequest& request) {
  TRY(values_of(request));
  return {};
}

Result<std::vector<ParamSettings>> settings_of(const RunRequest& request) {
  TRY_ASSIGN(const std::vector<ParamValues> values, values_of(request));
  std::vector<ParamSettings> settings;
  for (const ParamValues& of : values) settings.push_back(of.all());
  return settings;
}

Result<MappedJob> map_files(const Job& job, const RunRequest& request, const Loader& load) {
  TRY_ASSIGN(const std::vector<ParamValues> params, values_of(request));
  Phases phases(phase_names(request));
  std::vector<FileResult> files = run_files(job, request, params, load, phases);
  const auto was_cancelled = [](const FileResult& f) { return f.error && f.error->code == Code::cancelled; };
  if (std::any_of(files.begin(), files.end(), was_cancelled))
    return fail(Code::cancelled, "the analysis was cancelled");
  return MappedJob{std::move(files), job.notes, phases.times()};
}

Result<RunResult> reduce_files(MappedJob mapped, const RunRequest& request) {
  TRY_ASSIGN(const std::vector<ParamValues> params, values_of(request));
  if (mapped.files.empty() && !request.records) return fail(Code::not_found, "there are no trace files");
  RunResult result;
  result.notes = std::move(mapped.notes);
  if (request.records) result.notes.merge(request.records->notes);
  TRY_ASSIGN(const std::vector<WantedFile> parts, wanted_parts(request, mapped.files, result.notes));
  tell_failures(parts, result);
  for (const WantedFile& part : parts) {
    result.notes.merge(part.file->notes, base_name(part.file->evidence.path));
    const std::optional<Ns>& start = part.file->start;
    if (start) result.start = std::min(*start, result.start.value_or(*start));
    if (!part.file->error) result.files.push_back({part.rank, part.file->evidence.path});
  }

  Phases phases(phase_names(request));
  const auto in_parts =
      std::ranges::find(request.analyses.rbegin(), request.analyses.rend(), request.in_parts);
  const auto place_in_parts = request.analyses.rend() - in_parts - 1;  // -1: nowhere
  for (size_t i = 0; i < request.analyses.size(); ++i) {
    std::vector<RankTable> tables;
    for (const WantedFile& part : parts)
      if (!part.file->error)
        tables.push_back({part.rank, part.file->evidence.path, std::move(part.file->tables[i])});
    if (static_cast<std::ptrdiff_t>(i) == place_in_parts) {
      result.parts = std::exchange(tables, {});
      result.tables.emplace_back(request.analyses[i]->name, request.analyses[i]->columns);
      continue;
    }
    TRY_ASSIGN(Table answer, phases.time(reduce_phase(i), [&] {
      return reduce_parts(*request.analyses[i], params[i], tables, request.records);
    }));
    result.tables.push_back(std::move(answer));
  }
  result.timing = phases.times();
  for (size_t i = 0; i < mapped.timing.size(); ++i) result.timing[i].wall_ns += mapped.timing[i].wall_ns;
  return result;
}

Result<RunResult> run(const Job& job, const RunRequest& request, const Loader& load) {
  TRY_ASSIGN(MappedJob mapped, map_files(job, request, load));
  return reduce_files(std::move(mapped), request);
}

}  // namespace spotter::analyze
