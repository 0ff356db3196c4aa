#include "app/capture/capture_progress.h"

#include <gtest/gtest.h>

#include "capture/captures.h"

namespace spotter::app {
namespace {

void add(Table& receipts, const char* host, Value pid, Value rank, const char* state, bool is_over) {
  receipts.append({host, pid, rank, state, "/tmp/x", {}, is_over ? Value(i64{1}) : Value(), {}, {}, {}});
}

TEST(CaptureProgressTest, CountsAndWhoIsNotThrough) {
  Table receipts("receipts", capture::receipt_columns());
  add(receipts, "n1", i64{12}, i64{0}, "written", true);
  add(receipts, "n1", i64{13}, i64{1}, "capturing", false);
  add(receipts, "n2", i64{14}, {}, "accepted", false);
  add(receipts, "n3", {}, {}, "failed", false);  // it could not be asked
  EXPECT_EQ(progress_text(receipts, 12, 60),
            "4 processes: 1 accepted 1 capturing 1 written 1 failed\n"
            "  capturing  n1 rank 1\n"
            "  accepted   n2 process 14\n");
}

TEST(CaptureProgressTest, FitsTheScreen) {
  Table receipts("receipts", capture::receipt_columns());
  for (i64 rank = 0; rank < 100; rank++) add(receipts, "host\n", rank, rank, "accepted", false);
  const std::string text = progress_text(receipts, 4, 20);
  EXPECT_EQ(text,
            "100 processes: 100 a\n"
            "  accepted   host  r\n"
            "  accepted   host  r\n"
            "  and 98 more\n");
}

}  // namespace
}  // namespace spotter::app
