// The rules say of the history what they said of the samples, in its coarse tiers, too.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "respond/replay.h"
#include "store/history_query.h"

namespace spotter::agent {
namespace {

constexpr Ns kBegin = 1'700'000'000 * kSecond / kHour * kHour;
constexpr int kSeconds = 3 * 3600;

constexpr Field kStep[] = {
    {"job", Type::text, Unit::none, Role::key, "Job."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank."},
    {"user", Type::text, Unit::none, Role::key, "User."},
    {"source", Type::text, Unit::none, Role::detail, "Source."},
    {"step_ns", Type::integer, Unit::ns, Role::value, "Step."},
    {"step_longest_ns", Type::integer, Unit::ns, Role::value, "Longest."},
    {"step_age_ns", Type::integer, Unit::ns, Role::value, "Age."},
    {"steps", Type::integer, Unit::count, Role::counter, "Steps.", Since::agent},
};

class HistoryReplay : public testing::Test {
 protected:
  HistoryReplay() : folder_(std::filesystem::temp_directory_path() / fmt::format("sp_replay_{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~HistoryReplay() override { std::filesystem::remove_all(folder_); }

  // Steps of half a second of two ranks, slower in the seconds [slow_from, slow_until).
  std::vector<respond::Occurrence> found(int slow_from, int slow_until) {
    auto history = store::History::open({.path = folder_ / "history.db"});
    CHECK(history);
    for (int second = 0; second < kSeconds; ++second) {
      Table table("step", kStep);
      for (i64 rank = 0; rank < 2; ++rank) {
        std::mt19937 noise(static_cast<unsigned>(2 * second + rank));
        const bool is_slow = second >= slow_from && second < slow_until;
        const auto took =
            static_cast<i64>(0.5e9 * (is_slow ? 1.3 : 1) * std::normal_distribution<double>(1, 0.01)(noise));
        table.append({"4711", rank, "alice", "profilerStep", took, took, i64{100'000'000}, i64{2} * second});
      }
      Batch batch{kBegin + second * kSecond, kSecond, {}};
      batch.tables.push_back(std::move(table));
      CHECK((*history)->append(batch));
    }
    respond::Replay replay({.settings = {}, .host = "n1"});
    for (int from = 0; from < kSeconds; from += 600) {
      const auto tables = store::query(**history, {.from_unix_ns = kBegin + from * kSecond,
                                                   .to_unix_ns = kBegin + (from + 600) * kSecond});
      CHECK(tables);
      replay.add(*tables);
    }
    fine_since_ = replay.fine_since();
    return replay.found();
  }

  std::filesystem::path folder_;
  Ns fine_since_ = 0;
};

TEST_F(HistoryReplay, ASlowDownOfLate) {
  const auto all = found(9000, 9600);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].condition.rule, "step_time_up");
  EXPECT_NEAR(static_cast<double>(all[0].condition.since - kBegin) / 1e9, 9000, 20);
  EXPECT_NEAR(*all[0].condition.value, 0.65, 0.01);
  EXPECT_TRUE(all[0].is_told);
}

TEST_F(HistoryReplay, ASlowDownThatIsOfMeansOnly) {
  const auto all = found(2400, 3600);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].condition.rule, "step_time_up");
  EXPECT_NEAR(static_cast<double>(all[0].condition.since - kBegin) / 1e9, 2400, 60);
  EXPECT_GT(fine_since_, kBegin + 1800 * kSecond) << "the older hours are coarse";
}

TEST_F(HistoryReplay, AHealthyJobIsNothing) { EXPECT_TRUE(found(0, 0).empty()); }

}  // namespace
}  // namespace spotter::agent
