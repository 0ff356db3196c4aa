#include "store/incident_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/system/file.h"
#include "store/test_history.h"

namespace spotter::store {
namespace {

namespace fs = std::filesystem;

class Incidents : public ::testing::Test {
 protected:
  void open(IncidentStoreOptions options = {}) {
    store_.reset();
    options.path = path_;
    auto opened = IncidentStore::open(std::move(options));
    if (!opened) fmt::print(stderr, "{}\n", opened.error().message);
    ASSERT_TRUE(opened);
    store_ = std::move(*opened);
  }
  static StoredIncident incident(const std::string& id, Ns opened, Ns closed = 0) {
    return {.id = id,
            .key = "a/" + id,
            .n = 1,
            .state = closed ? "resolved" : "verdict",
            .opened = opened,
            .updated = std::max(opened, closed),
            .closed = closed,
            .text = R"({"id": ")" + id + "\"}"};
  }
  static OutboxRow word(i64 sequence, bool is_last = false, const std::string& notifier = "ops") {
    return {.incident = "1-speed-1",
            .notifier = notifier,
            .sequence = sequence,
            .occasion = is_last ? "resolved" : "verdict",
            .is_last = is_last,
            .text = fmt::format("word {}", sequence),
            .put = kStart + sequence};
  }
  void put(std::vector<OutboxRow> words) {
    ASSERT_TRUE(store_->put(incident("1-speed-1", kStart), {}, words, kStart));
  }
  std::vector<OutboxRow> due(Ns now = kStart, const std::string& notifier = "ops") {
    auto rows = store_->due(notifier, now, 100);
    EXPECT_TRUE(rows);
    return rows ? *rows : std::vector<OutboxRow>{};
  }
  std::vector<i64> sequences(Ns now = kStart) {
    std::vector<i64> all;
    for (const OutboxRow& row : due(now)) all.push_back(row.sequence);
    return all;
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("incidents.db");
  std::unique_ptr<IncidentStore> store_;
};

using Sequences = std::vector<i64>;

TEST_F(Incidents, AreThereAgainWithHowTheyCameToBeSo) {
  open();
  StoredIncident first = incident("1-speed-1", kStart);
  const Transition steps[] = {{kStart, "pending", "firing", "2 hosts"},
                              {kStart + 1, "firing", "verdict", ""}};
  ASSERT_TRUE(store_->put(first, steps, {}, kStart));
  ASSERT_TRUE(store_->put(incident("2-gpu-1", kStart + 5, kStart + 9), {}, {}, kStart));
  first.text = "{\"id\": \"1-speed-1\", \"state\": \"recovering\"}";
  first.state = "recovering";
  const Transition last[] = {{kStart + 2, "verdict", "recovering", "quiet"}};
  ASSERT_TRUE(store_->put(first, last, {}, kStart));
  open();
  const auto newest = *store_->newest(10);
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].id, "2-gpu-1");
  EXPECT_EQ(newest[0].closed, kStart + 9);
  EXPECT_EQ(store_->newest(1)->size(), 1U);
  const auto open_ones = *store_->open_ones();
  ASSERT_EQ(open_ones.size(), 1U);
  EXPECT_EQ(open_ones[0].text, first.text);
  EXPECT_EQ(open_ones[0].state, "recovering");
  EXPECT_EQ(open_ones[0].key, "a/1-speed-1");
  EXPECT_EQ((*store_->find("2-gpu-1"))->state, "resolved");
  EXPECT_FALSE(*store_->find("3"));
  const auto transitions = *store_->transitions("1-speed-1");
  ASSERT_EQ(transitions.size(), 3U);
  EXPECT_EQ(transitions[0].why, "2 hosts");
  EXPECT_EQ(transitions[2].from, "verdict");
  EXPECT_EQ(transitions[2].to, "recovering");
  EXPECT_EQ(transitions[2].at, kStart + 2);
}

TEST_F(Incidents, ANewerWordTakesTheOldersPlace) {
  open();
  put({word(1), word(1, false, "pager")});
  put({word(2)});
  EXPECT_EQ(sequences(), Sequences{2});
  EXPECT_EQ(due(kStart, "pager")[0].sequence, 1);
  put({word(1)});  // late
  EXPECT_EQ(sequences(), Sequences{2});
  EXPECT_EQ(store_->state().overtaken, 1);
  EXPECT_EQ(*store_->waiting("ops"), 1);
  EXPECT_EQ(*store_->waiting("pager"), 1);
}

TEST_F(Incidents, AnEndOvertakesABeginningThatNobodyHeardOf) {
  open();
  put({word(1)});
  put({word(2, true)});
  EXPECT_EQ(sequences(), Sequences{});
  EXPECT_EQ(store_->state().overtaken, 2);
  // Told once, it is to be told of the end, too.
  put({word(3)});
  ASSERT_TRUE(store_->tick_off(due(), 0));
  put({word(4, true)});
  EXPECT_EQ(sequences(), Sequences{4});
}

