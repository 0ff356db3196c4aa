#include "agent/incidents/incident_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/system/file.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using notify::Occasion;
using notify::Outcome;
using notify::Telling;

constexpr Ns kStart = 1'795'409'206 * kSecond;

struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<std::string, Occasion>> words;
  std::vector<std::string> kept;
  bool fails = false;

  bool has(size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 20s, [&] { return words.size() >= count; });
  }
};

class Listener : public notify::Notifier {
 public:
  explicit Listener(std::shared_ptr<Told> told, Ns renewal = 0) : told_(std::move(told)), renewal_(renewal) {}
  Ns renewal() const override { return renewal_; }
  Outcome tell(const Telling& telling, std::string& kept) override {
    const std::lock_guard lock(told_->mutex);
    told_->words.emplace_back(telling.incident.id(), telling.occasion);
    told_->kept.push_back(kept);
    told_->changed.notify_all();
    if (told_->fails) return {Outcome::Kind::again, "no connection"};
    kept = "message of " + telling.incident.id();
    return {};
  }

 private:
  std::shared_ptr<Told> told_;
  Ns renewal_;
};

class Memory : public ::testing::Test {
 protected:
  Memory() {
    std::string pattern = fs::temp_directory_path() / "spotter_memory_XXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    path_ = folder_ / "incidents.db";
  }
  ~Memory() override {
    memory_.reset();
    fs::remove_all(folder_);
  }

  void open(const std::vector<std::string>& names = {"ops"}, respond::Urgency least = respond::Urgency::info,
            Ns renewal = 0) {
    memory_.reset();
    IncidentMemoryOptions options{.path = path_};
    for (const std::string& name : names)
      options.receivers.push_back({name, "test", std::make_unique<Listener>(told_, renewal), {}, least});
    options.delivery.limits.least_gap = options.delivery.limits.first_pause = kMillisecond;
    auto opened = IncidentMemory::open(std::move(options));
    ASSERT_TRUE(opened);
    memory_ = std::move(*opened);
  }
  static respond::Incident incident(i64 sequence) {
    respond::Incident i;
    i.cluster = "a";
    i.family = "speed";
    i.n = 2;
    i.sequence = sequence;
    i.job.id = "4711";
    i.state = respond::IncidentState::verdict;
    i.opened = i.updated = kStart;
    return i;
  }
  void put(const respond::Incident& i, std::optional<Occasion> occasion, bool is_renewal = false) {
    memory_->put(i, {{kStart, "firing", respond::state_name(i.state), "why"}}, occasion, kStart, is_renewal);
  }

  fs::path folder_;
  std::string path_;
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
  std::unique_ptr<IncidentMemory> memory_;
};

// Another host has told it, and repeats it no more.
TEST_F(Memory, OnlyWhoForgetsHearsOfWhatHasBeenTold) {
  open();
  put(incident(1), Occasion::changed, true);
  put(incident(2), Occasion::changed);
  ASSERT_TRUE(told_->has(1));
  EXPECT_EQ(told_->words.size(), 1u);
  open({"alertmanager"}, respond::Urgency::info, kMinute);
  put(incident(3), Occasion::changed, true);
  EXPECT_TRUE(told_->has(2));
}

TEST_F(Memory, WhatIsPutIsToldAndRemembered) {
  open();
  EXPECT_EQ(memory_->last_n("a/4711/speed"), 0);
  put(incident(1), Occasion::verdict);
  EXPECT_EQ(memory_->last_n("a/4711/speed"), 2);
  ASSERT_TRUE(told_->has(1));
  put(incident(1), Occasion::verdict);  // the same word
  put(incident(1), std::nullopt);
  put(incident(2), Occasion::changed);
  ASSERT_TRUE(told_->has(2));
  open();
  EXPECT_EQ(memory_->last_n("a/4711/speed"), 2);
  const auto again = memory_->open_incidents();
  ASSERT_TRUE(again);
  ASSERT_EQ(again->size(), 1U);
  EXPECT_EQ(again->at(0).id(), "4711-speed-2");
  EXPECT_EQ(again->at(0).sequence, 2);
  EXPECT_EQ(memory_->store().transitions("4711-speed-2")->size(), 4U);
  EXPECT_EQ(told_->words.size(), 2U);
  EXPECT_EQ(told_->words[1], std::pair(std::string("4711-speed-2"), Occasion::changed));
  EXPECT_EQ(told_->kept[1], "message of 4711-speed-2");
}

