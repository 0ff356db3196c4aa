#include "capture/aside.h"
#include "capture/test_captures.h"

namespace spotter::capture {
namespace {

// Disks of which each question waits until the test lets them answer.
class SlowDiskTest : public CapturesTest {
 protected:
  SlowDiskTest() {
    add(43);
    poll(43, kIdle, kOther);
  }
  static constexpr i64 kOther = 12345;

  void answer() {
    for (const auto& work : std::exchange(waiting_, {})) work();
  }

  bool hangs_ = true;
  std::vector<std::function<void()>> waiting_;
  Captures slow_{registry_, host_, "node1", [this](i64 uid, std::function<void()> work) {
                   if (hangs_ && uid != kOther)
                     waiting_.push_back(std::move(work));
                   else
                     work();
                   return true;
                 }};
  const Receipt& slow_receipt(const std::string& id) { return slow_.find(id)->receipts.at(0); }
  std::optional<std::string> asks(Times now, i32 type = kIdle) { return slow_.text_for(poll(42, type), now); }
};

TEST_F(SlowDiskTest, ARequestWaitsForTheDiskAndNobodyElse) {
  const std::string id = *slow_.begin(request(), kStart);
  slow_.tick(at(kSecond));
  EXPECT_FALSE(asks(at(kSecond)));
  EXPECT_STREQ(state_name(slow_receipt(id).state), "accepted");
  fs::permissions(root_ / "fs/out", fs::perms(0777));
  EXPECT_TRUE(slow_.begin(request({43}), at(kSecond))) << "another user's disk";
  answer();
  EXPECT_TRUE(asks(at(2 * kSecond)));
}

TEST_F(SlowDiskTest, OneUsersDiskKeepsTheAgentWaitingOnceAMinute) {
  const auto begin = [&](Times now) {
    const auto begun = std::chrono::steady_clock::now();
    const std::string id = *slow_.begin(request(), now);
    slow_.end(id, "a test", now);
    return std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(500);
  };
  EXPECT_TRUE(begin(kStart));
  EXPECT_FALSE(begin(at(kSecond)));
  EXPECT_FALSE(begin(at(kMinute - 1)));
  EXPECT_TRUE(begin(at(kMinute)));
}

TEST_F(SlowDiskTest, ADiskThatNeverSaysWhetherItMayBeWrittenTo) {
  const std::string id = *slow_.begin(request(), kStart);
  slow_.tick(at(30 * kSecond - 1));
  EXPECT_STREQ(state_name(slow_receipt(id).state), "accepted");
  slow_.tick(at(30 * kSecond));
  EXPECT_STREQ(state_name(slow_receipt(id).state), "failed");
  EXPECT_EQ(slow_receipt(id).reason, "the disk of /out has not answered for 30.0 s");
  EXPECT_EQ(slow_.active(), 0U);
  answer();  // nobody waits for it any more
}

TEST_F(SlowDiskTest, ADirectoryThatIsRefusedLate) {
  Request r = request();
  r.output = "/nowhere";
  const std::string id = *slow_.begin(r, kStart);
  answer();
  slow_.tick(at(kSecond));
  EXPECT_NE(slow_receipt(id).reason.find("the directory /nowhere cannot be opened"), std::string::npos)
      << slow_receipt(id).reason;
}

TEST_F(SlowDiskTest, ADiskThatHangsWhileTheTraceIsWritten) {
  hangs_ = false;
  const std::string id = *slow_.begin(request(), kStart);
  EXPECT_TRUE(asks(kStart));
  slow_.sent(42, kStart);
  asks(at(kSecond), kAtWork);
  hangs_ = true;
  slow_.tick(at(2 * kSecond));
  slow_.tick(at(32 * kSecond - 1));
  EXPECT_STREQ(state_name(slow_receipt(id).state), "capturing");
  slow_.tick(at(32 * kSecond));
  EXPECT_EQ(slow_receipt(id).reason,
            "the disk of /out has not answered for 30.0 s: whether the file was written is not known");
}

TEST_F(SlowDiskTest, ADiskThatAnswersInTime) {
  hangs_ = false;
  const std::string id = *slow_.begin(request(), kStart);
  EXPECT_TRUE(asks(kStart));
  slow_.sent(42, kStart);
  hangs_ = true;
  slow_.tick(at(2 * kSecond));
  std::ofstream(root_ / "fs" / slow_receipt(id).file.substr(1)) << kTrace;
  answer();
  slow_.tick(at(20 * kSecond));
  EXPECT_STREQ(state_name(slow_receipt(id).state), "written");
}

TEST_F(SlowDiskTest, OfOneUserOnlySoManyHang) {
  const Aside aside = aside_for_each_user();
  std::promise<void> disk;
  const std::shared_future<void> answer = disk.get_future().share();
  int hanging = 0;
  while (hanging < 1000 && aside(1, [answer] { answer.wait(); })) ++hanging;
  EXPECT_EQ(hanging, 32);
  const auto others = ask<int>(aside, 2, [] { return 7; });
  ASSERT_TRUE(others);
  EXPECT_EQ(others->wait_for(std::chrono::seconds(10)), std::future_status::ready);
  Captures full(registry_, host_, "node1", [](i64, const std::function<void()>&) { return false; });
  EXPECT_EQ(full.begin(request(), kStart).error().code, Code::busy);
  disk.set_value();
}

}  // namespace
}  // namespace spotter::capture
