// Shards: one job's files, mapped by several processes of which each knows its share, and reduced by one.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/run.h"

namespace spotter::analyze {

struct Shard {
  i64 number = 0, count = 1;  // counted from 0 or from 1: the last one, and 0, is the same share
  i64 share() const { return number % count; }
};

struct JobFile {
  std::string path;
  i64 bytes = 0;
  bool operator==(const JobFile&) const = default;
};

// Which tables a part has.
struct ShardTables {
  std::vector<const Analysis*> analyses;
  std::vector<ParamSettings> settings;  // every parameter of each
  std::vector<Range> ranks;             // empty: all
  std::optional<Range> steps;
  bool operator==(const ShardTables&) const = default;
};

struct MappedShard {
  Shard shard;
  std::vector<std::string> paths;                // of the job, as they were named
  std::vector<JobFile> job;                      // all of its files, in its order
  std::vector<FlightRecordFile> flight_records;  // of the job
  Notes notes;                                   // of the job
  ShardTables tables;
  std::vector<size_t> places;  // of `files` in the job
  std::vector<FileResult> files;
};

// The share's files: all of the job's, the largest first, dealt in turn. Ascending places.
std::vector<size_t> places_of(const Job& job, const Shard& shard);

// A share of the job with the files at these places, of which none is mapped yet. Errors: as check_request().
Result<MappedShard> plan_shard(const Job& job, const Shard& shard, std::vector<size_t> places,
                               const RunRequest& request);
// What maps the tables of a part once more.
RunRequest request_of(const ShardTables& tables);

// Maps a share of the job.
Result<MappedShard> map_shard(const Job& job, const Shard& shard, const RunRequest& request,
                              const Loader& load);

class JoinedShards {
 public:
  // Of each the name, for errors: invalid (of different jobs, requests or numbers of shares; of one share
  // twice).
  static Result<JoinedShards> join(std::vector<std::pair<std::string, MappedShard>> parts);

  MappedShard& first() { return first_; }  // without files
  // Their numbers, counted as the others are; where only the first or the last may be it, from 1.
  std::vector<i64> missing() const;  // shards
  std::vector<std::string> missing_files() const;
  // What they hold, where nobody says otherwise.
  void complete(RunRequest& request) const;

  // In place of map_files(), once. What the parts lack, because the request is another one than theirs, is
  // mapped from the files of `reopen`. Errors: those of map_files() and of `reopen`.
  using Reopen = std::function<Result<Job>(const std::vector<std::string>& paths, const std::string& why)>;
  Result<MappedJob> map(const RunRequest& request, const Reopen& reopen, const Loader& load) &&;

 private:
  Result<std::vector<FileResult>> map_again(const RunRequest& rest, const std::string& why,
                                            const Reopen& reopen, const Loader& load) const;

  MappedShard first_;
  std::vector<i64> shards_;                           // that are there
  std::vector<std::pair<size_t, FileResult>> files_;  // by place
};

}  // namespace spotter::analyze