TEST_F(Incidents, AnEndIsToldWhereTheBeginningMayHaveArrived) {
  open();
  put({word(1)});
  ASSERT_TRUE(store_->begin_attempt(due(), kStart));
  open();  // the process was killed before there was an answer
  EXPECT_TRUE(due()[0].in_doubt);
  EXPECT_EQ(due()[0].attempts, 1);
  EXPECT_EQ(due()[0].first_attempt, kStart);
  put({word(2, true)});
  EXPECT_EQ(sequences(), Sequences{2});
}

TEST_F(Incidents, AnEndIsToldOfWhatAnotherHostHasTold) {
  open();
  OutboxRow end = word(2, true);
  end.in_doubt = true;
  put({end});
  EXPECT_EQ(sequences(), Sequences{2});
  const auto rows = due();
  ASSERT_TRUE(store_->begin_attempt(rows, kStart));
  ASSERT_TRUE(store_->put_off(rows, kStart + kSecond, false));
  EXPECT_EQ(sequences(kStart + kMinute), Sequences{2}) << "after an attempt that failed, too";
}

TEST_F(Incidents, AnEndThatComesDuringAnAttemptKeepsItsOwnDoubt) {
  open();
  put({word(1)});
  const auto rows = due();
  ASSERT_TRUE(store_->begin_attempt(rows, kStart));
  OutboxRow end = word(2, true);
  end.in_doubt = true;
  put({end});
  ASSERT_TRUE(store_->put_off(rows, kStart + kSecond, false));
  EXPECT_EQ(sequences(kStart + kMinute), Sequences{2});
}

TEST_F(Incidents, AnEndThatCameDuringAnAttemptGoesWhereThatFailed) {
  open();
  put({word(1)});
  const auto rows = due();
  ASSERT_TRUE(store_->begin_attempt(rows, kStart));
  put({word(2, true)});
  EXPECT_EQ(sequences(), Sequences{2});
  ASSERT_TRUE(store_->put_off(rows, kStart + kSecond, false));
  EXPECT_EQ(sequences(kStart + kMinute), Sequences{});
  EXPECT_EQ(store_->state().overtaken, 3);  // the first when the second came, and then both
}

TEST_F(Incidents, WhatIsDeliveredIsNotThereAgain) {
  open();
  put({word(1)});
  auto rows = due();
  rows[0].kept = "message 7";
  ASSERT_TRUE(store_->tick_off(rows, 0));
  put({word(1)});
  EXPECT_EQ(sequences(), Sequences{});
  put({word(2)});
  EXPECT_EQ(due()[0].kept, "message 7");
  // What was under way when a newer word came does not take that with it.
  rows = due();
  put({word(3)});
  rows[0].kept = "message 8";
  ASSERT_TRUE(store_->tick_off(rows, 0));
  EXPECT_EQ(sequences(), Sequences{3});
  EXPECT_EQ(due()[0].kept, "message 8");
  EXPECT_FALSE(due()[0].in_doubt);
}

TEST_F(Incidents, WhatIsPutOffComesLater) {
  open();
  put({word(1)});
  ASSERT_TRUE(store_->put_off(due(), kStart + kMinute, true));
  EXPECT_EQ(sequences(), Sequences{});
  EXPECT_EQ(*store_->next_due("ops"), std::optional(kStart + kMinute));
  EXPECT_FALSE(*store_->next_due("pager"));
  EXPECT_EQ(sequences(kStart + kMinute), Sequences{1});
  EXPECT_EQ(sequences(kStart - kDay), Sequences{1});  // the clock was wrong
  // Doubt stays: a second attempt that surely failed says nothing of the first one.
  const auto rows = due(kStart + kMinute);
  ASSERT_TRUE(store_->begin_attempt(rows, kStart + kMinute));
  ASSERT_TRUE(store_->put_off(rows, kStart + kMinute, false));
  EXPECT_TRUE(due(kStart + kMinute)[0].in_doubt);
  ASSERT_TRUE(store_->drop(due(kStart + kMinute)));
  EXPECT_EQ(*store_->waiting("ops"), 0);
}

TEST_F(Incidents, WhatIsToldAgainDoesNotWait) {
  open();
  put({word(1)});
  ASSERT_TRUE(store_->tick_off(due(), kStart + kMinute));
  EXPECT_EQ(*store_->waiting("ops"), 0);
  EXPECT_EQ(sequences(), Sequences{});
  EXPECT_TRUE(due(kStart + kMinute)[0].is_told);
  put({word(2)});
  EXPECT_EQ(sequences(), Sequences{2});
  EXPECT_EQ(store_->state().overtaken, 0);
}

