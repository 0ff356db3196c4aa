#include "analyze/mapped_shard.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "analyze/run_files.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

Result<ShardTables> tables_of(const RunRequest& request) {
  TRY_ASSIGN(std::vector<ParamSettings> settings, settings_of(request));
  return ShardTables{request.analyses, std::move(settings), request.ranks, request.steps};
}

// Where the parts have each of the wanted tables; kNone: nowhere.
std::vector<size_t> sources_of(const ShardTables& wanted, const ShardTables& held) {
  std::vector<size_t> sources;
  for (size_t i = 0; i < wanted.analyses.size(); ++i) {
    size_t at = 0;
    while (at < held.analyses.size() &&
           (held.analyses[at] != wanted.analyses[i] || held.settings[at] != wanted.settings[i]))
      ++at;
    sources.push_back(at < held.analyses.size() ? at : kNone);
  }
  return sources;
}

// Those of the request that the parts lack.
RunRequest rest_of(const RunRequest& request, const std::vector<size_t>& sources,
                   const std::vector<ParamSettings>& settings) {
  RunRequest rest = request;
  rest.analyses.clear();
  rest.params.clear();
  rest.own_params.clear();
  rest.in_parts = nullptr;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] != kNone) continue;
    rest.own_params[rest.analyses.size()] = settings[i];
    rest.analyses.push_back(request.analyses[i]);
  }
  return rest;
}

// Each from where the parts have it, else the next of those that were mapped again.
std::vector<Table> tables_by(const std::vector<size_t>& sources, std::vector<Table> held,
                             std::vector<Table> again) {
  std::vector<i64> uses(held.size());
  for (const size_t source : sources)
    if (source != kNone) ++uses[source];
  std::vector<Table> tables;
  auto next = again.begin();
  for (const size_t source : sources) {
    if (source == kNone)
      tables.push_back(std::move(*next++));
    else if (--uses[source] > 0)
      tables.push_back(held[source]);
    else
      tables.push_back(std::move(held[source]));
  }
  return tables;
}

Result<void> check_alike(const std::string& first_name, const MappedShard& first, const std::string& name,
                         const MappedShard& part) {
  const char* difference = part.shard.count != first.shard.count
                               ? "divide the job into other numbers of parts"
                           : part.job != first.job       ? "found other files of the job"
                           : part.tables != first.tables ? "were made with other options"
                                                         : nullptr;
  if (!difference) return {};
  return fail(Code::invalid, "{} and {} {}; keep the parts of one run of `spotter map` in a folder",
              first_name, name, difference);
}

}  // namespace

