#include "store/changes.h"

#include <gtest/gtest.h>

#include "store/incident_store.h"
#include "store/test_history.h"

namespace spotter::store {
namespace {

namespace fs = std::filesystem;

class ChangesTest : public ::testing::Test {
 protected:
  void open(ChangeLimits limits = {}) {
    store_.reset();
    auto opened = IncidentStore::open({.path = path_, .changes = limits});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  static StoredChange change(Ns at, const char* what) {
    return {.at = at,
            .kind = "driver",
            .what = what,
            .before = "550",
            .after = "570",
            .by = "ansible",
            .link = "https://x",
            .job = "7",
            .hosts = "a\nb"};
  }
  std::vector<std::string> known() {
    std::vector<std::string> names;
    const auto changes = store_->changes().value();
    for (const StoredChange& c : changes) names.push_back(c.what);
    return names;
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("incidents.db");
  std::unique_ptr<IncidentStore> store_;
};
using Names = std::vector<std::string>;

TEST_F(ChangesTest, TheyAreThereAfterARestart) {
  open();
  EXPECT_TRUE(store_->add_change(change(kStart, "second"), kStart).value());
  EXPECT_TRUE(store_->add_change(change(kStart - kHour, "first"), kStart).value());
  open();
  ASSERT_EQ(known(), (Names{"first", "second"}));
  const StoredChange c = store_->changes().value()[1];
  EXPECT_EQ(c.at, kStart);
  EXPECT_EQ(c.kind + c.before + c.after + c.by + c.link + c.job + c.hosts,
            "driver550570ansiblehttps://x7a\nb");
}

TEST_F(ChangesTest, TheSameTwiceIsOne) {
  open();
  EXPECT_TRUE(store_->add_change(change(kStart, "x"), kStart).value());
  EXPECT_FALSE(store_->add_change(change(kStart + kSecond, "x"), kStart).value());
  EXPECT_TRUE(store_->add_change(change(kStart + kMinute, "x"), kStart).value());
  EXPECT_EQ(known().size(), 2u);
}

TEST_F(ChangesTest, TheOldestGo) {
  open({.most = 3});
  EXPECT_TRUE(store_->add_change(change(kStart - 31 * kDay, "too old"), kStart));
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(store_->add_change(change(kStart + i * kMinute, std::to_string(i).c_str()), kStart));
  EXPECT_EQ(known(), (Names{"2", "3", "4"}));
}

TEST_F(ChangesTest, FactsAreReplacedTogether) {
  open({.most_facts = 3});
  ASSERT_TRUE(store_->keep_facts(
      "host", {{"driver/nvidia", {"550", kStart}}, {"kernel/release", {"6.1", kStart}}}, kStart));
  ASSERT_TRUE(store_->keep_facts("host", {{"driver/nvidia", {"570", kStart + 1}}}, kStart + 1));
  open({.most_facts = 3});
  const KnownFacts facts = store_->facts("host").value();
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts.at("driver/nvidia").value, "570");
  EXPECT_EQ(facts.at("driver/nvidia").since, kStart + 1);
  EXPECT_TRUE(store_->facts("another").value().empty());
  ASSERT_TRUE(store_->keep_facts("series", {{"a", {}}, {"b", {}}, {"c", {}}}, kStart + 2));
  EXPECT_TRUE(store_->facts("host").value().empty());  // the one that was looked at the longest ago
}

}  // namespace
}  // namespace spotter::store