TEST_F(Incidents, WhatEndsInSilenceIsToldAgainNoMore) {
  open({.path = {}, .limits = {.most = 1}});
  put({word(1)});
  ASSERT_TRUE(store_->tick_off(due(), kStart + kMinute));
  put({});
  EXPECT_EQ(due(kStart + kMinute).size(), 1U);
  ASSERT_TRUE(store_->put(incident("1-speed-1", kStart, kStart + 1), {}, {}, kStart));
  EXPECT_TRUE(due(kStart + kMinute).empty());
  // Nor what is forgotten.
  put({word(2)});
  ASSERT_TRUE(store_->tick_off(due(), kStart + kMinute));
  for (const Ns now : {kStart, kStart + 2 * kHour})
    ASSERT_TRUE(store_->put(incident("2", kStart + 5), {}, {}, now));
  EXPECT_FALSE(*store_->find("1-speed-1"));
  EXPECT_TRUE(due(kStart + kMinute).empty());
}

TEST_F(Incidents, UrgentWordsGoFirst) {
  open();
  OutboxRow urgent = word(1);
  urgent.incident = "9-gpu-1";
  urgent.is_urgent = true;
  urgent.put = kStart + kHour;
  put({word(1), urgent});
  ASSERT_EQ(due().size(), 2U);
  EXPECT_EQ(due()[0].incident, "9-gpu-1");
  EXPECT_EQ(store_->due("ops", kStart, 1)->size(), 1U);
}

TEST_F(Incidents, WhatWaitsForNobodyGoes) {
  open();
  put({word(1), word(1, false, "pager")});
  EXPECT_EQ(*store_->keep_notifiers({"ops"}), 1);
  EXPECT_EQ(sequences(), Sequences{1});
  EXPECT_TRUE(due(kStart, "pager").empty());
}

TEST_F(Incidents, HowOftenThereWasOneOutlivesIt) {
  open({.path = {}, .limits = {.kept = kDay}});
  StoredIncident third = incident("1-speed-3", kStart, kStart + 1);
  third.key = "a/1/speed";
  third.n = 3;
  ASSERT_TRUE(store_->put(third, {}, {}, kStart));
  ASSERT_TRUE(store_->put(incident("2", kStart + 2 * kDay), {}, {}, kStart + 2 * kDay));
  EXPECT_FALSE(*store_->find("1-speed-3"));
  third.n = 2;  // late
  ASSERT_TRUE(store_->put(third, {}, {}, kStart + 2 * kDay));
  using Keys = std::vector<std::pair<std::string, i64>>;
  EXPECT_EQ(*store_->keys(), (Keys{{"a/1/speed", 3}, {"a/2", 1}}));
}

TEST_F(Incidents, ClosedOnesGoAfterTheirTimeAndOpenOnesStay) {
  open({.path = {}, .limits = {.most = 4, .kept = kDay, .most_transitions = 2}});
  const Transition step[] = {{kStart, "pending", "firing", "once"}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_->put(incident("open", kStart), step, {}, kStart));
    ASSERT_TRUE(store_->put(incident("closed", kStart, kStart + 1), step, {}, kStart));
  }
  EXPECT_EQ(store_->transitions("open")->size(), 2U);
  const Ns later = kStart + 2 * kDay;
  ASSERT_TRUE(store_->put(incident("new", later), {}, {}, later));
  EXPECT_FALSE(*store_->find("closed"));
  EXPECT_TRUE(store_->transitions("closed")->empty());
  EXPECT_TRUE(*store_->find("open"));
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(store_->put(incident(fmt::format("c{}", i), later + i, later + i + 1), {}, {}, later));
  ASSERT_TRUE(store_->put(incident("new", later), {}, {}, later + 2 * kHour));
  std::vector<std::string> ids;
  const auto newest = *store_->newest(100);
  for (const StoredIncident& i : newest) ids.push_back(i.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"c5", "c4", "new", "open"}));
}

