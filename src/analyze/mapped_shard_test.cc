#include "analyze/mapped_shard.h"

#include <gtest/gtest.h>

#include <set>

#include "analyze/list.h"

namespace spotter::analyze {
namespace {

Job job_of(const std::vector<i64>& sizes) {
  Job job;
  for (const i64 bytes : sizes) {
    job.files.emplace_back();
    job.files.back().path = fmt::format("rank{}.json", job.files.size() - 1);
    job.files.back().bytes = bytes;
  }
  return job;
}

TEST(MappedShard, TheLargestFilesAreDealtFirst) {
  const Job job = job_of({10, 50, 20, 40, 30});
  EXPECT_EQ(places_of(job, {0, 2}), (std::vector<size_t>{0, 1, 4}));
  EXPECT_EQ(places_of(job, {1, 2}), (std::vector<size_t>{2, 3}));
}

TEST(MappedShard, SharesFrom0AndFrom1AreTheSame) {
  const Job job = job_of({10, 50, 20, 40, 30, 30, 30});
  for (const i64 count : {1, 2, 3, 7, 9}) {
    EXPECT_EQ(places_of(job, {0, count}), places_of(job, {count, count}));
    std::multiset<size_t> all;
    for (i64 n = 1; n <= count; ++n)
      for (const size_t place : places_of(job, {n, count})) all.insert(place);
    EXPECT_EQ(all, (std::multiset<size_t>{0, 1, 2, 3, 4, 5, 6}));
  }
}

MappedShard empty_shard(i64 number, i64 count) {
  MappedShard shard;
  shard.shard = {number, count};
  shard.job = {{"a.json", 1}, {"b.json", 2}};
  return shard;
}

TEST(JoinedShards, NamesThoseThatAreMissingAsTheOthersCount) {
  const auto missing = [](const std::vector<i64>& numbers) {
    std::vector<std::pair<std::string, MappedShard>> shards;
    for (const i64 n : numbers) shards.emplace_back(fmt::format("part-{}", n), empty_shard(n, 3));
    return JoinedShards::join(std::move(shards)).value().missing();
  };
  EXPECT_EQ(missing({1, 2, 3}), std::vector<i64>());
  EXPECT_EQ(missing({1, 3}), std::vector<i64>{2});
  EXPECT_EQ(missing({0, 2}), std::vector<i64>{1});
}

TEST(JoinedShards, RefusesThoseThatDoNotBelongTogether) {
  const auto refusal = [](const MappedShard& other) {
    const auto joined = JoinedShards::join({{"one", empty_shard(1, 3)}, {"two", other}});
    return joined ? std::string() : joined.error().message;
  };
  EXPECT_EQ(refusal(empty_shard(2, 3)), "");
  EXPECT_NE(refusal(empty_shard(2, 4)).find("one and two divide"), std::string::npos);
  EXPECT_NE(refusal(empty_shard(1, 3)).find("same files"), std::string::npos);
  MappedShard other = empty_shard(2, 3);
  other.job[1].bytes = 3;
  EXPECT_NE(refusal(other).find("other files"), std::string::npos);
  other = empty_shard(2, 3);
  other.tables.steps = Range{1, 2};
  EXPECT_NE(refusal(other).find("other options"), std::string::npos);
}

// Whoever wrote it: a file that has no tables is not asked for any.
TEST(JoinedShards, WhatAPartDidNotWantStaysUnwanted) {
  MappedShard shard = empty_shard(1, 1);
  RunRequest request;
  request.analyses = {&kSteps};
  shard.tables = {request.analyses, settings_of(request).value(), {}, {}};
  shard.places = {0};
  shard.files.emplace_back();
  shard.files[0].evidence.contents_rank = 5;
  shard.files[0].unwanted = true;
  auto joined = JoinedShards::join({{"one", std::move(shard)}});
  ASSERT_TRUE(joined);
  const auto mapped = std::move(*joined).map(request, {}, {});
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_TRUE(mapped->files[0].unwanted);
  EXPECT_TRUE(mapped->files[0].tables.empty());
}

}  // namespace
}  // namespace spotter::analyze