TEST_F(Memory, WhatWasToldIsSaidOnceForTheAudit) {
  open({"ops", "dev"});
  put(incident(1), Occasion::verdict);
  std::vector<std::string> all;
  for (int looks = 0; looks < 2000 && all.size() < 2; ++looks) {
    std::ranges::move(memory_->take_told(), std::back_inserter(all));
    std::this_thread::sleep_for(10ms);
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<std::string>{"tells dev of incident 4711-speed-2: verdict",
                                           "tells ops of incident 4711-speed-2: verdict"}));
  EXPECT_TRUE(memory_->take_told().empty());
}

TEST_F(Memory, WhatWasNotDeliveredIsToldAfterTheNextStart) {
  told_->fails = true;
  open();
  put(incident(1), Occasion::opened);
  ASSERT_TRUE(told_->has(1));
  memory_.reset();
  {
    const std::lock_guard lock(told_->mutex);
    told_->fails = false;
    told_->words.clear();
  }
  open();
  ASSERT_TRUE(told_->has(1));
  for (int i = 0; i < 2000 && memory_->state().notifiers[0].waiting > 0; ++i)
    std::this_thread::sleep_for(5ms);
  const IncidentMemoryState state = memory_->state();
  EXPECT_EQ(state.notifiers[0].sent, 1);
  EXPECT_EQ(state.notifiers[0].waiting, 0);
  EXPECT_EQ(state.lost, 0);
}

TEST_F(Memory, WhatIsLessUrgentThanANotifierWantsIsNotToldAndRemembered) {
  open({"ops"}, respond::Urgency::critical);
  put(incident(1), Occasion::verdict);
  respond::Incident worse = incident(2);
  worse.urgency = respond::Urgency::critical;
  put(worse, Occasion::changed);
  ASSERT_TRUE(told_->has(1));
  EXPECT_EQ(told_->words[0], std::pair(std::string("4711-speed-2"), Occasion::changed));
  EXPECT_EQ(memory_->store().transitions("4711-speed-2")->size(), 2U);
}

TEST_F(Memory, ANotifierThatHasGoneIsToldNothing) {
  told_->fails = true;
  open({"ops", "old"});
  put(incident(1), Occasion::opened);
  ASSERT_TRUE(told_->has(2));
  open({"ops"});
  EXPECT_EQ(memory_->state().lost, 1);
  EXPECT_EQ(*memory_->store().waiting("old"), 0);
}

TEST_F(Memory, AFileThatCannotBeUsedIsNoReasonToBeSilent) {
  ASSERT_TRUE(write_file_atomically(path_, "not a database, and long enough to be looked at"));
  open();
  EXPECT_NE(memory_->state().why_in_memory.find(path_), std::string::npos);
  put(incident(1), Occasion::verdict);
  EXPECT_TRUE(told_->has(1));
  EXPECT_EQ(*read_small_file(path_, 1000), "not a database, and long enough to be looked at");
}

TEST_F(Memory, WhatIsTooLongIsLostAndCounted) {
  open();
  respond::Incident big = incident(1);
  big.against = {std::string(store::kMostIncidentBytes, 'x')};
  put(big, Occasion::verdict);
  put(incident(2), Occasion::verdict);
  ASSERT_TRUE(told_->has(1));
  // Who tells of it may have found it in the file before its writer has counted it as written.
  for (int i = 0; i < 1000 && memory_->state().unwritten > 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(memory_->state().lost, 1);
  EXPECT_EQ(memory_->state().unwritten, 0);
}

}  // namespace
}  // namespace spotter::agent