std::vector<size_t> places_of(const Job& job, const Shard& shard) {
  std::vector<size_t> by_size(job.files.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  stable_sort(by_size, [&](size_t a, size_t b) { return job.files[a].bytes > job.files[b].bytes; });
  std::vector<size_t> places;
  for (size_t i = 0; i < by_size.size(); ++i)
    if (static_cast<i64>(i) % shard.count == shard.share()) places.push_back(by_size[i]);
  std::ranges::sort(places);
  return places;
}

Result<MappedShard> plan_shard(const Job& job, const Shard& shard, std::vector<size_t> places,
                               const RunRequest& request) {
  MappedShard part;
  part.shard = shard;
  part.flight_records = job.flight_records;
  part.notes = job.notes;
  TRY_ASSIGN(part.tables, tables_of(request));
  part.places = std::move(places);
  for (const TraceFile& file : job.files) part.job.push_back({file.path, file.bytes});
  return part;
}

RunRequest request_of(const ShardTables& tables) {
  RunRequest request;
  request.analyses = tables.analyses;
  for (size_t i = 0; i < tables.settings.size(); ++i) request.own_params[i] = tables.settings[i];
  request.ranks = tables.ranks;
  request.steps = tables.steps;
  return request;
}

Result<MappedShard> map_shard(const Job& job, const Shard& shard, const RunRequest& request,
                              const Loader& load) {
  TRY_ASSIGN(MappedShard part, plan_shard(job, shard, places_of(job, shard), request));
  Job share;
  for (const size_t place : part.places) share.files.push_back(job.files[place]);
  if (share.files.empty()) return part;
  TRY_ASSIGN(MappedJob mapped, map_files(share, request, load));
  part.files = std::move(mapped.files);
  return part;
}

Result<JoinedShards> JoinedShards::join(std::vector<std::pair<std::string, MappedShard>> parts) {
  JoinedShards joined;
  std::map<i64, std::string> by_share;
  for (auto& [name, part] : parts) {
    TRY(check_alike(parts[0].first, parts[0].second, name, part));
    const auto [other, is_new] = by_share.try_emplace(part.shard.share(), name);
    if (!is_new) return fail(Code::invalid, "{} and {} hold the same files; remove one", other->second, name);
    joined.shards_.push_back(part.shard.number);
    for (size_t i = 0; i < part.files.size(); ++i)
      joined.files_.emplace_back(part.places[i], std::move(part.files[i]));
  }
  if (!parts.empty()) joined.first_ = std::move(parts[0].second);
  joined.first_.files.clear();
  joined.first_.places.clear();
  std::ranges::sort(joined.files_, {}, [](const auto& file) { return file.first; });
  return joined;
}

std::vector<i64> JoinedShards::missing() const {
  const bool from_zero = std::ranges::find(shards_, 0) != shards_.end();
  std::vector<i64> missing;
  for (i64 n = from_zero ? 0 : 1; n < first_.shard.count + (from_zero ? 0 : 1); ++n)
    if (std::ranges::find(shards_, n) == shards_.end()) missing.push_back(n);
  return missing;
}

std::vector<std::string> JoinedShards::missing_files() const {
  std::vector<std::string> paths;
  auto there = files_.begin();
  for (size_t place = 0; place < first_.job.size(); ++place) {
    if (there != files_.end() && there->first == place)
      ++there;
    else
      paths.push_back(first_.job[place].path);
  }
  return paths;
}

void JoinedShards::complete(RunRequest& request) const {
  if (request.ranks.empty()) request.ranks = first_.tables.ranks;
  if (!request.steps) request.steps = first_.tables.steps;
}

Result<std::vector<FileResult>> JoinedShards::map_again(const RunRequest& rest, const std::string& why,
                                                        const Reopen& reopen, const Loader& load) const {
  std::vector<std::string> paths;
  for (const auto& [place, file] : files_) paths.push_back(first_.job[place].path);
  TRY_ASSIGN(const Job job, reopen(paths, why));
  for (size_t f = 0; f < files_.size(); ++f) {
    const JobFile& then = first_.job[files_[f].first];
    if (f >= job.files.size() || job.files[f].path != then.path || job.files[f].bytes != then.bytes)
      return fail(Code::invalid, "{}: it has changed since it was mapped, and {}", then.path, why);
  }
  TRY_ASSIGN(MappedJob again, map_files(job, rest, load));
  return std::move(again.files);
}

Result<MappedJob> JoinedShards::map(const RunRequest& request, const Reopen& reopen, const Loader& load) && {
  TRY_ASSIGN(const ShardTables wanted, tables_of(request));
  const ShardTables& held = first_.tables;
  if (wanted.steps != held.steps || request.compat || (!held.ranks.empty() && wanted.ranks != held.ranks)) {
    TRY_ASSIGN(std::vector<FileResult> files,
               map_again(request, "the parts hold other ranks, steps or rows than these", reopen, load));
    return MappedJob{.files = std::move(files), .notes = first_.notes, .timing = {}};
  }
  const std::vector<size_t> sources = sources_of(wanted, held);
  const RunRequest rest = rest_of(request, sources, wanted.settings);
  std::vector<FileResult> again;
  if (!rest.analyses.empty()) {
    const std::string why = fmt::format("the parts have no {} with these options", rest.analyses[0]->name);
    TRY_ASSIGN(again, map_again(rest, why, reopen, load));
  }
  MappedJob mapped{.files = {}, .notes = first_.notes, .timing = {}};
  for (size_t f = 0; f < files_.size(); ++f) {
    FileResult& file = files_[f].second;
    // What was not wanted has no tables.
    if (!file.error && file.evidence.contents_rank)
      file.unwanted = file.unwanted || !wants(request, file.evidence.contents_rank);
    if (!file.error && !file.unwanted) {
      if (!again.empty() && again[f].error) return tl::unexpected(*again[f].error);
      if (!again.empty() && again[f].unwanted)
        return fail(Code::invalid, "{}: it has another rank than when it was mapped", file.evidence.path);
      file.tables = tables_by(sources, std::move(file.tables),
                              again.empty() ? std::vector<Table>() : std::move(again[f].tables));
    } else {
      file.tables.clear();
    }
    mapped.files.push_back(std::move(file));
  }
  return mapped;
}

}  // namespace spotter::analyze