TEST_F(Incidents, AFullFileGivesUpItsOldest) {
  open({.path = {}, .most_bytes = 1 << 20});
  StoredIncident big = incident("x", kStart, kStart);
  for (int i = 0; i < 200; ++i) {
    big.id = fmt::format("c{:03}", i);
    big.closed = kStart + i;
    big.text = std::string(20'000, 'x');
    const auto put = store_->put(big, {}, {}, kStart);
    ASSERT_TRUE(put) << i << put.error().message;
  }
  EXPECT_TRUE(*store_->find("c199"));
  EXPECT_FALSE(*store_->find("c000"));
  EXPECT_LE(fs::file_size(path_), 1U << 20);
  for (int i = 0;; ++i) {  // open ones never go for others
    big.id = fmt::format("o{}", i);
    big.closed = 0;
    const auto put = store_->put(big, {}, {}, kStart);
    if (put) continue;
    EXPECT_EQ(put.error().code, Code::io);
    EXPECT_GT(i, 20);
    break;
  }
  EXPECT_FALSE(store_->state().last_error.empty());
  big.text.resize(kMostIncidentBytes + 1);
  EXPECT_EQ(store_->put(big, {}, {}, kStart).error().code, Code::invalid);
}

TEST_F(Incidents, SilencesLastUntilTheirEnd) {
  open();
  const Silence asked{.rule = "step_time_up",
                      .job = "4711",
                      .host = "gpu01",
                      .user = "alice",
                      .made = kStart,
                      .until = kStart + kHour,
                      .reason = "benchmark",
                      .by = "bob"};
  EXPECT_EQ(*store_->silence(asked), 1);
  EXPECT_EQ(*store_->silence({.until = kStart + kMinute}), 2);
  open();
  const auto all = *store_->silences(kStart + kMinute);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].rule, "step_time_up");
  EXPECT_EQ(all[0].job, "4711");
  EXPECT_EQ(all[0].host, "gpu01");
  EXPECT_EQ(all[0].user, "alice");
  EXPECT_EQ(all[0].reason, "benchmark");
  EXPECT_EQ(all[0].by, "bob");
  EXPECT_TRUE(*store_->end_silence(1, kStart + 2 * kMinute));
  EXPECT_FALSE(*store_->end_silence(1, kStart + 3 * kMinute));
  EXPECT_TRUE(store_->silences(kStart + 3 * kMinute)->empty());
}

TEST_F(Incidents, ADamagedFileIsSetAside) {
  open();
  put({word(1)});
  store_.reset();
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    for (int i = 0; i < 4096 * 6; ++i) file.put('\x55');
  }
  fs::remove(path_ + "-wal");
  open();
  EXPECT_EQ(store_->state().moved_to, path_ + ".corrupt");
  EXPECT_EQ(store_->state().damaged_files, 1);
  EXPECT_TRUE(fs::exists(path_ + ".corrupt"));
  EXPECT_TRUE(store_->newest(10)->empty());
  put({word(1)});
  EXPECT_EQ(sequences(), Sequences{1});
}

TEST_F(Incidents, AFileThatIsRemovedIsBegunAnew) {
  open();
  put({word(1)});
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path_ + end);
  put({word(2)});
  EXPECT_EQ(store_->state().damaged_files, 1);
  open();
  EXPECT_EQ(sequences(), Sequences{2});
}

TEST_F(Incidents, AFolderThatIsGoneForAWhileIsNoEnd) {
  const std::string folder = folder_.file("state");
  fs::create_directory(folder);
  auto opened = IncidentStore::open({folder + "/incidents.db"});
  ASSERT_TRUE(opened);
  store_ = std::move(*opened);
  put({word(1)});
  fs::remove_all(folder);
  for (int i = 0; i < 3; ++i) {
    const auto gone = store_->put(incident("1-speed-1", kStart), {}, {}, kStart);
    ASSERT_FALSE(gone);
    EXPECT_NE(gone.error().message.find(folder), std::string::npos) << gone.error().message;
  }
  fs::create_directory(folder);
  put({word(2)});
  EXPECT_EQ(sequences(), Sequences{2});
  EXPECT_EQ(store_->state().damaged_files, 1);
}

TEST_F(Incidents, WhatIsAnotherFileStaysAsItIs) {
  ASSERT_TRUE(write_file_atomically(path_, std::string(5000, 'x')));
  auto opened = IncidentStore::open({path_});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::invalid);
  EXPECT_EQ(*read_small_file(path_, 1 << 20), std::string(5000, 'x'));
  fs::remove(path_);
  open_history({path_}).reset();
  EXPECT_EQ(IncidentStore::open({path_}).error().code, Code::invalid);
  EXPECT_TRUE(History::open({path_}));
}

TEST_F(Incidents, ALaterVersionAndASecondWriterAreRefused) {
  open();
  EXPECT_EQ(IncidentStore::open({path_}).error().code, Code::busy);
  store_.reset();
  ASSERT_TRUE(Database::open(path_, Database::Access::write)->run("PRAGMA user_version = 9"));
  const std::string before = *read_small_file(path_, 1 << 20);
  const auto later = IncidentStore::open({path_});
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, Code::unsupported);
  EXPECT_NE(later.error().message.find("later version"), std::string::npos);
  EXPECT_FALSE(fs::exists(path_ + ".corrupt"));
  EXPECT_EQ(*read_small_file(path_, 1 << 20), before);
}

TEST_F(Incidents, WithoutAPathTheyAreInMemoryAlone) {
  auto opened = IncidentStore::open({});
  ASSERT_TRUE(opened);
  store_ = std::move(*opened);
  put({word(1)});
  EXPECT_EQ(sequences(), Sequences{1});
}

}  // namespace
}  // namespace spotter::store
