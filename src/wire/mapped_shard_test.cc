#include "wire/mapped_shard.h"

#include <gtest/gtest.h>

#include "analyze/list.h"

namespace spotter::wire {
namespace {

analyze::MappedShard example() {
  analyze::MappedShard shard;
  shard.shard = {2, 3};
  shard.paths = {"traces/", "-odd \xff name"};
  shard.job = {{"traces/a.json", 10}, {"traces/b.json", 20}};
  shard.flight_records = {{"traces/dump_0", 4}};
  shard.notes.add("kind", Severity::loss, "a sentence");
  shard.tables.analyses = {&analyze::kSteps};
  shard.tables.settings = {{}};
  shard.tables.ranks = {{0, 3}};
  shard.tables.steps = analyze::Range{2, 5};
  shard.places = {1};
  analyze::FileResult file;
  file.evidence.path = "traces/b.json";
  file.start = 17;
  file.tables.emplace_back(analyze::kSteps.name, map_columns(analyze::kSteps));
  shard.files.push_back(std::move(file));
  return shard;
}

std::string bytes_of(const analyze::MappedShard& shard) {
  std::string bytes;
  const auto done = write_shard(shard, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  EXPECT_TRUE(done);
  return bytes;
}

TEST(MappedShardFile, ComesBackTheSame) {
  const analyze::MappedShard shard = example();
  const auto back = read_shard(bytes_of(shard));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->shard.number, 2);
  EXPECT_EQ(back->shard.count, 3);
  EXPECT_EQ(back->paths[0], "traces/");
  EXPECT_EQ(back->job, shard.job);
  EXPECT_EQ(back->flight_records[0].rank, 4);
  EXPECT_EQ(back->notes.all()[0].sentence, "a sentence");
  EXPECT_EQ(back->tables, shard.tables);
  EXPECT_EQ(back->places, shard.places);
  EXPECT_EQ(back->files[0].start, 17);
  EXPECT_EQ(back->files[0].tables.size(), 1u);
}

TEST(MappedShardFile, DamageIsAnError) {
  const std::string bytes = bytes_of(example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(read_shard(bytes.substr(0, i))) << i;
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0x55);
    const auto read = read_shard(other);
    EXPECT_TRUE(!read || bytes_of(*read) == bytes) << i;
  }
  EXPECT_FALSE(read_shard(bytes + "x"));
  EXPECT_FALSE(read_shard("{}"));
}

}  // namespace
}  // namespace spotter::wire
