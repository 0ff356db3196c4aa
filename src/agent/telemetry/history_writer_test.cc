#include "agent/telemetry/history_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "store/test_history.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;

// A history in a folder that is taken away and comes back.
class HistoryWriterTest : public testing::Test {
 protected:
  std::unique_ptr<HistoryWriter> open() {
    Result<std::unique_ptr<HistoryWriter>> writer = HistoryWriter::open({place()});
    CHECK(writer.has_value());
    return std::move(*writer);
  }
  std::string place() const { return folder_.file("inner/history.db"); }
  void take_away() { fs::remove_all(folder_.file("inner")); }
  void bring_back() { fs::create_directory(folder_.file("inner")); }
  // So many seconds of samples, written as far as that is possible.
  void sample(HistoryWriter& writer, i64 seconds) {
    for (const i64 end = second_ + seconds; second_ < end; ++second_) {
      writer.offer(
          std::make_shared<const Batch>(store::disk_batch(second_, store::kStart + second_ * kSecond)));
    }
    writer.catch_up()(5 * kSecond);
  }

  store::TestFolder folder_;
  i64 second_ = 0;
};

size_t times(const std::string& text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST_F(HistoryWriterTest, AFailureAndItsEndAreInTheLogOnce) {
  bring_back();
  testing::internal::CaptureStderr();
  const auto writer = open();
  sample(*writer, 70);
  EXPECT_EQ(writer->state()->last_error, "");
  take_away();
  sample(*writer, 70);
  EXPECT_NE(writer->state()->last_error, "");
  const i64 failures = writer->state()->failures;
  EXPECT_GT(failures, 0);
  sample(*writer, 70);
  EXPECT_GT(writer->state()->failures, failures);
  bring_back();
  sample(*writer, 70);
  EXPECT_EQ(writer->state()->last_error, "");
  EXPECT_EQ(writer->state()->rejected, 0);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(times(log, "the history cannot be written"), 1U) << log;
  EXPECT_EQ(times(log, "the history is written again"), 1U) << log;
  EXPECT_EQ(times(log, "was removed or replaced"), 1U) << log;
}

TEST_F(HistoryWriterTest, WhatIsLostAtTheEndIsInTheLog) {
  bring_back();
  testing::internal::CaptureStderr();
  auto writer = open();
  sample(*writer, 70);
  take_away();
  sample(*writer, 30);
  writer.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(times(log, "the history could not be written at the end: 80 rows"), 1U) << log;  // 40 s, 2 disks
}

TEST_F(HistoryWriterTest, OneThatCannotBeOpenedIsTriedAgain) {
  testing::internal::CaptureStderr();
  const auto writer = open();
  EXPECT_NE(writer->state()->last_error.find("no history is kept"), std::string::npos);
  EXPECT_EQ(writer->history().error().code, Code::not_found);
  sample(*writer, 5);
  EXPECT_EQ(writer->state()->queued, 5);
  EXPECT_GT(writer->state()->failures, 0);
  bring_back();
  for (int i = 0; i < 100 && writer->state()->queued > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(writer->state()->last_error, "");
  ASSERT_TRUE(writer->history());
  EXPECT_EQ(store::ask(**writer->history(), store::everything())[0].rows(), 10U)
      << "what has waited is there";
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace spotter::agent
