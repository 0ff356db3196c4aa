#include "sink/json_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sink/list.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

constexpr Ns kTime = 1'795'345'200'123'999'999;  // 2026-11-22T11:00:00.123999999Z

TEST(JsonLinesTest, ALineForEachRow) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = kTime;
  Table& disk = batch->tables.emplace_back("disk", kDiskColumns);
  disk.append({"sd\"a\n", i64{9'007'199'254'740'993}, 0.1});
  disk.append({"sdb", Value(), std::nan("")});
  EXPECT_EQ(
      json_lines(share_of(batch), "n\\1"),
      "{\"time\":\"2026-11-22T11:00:00.123Z\",\"host\":\"n\\\\1\",\"table\":\"disk\",\"device\":\"sd\\\"a\\n\","
      "\"read_bytes\":9007199254740993,\"busy\":0.1}\n"
      "{\"time\":\"2026-11-22T11:00:00.123Z\",\"host\":\"n\\\\1\",\"table\":\"disk\",\"device\":\"sdb\"}\n");
}

TEST(JsonLinesTest, AsASink) {
  const Folder folder;
  const auto sink = make_sink("json_lines", {{"path", folder.path("a")}}, {.host_name = "n1"}).value();
  const Share shares[] = {share_of(disk_batch(0, 1)), share_of(disk_batch(1, 2))};
  const Delivery all = sink->deliver(shares);
  EXPECT_TRUE(all.result);
  EXPECT_EQ(all.batches, 2u);
  const std::string text = folder.text("a");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find("\"read_bytes\":2,"), std::string::npos);

  const auto full = make_sink("json_lines", {{"path", "/dev/full"}}, {}).value();
  const Delivery none = full->deliver(shares);
  ASSERT_FALSE(none.result);
  EXPECT_TRUE(is_tried_again(none.result.error()));
}

}  // namespace
}  // namespace spotter::sink
