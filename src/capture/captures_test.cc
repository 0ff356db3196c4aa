#include "capture/captures.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "capture/test_captures.h"

namespace spotter::capture {
namespace {

TEST_F(CapturesTest, TheJobIsThatOfAllProcesses) {
  for (const i64 pid : {51, 52, 53}) {
    add(pid, {{"SLURM_JOB_ID", pid < 53 ? "7" : "8"}});
    poll(pid);
  }
  const auto job = [&](std::vector<i64> pids) {
    const std::string id = begin(request(std::move(pids)));
    captures_.end(id, "a test", kStart);
    return captures_.find(id)->job;
  };
  EXPECT_EQ(job({51, 52}), "7");
  EXPECT_EQ(job({51, 53}), "");
  EXPECT_EQ(job({42, 53}), "");
}

TEST_F(CapturesTest, FromTheRequestToTheFile) {
  const std::string id = begin(request());
  expect(id, State::accepted, "");
  EXPECT_TRUE(captures_.active());
  EXPECT_EQ(receipt(id).rank, 3);
  EXPECT_EQ(receipt(id).file, fmt::format("/out/{}_node1_rank3_42.pt.trace.json", id));

  const auto sent = text(42, kStart);
  ASSERT_TRUE(sent);
  Notes notes;
  const auto config = kineto::read_config(*sent, notes);
  ASSERT_TRUE(config);
  EXPECT_EQ(kineto::output_path(config->log_file, 42), receipt(id).file);
  EXPECT_EQ(config->trace_id, id + "-42");
  captures_.sent(42, kStart);
  expect(id, State::delivered, "");

  EXPECT_FALSE(text(42, at(kSecond), kAtWork));
  expect(id, State::capturing, "");
  captures_.tick(at(2 * kSecond));
  expect(id, State::capturing, "");

  write(id, kTrace);
  captures_.tick(at(9 * kSecond));
  expect(id, State::written, "");
  EXPECT_EQ(receipt(id).took, 9 * kSecond);
  EXPECT_EQ(receipt(id).size_bytes, static_cast<i64>(std::string(kTrace).size()));
  EXPECT_FALSE(captures_.active());
  EXPECT_EQ(revisions_, (std::vector<i64>{0, 1, 2, 3}));
}

TEST_F(CapturesTest, TheTextStaysUntilItIsSent) {
  const std::string id = begin(request());
  const auto first = text(42, kStart);
  ASSERT_TRUE(first);
  EXPECT_EQ(text(42, at(kSecond)), first);
  captures_.sent(42, at(kSecond));
  EXPECT_FALSE(text(42, at(2 * kSecond)));
  captures_.sent(42, at(3 * kSecond));  // of something else
  EXPECT_EQ(revisions_, (std::vector<i64>{0, 1}));
  captures_.sent(7, kStart);
  captures_.gone(7, kStart);
}

TEST_F(CapturesTest, OthersGetNothing) {
  add(43);
  begin(request());
  EXPECT_FALSE(text(43, kStart));
}

TEST_F(CapturesTest, AProcessAtAnotherCaptureIsNotAsked) {
  Request r = request();
  r.deadline = 20 * kSecond;
  const std::string id = begin(r);
  EXPECT_FALSE(text(42, kStart, kAtWork));
  expect(id, State::accepted, "");
  EXPECT_TRUE(text(42, at(kSecond)));
  captures_.tick(at(20 * kSecond - 1));
  expect(id, State::accepted, "");
  captures_.tick(at(20 * kSecond));
  expect(id, State::expired, "busy with another capture within 20.0 s");
}

TEST_F(CapturesTest, ATextOfSomebodyElseIsKept) {
  Request r = request();
  r.output.clear();
  r.text = "ACTIVITIES_LOG_FILE=/out/mine.json\nODD=1";
  r.config.log_file = "/out/mine.json";
  const std::string id = begin(r);
  EXPECT_EQ(receipt(id).file, "/out/mine_42.json");
  EXPECT_EQ(text(42, kStart), r.text + "\nREQUEST_TRACE_ID=" + id + "-42\n");
}

TEST_F(CapturesTest, AFileWithoutEvents) {
  const std::string id = begin_capturing(request());
  write(id, kNoEvents);
  captures_.tick(at(8 * kSecond));
  expect(id, State::empty, "nothing ran");
}

TEST_F(CapturesTest, AFileThatWasThereBeforeIsNotTheTrace) {
  Request r = request();
  r.output.clear();
  r.config.log_file = "/out/same.json";
  std::ofstream(root_ / "fs/out/same_42.json") << kTrace;
  const std::string id = begin_delivered(r);
  captures_.tick(at(kSecond));
  expect(id, State::delivered, "");
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the file system's clock is coarse
  write(id, kTrace);
  captures_.tick(at(8 * kSecond));
  expect(id, State::written, "");
}

TEST_F(CapturesTest, AFileThatIsBeingWritten) {
  const std::string id = begin_delivered(request());
  std::ofstream(root_ / "fs" / (receipt(id).file.substr(1) + ".tmp")) << "{";
  captures_.tick(at(8 * kSecond));
  expect(id, State::capturing, "");
}

TEST_F(CapturesTest, AFileThatIsNone) {
  const std::string id = begin_delivered(request());
  fs::create_symlink("/etc/passwd", root_ / "fs" / receipt(id).file.substr(1));
  captures_.tick(at(kSecond));
  expect(id, State::failed, "not a plain file");
}

TEST_F(CapturesTest, AProcessThatEnds) {
  const struct {
    State state;
    const char* reason;
  } cases[] = {{State::accepted, "ended before it asked"},
               {State::delivered, "ended before the trace began"},
               {State::capturing, "ended before the file was complete"}};
  for (const auto& c : cases) {
    const std::string id = c.state == State::accepted    ? begin(request())
                           : c.state == State::delivered ? begin_delivered(request())
                                                         : begin_capturing(request());
    captures_.gone(42, at(2 * kSecond));
    EXPECT_FALSE(text(42, at(2 * kSecond)));  // one that has got its pid
    captures_.tick(at(2 * kSecond + kSecond / 2 - 1));
    expect(id, c.state, "");
    captures_.tick(at(2 * kSecond + kSecond / 2));
    expect(id, State::failed, c.reason);
  }
}

TEST_F(CapturesTest, AProcessThatEndsWithItsFile) {
  const std::string first = begin_capturing(request());
  captures_.gone(42, at(2 * kSecond));
  write(first, kTrace);
  captures_.tick(at(9 * kSecond));
  expect(first, State::written, "");

  const std::string second = begin_capturing(request());
  captures_.gone(42, at(2 * kSecond));
  write(second, kNoEvents);
  captures_.tick(at(9 * kSecond));
  expect(second, State::empty, "ended before it had recorded");
}

TEST_F(CapturesTest, AProcessThatIsIdleAgainWithoutAFile) {
  const std::string id = begin_capturing(request());
  text(42, at(8 * kSecond));
  text(42, at(9 * kSecond), kAtWork);  // it was not over
  text(42, at(10 * kSecond));
  captures_.tick(at(20 * kSecond - 1));
  expect(id, State::capturing, "");
  captures_.tick(at(20 * kSecond));
  expect(id, State::failed, "idle again and there is no file");
}

// The process begins at once, or when the clock shows the time again; how long it has had is another matter.
TEST_F(CapturesTest, AClockThatIsSetWhileAProcessWaitsForTheStart) {
  const i64 day = i64{24} * 3600 * 1000;
  const auto set_by = [](i64 ms, Ns steady) {
    Times now = at(steady);
    now.unix_ms += ms;
    return now;
  };
  const Ns over = (5000 + 2000 + 500 + 15'000) * kMillisecond;
  const std::string forward = begin_delivered(request());
  captures_.tick(set_by(day, kSecond));
  expect(forward, State::delivered, "");
  write(forward, kTrace);
  captures_.tick(set_by(day, 2 * kSecond));
  expect(forward, State::written, "");

  const std::string back = begin_delivered(request());
  captures_.tick(set_by(-day, over - kMillisecond));
  expect(back, State::delivered, "");
  captures_.tick(set_by(-day, over));
  expect(back, State::failed, "the host's clock was put back by 86400.0 s");
}

TEST_F(CapturesTest, AProcessThatTookTheRequestAndNeverBegan) {
  const std::string id = begin_delivered(request());
  const Ns over = (5000 + 2000 + 500 + 15'000) * kMillisecond;  // warm-up, lead, duration, patience
  captures_.tick(at(over - kMillisecond));
  expect(id, State::delivered, "");
  captures_.tick(at(over));
  expect(id, State::failed, "never began");
}

// The start is everybody's; the warm-up gives way.
TEST_F(CapturesTest, WhoAsksLateWarmsUpForLess) {
  const auto told = [&](Ns when) {
    Request r = request();
    r.config.start_time_ms = kStart.unix_ms + 6000;
    const std::string id = begin(r);
    const std::string asked = text(42, at(when)).value_or("");
    captures_.end(id, "test", at(when));
    return asked;
  };
  const auto has = [](const std::string& asked, int seconds) {
    return asked.find(fmt::format("ACTIVITIES_WARMUP_PERIOD_SECS={}\n", seconds)) != asked.npos;
  };
  EXPECT_TRUE(has(told(0), 5));
  EXPECT_TRUE(has(told(kMillisecond), 4));  // the process may look at it a second later
  EXPECT_TRUE(has(told(1001 * kMillisecond), 3));
  EXPECT_TRUE(has(told(5 * kSecond), 0));
  EXPECT_EQ(told(5001 * kMillisecond), "");  // too late
}

TEST_F(CapturesTest, AWarmUpThatWasShortIsTold) {
  Request r = request();
  r.config.start_time_ms = kStart.unix_ms + 6000;
  const std::string id = begin(r);
  EXPECT_TRUE(text(42, at(2 * kSecond)));
  captures_.sent(42, at(2 * kSecond));
  write(id, kTrace);
  captures_.tick(at(8 * kSecond));
  expect(id, State::written, "its warm-up had 3 s");
}

// It says that it is busy, as one at its warm-up does; its temporary file tells. Whoever ignores the second
// request has not dropped the first one.
TEST_F(CapturesTest, AProcessThatDroppedItIsAskedAgain) {
  for (const bool takes_it : {true, false}) {
    Request r = request();
    r.config.start_time_ms = kStart.unix_ms + 9000;
    const std::string id = begin_delivered(r);
    const fs::path temporary = root_ / "fs" / (receipt(id).file.substr(1) + ".tmp");
    const auto make = [&](i64 after_ms) {
      std::ofstream{temporary};
      const i64 made_ms = kStart.unix_ms + after_ms;
      const timespec made{made_ms / 1000, made_ms % 1000 * 1'000'000};
      const timespec times[] = {made, made};
      ASSERT_EQ(utimensat(AT_FDCWD, temporary.c_str(), times, 0), 0);
    };
    make(4200);
    captures_.tick(at(4300 * kMillisecond));
    expect(id, State::capturing, "");
    const std::string again = text(42, at(4500 * kMillisecond), kAtWork).value_or("");
    EXPECT_NE(again.find("ACTIVITIES_WARMUP_PERIOD_SECS=3\n"), again.npos) << again;
    captures_.sent(42, at(4500 * kMillisecond));
    if (takes_it) make(5100);
    captures_.tick(at(5200 * kMillisecond));
    EXPECT_FALSE(text(42, at(5500 * kMillisecond), kAtWork));  // once
    write(id, kTrace);
    captures_.tick(at(10 * kSecond));
    expect(id, State::written, takes_it ? "asked again, with 3 s of it" : "");
    EXPECT_EQ(receipt(id).reason.empty(), !takes_it);
    fs::remove(root_ / "fs" / receipt(id).file.substr(1));
  }
}

// PyTorch after 2.13, as its polls tell.
TEST_F(CapturesTest, AProcessThatWritesElsewhereSaysSo) {
  const auto run = [&](i64 pid) {
    const std::string id = begin(request({pid}));
    EXPECT_TRUE(text(pid, kStart, 2));
    captures_.sent(pid, kStart);
    text(pid, at(6 * kSecond), 0);
    text(pid, at(9 * kSecond), 2);
    captures_.tick(at(19 * kSecond));
    EXPECT_STREQ(state_name(receipt(id).state), "failed");
    return receipt(id).reason;
  };
  poll(42, 2);
  EXPECT_NE(run(42).find("; PyTorch after 2.13 lets traces be written below /tmp/ only"), std::string::npos);
  add(43, {{"KINETO_ONDEMAND_TRACE_DIR", "/out"}});
  poll(43, 2);
  const std::string other = run(43);
  EXPECT_EQ(other.find("PyTorch after"), std::string::npos) << other;
}

TEST_F(CapturesTest, ALateStart) {
  Request r = request();
  r.config.start_time_ms = kStart.unix_ms + 6000;
  const std::string id = begin(r);
  EXPECT_FALSE(text(42, at(5500 * kMillisecond)));
  expect(id, State::failed, "asked too late");
  EXPECT_FALSE(captures_.active());
  // What somebody else has written is not changed.
  r.output.clear();
  r.text = fmt::format("ACTIVITIES_DURATION_MSECS=500\nPROFILE_START_TIME={}\n", r.config.start_time_ms);
  fs::create_directories(root_ / "fs/tmp");
  const std::string other = begin(r);
  EXPECT_FALSE(text(42, at(2 * kSecond)));
  expect(other, State::failed, "asked too late");
}

TEST_F(CapturesTest, ATurnEach) {
  for (i64 pid = 50; pid < 60; pid++) {
    add(pid);
    poll(pid);
  }
  Request r = request({50, 51, 52, 53, 54, 55, 56, 57, 58, 59});
  r.deadline = kSecond;
  const std::string id = begin(r);
  for (int turn = 1; turn <= 3; turn++) {
    captures_.tick(at(2 * kSecond), 4);
    i64 over = 0;
    for (const Receipt& receipt : captures_.find(id)->receipts) over += is_final(receipt.state);
    EXPECT_EQ(over, std::min(10, 4 * turn));
  }
}

TEST_F(CapturesTest, WhatItDidNotDoInTime) {
  Request r = request();
  r.deadline = 10 * kSecond;
  Request iterations = by_iterations();
  iterations.deadline = r.deadline;
  const auto expire = [&](const std::string& id, const char* reason) {
    captures_.tick(at(10 * kSecond));
    expect(id, State::expired, reason);
    captures_.gone(42, at(10 * kSecond));  // with what it has got
  };
  expire(begin(r), "did not ask for the request within 10.0 s");
  expire(begin_delivered(r), "the trace did not begin within 10.0 s");
  expire(begin_capturing(r), "not complete within 10.0 s");
  expire(begin_delivered(iterations), "optimizer.step()");
}

TEST_F(CapturesTest, DeadlinesThatNobodyGave) {
  const auto deadline = [&](const Request& r) {
    const std::string id = begin(r);
    captures_.gone(42, kStart);
    captures_.tick(at(kSecond));
    return captures_.find(id)->deadline;
  };
  EXPECT_EQ(deadline(request()), (5000 + 500 + 60'000) * kMillisecond);
  EXPECT_EQ(deadline(by_iterations()), 600 * kSecond);
  Request r = request();
  r.config.start_time_ms = kStart.unix_ms + 20'000;
  EXPECT_EQ(deadline(r), (20'000 + 500 + 60'000) * kMillisecond);
  r.deadline = 3 * kSecond;
  EXPECT_EQ(deadline(r), 3 * kSecond);
}

TEST_F(CapturesTest, AStartThatNeverComes) {
  Request r = request();
  r.config.start_time_ms = INT64_MAX;
  const std::string id = begin_delivered(r);
  EXPECT_GT(captures_.find(id)->deadline, 3600 * kSecond);
  captures_.tick(at(3600 * kSecond));
  expect(id, State::delivered, "");
}

TEST_F(CapturesTest, RequestsThatAreNotTaken) {
  const auto code = [&](const Request& r) { return captures_.begin(r, kStart).error().code; };
  EXPECT_EQ(code(request({})), Code::not_found);
  EXPECT_EQ(code(request({42, 77})), Code::not_found);
  Request r = request();
  r.output = "/nowhere";
  EXPECT_EQ(code(r), Code::invalid);
  r = request();
  r.config.start_time_ms = kStart.unix_ms + 1000;
  EXPECT_EQ(code(r), Code::invalid);
  r = request();
  r.text = std::string(kineto::kMaxConfigBytes, '#');
  EXPECT_EQ(code(r), Code::invalid);
  EXPECT_FALSE(captures_.active());  // nothing is left of any of them
  EXPECT_TRUE(revisions_.empty());
}

TEST_F(CapturesTest, ADirectoryThatItsUserMayNotWriteTo) {
  add(50);
  poll(50, kIdle, 12345);
  EXPECT_EQ(captures_.begin(request({50}), kStart).error().code, Code::denied);
}

TEST_F(CapturesTest, OneCaptureAtATime) {
  add(43);
  poll(43);
  const std::string id = begin(request());
  const auto second = captures_.begin(request({43, 42}), at(2 * kSecond));
  EXPECT_EQ(second.error().code, Code::busy);
  EXPECT_NE(second.error().message.find("since 2.0 s with capture " + id), std::string::npos);
  EXPECT_FALSE(captures_.busy(43));
  begin(request({43}));
  EXPECT_TRUE(captures_.busy(43));
}

// libkineto says that it is idle until the warm-up, and throws away a second request; then it is at the
// first.
TEST_F(CapturesTest, AProcessKeepsTheRequestOfACaptureThatWasEnded) {
  const std::string id = begin_delivered(request());
  captures_.end(id, "a test", at(kSecond));
  EXPECT_FALSE(captures_.busy(42));
  text(42, at(2 * kSecond));
  const Error why = captures_.begin(request(), at(2 * kSecond)).error();
  EXPECT_EQ(why.code, Code::busy);
  EXPECT_EQ(why.message,
            "process 42 still has the request of capture " + id +
                ", which was over before the process was done with it, and takes no other; ask again in 6 s");
  text(42, at(6 * kSecond), kAtWork);
  EXPECT_NE(captures_.why_busy(42, at(7 * kSecond)), "");
  text(42, at(8 * kSecond));  // it is done
  begin(request(), at(8 * kSecond));
}

TEST_F(CapturesTest, WhatAnEndedProcessHeldGoesWithIt) {
  captures_.end(begin_capturing(request()), "a test", at(2 * kSecond));
  EXPECT_NE(captures_.why_busy(42, at(2 * kSecond)), "");
  captures_.gone(42, at(3 * kSecond));
  EXPECT_EQ(captures_.why_busy(42, at(3 * kSecond)), "");
}

TEST_F(CapturesTest, AProcessIsFreeWhenItsTraceMustBeOver) {
  constexpr Ns kEnd = 7500 * kMillisecond;
  captures_.end(begin_delivered(request()), "a test", at(kSecond));
  text(42, at(kEnd + kSecond - 1));
  EXPECT_NE(captures_.why_busy(42, at(kEnd + kSecond)), "");
  text(42, at(kEnd + kSecond));  // it was busy between two polls
  EXPECT_EQ(captures_.why_busy(42, at(kEnd + kSecond)), "");

  captures_.end(begin_capturing(request()), "a test", at(kSecond));
  text(42, at(kEnd + HeldRequests::kWriting - 1), kAtWork);
  EXPECT_NE(captures_.why_busy(42, at(kEnd + HeldRequests::kWriting - 1)), "");
  EXPECT_EQ(captures_.why_busy(42, at(kEnd + HeldRequests::kWriting)), "");
}

TEST_F(CapturesTest, ACaptureThatExpiresEarlyIsHeldToo) {
  Request r = request();
  r.deadline = 3 * kSecond;
  expect(begin_delivered(r), State::delivered, "");
  captures_.tick(at(3 * kSecond));
  EXPECT_NE(captures_.why_busy(42, at(3 * kSecond)), "");
  captures_.gone(42, at(3 * kSecond));
  Request iterations = by_iterations();
  captures_.end(begin_delivered(iterations), "a test", at(kSecond));
  EXPECT_NE(captures_.why_busy(42, at(500 * kSecond)), "");
}

TEST_F(CapturesTest, WhoSaidThatHeIsDoneHoldsNothing) {
  const std::string id = begin_delivered(request());
  registry_.find(42)->last_poll = at(9 * kSecond).steady;  // idle, a second after the end
  captures_.end(id, "a test", at(10 * kSecond));
  EXPECT_EQ(captures_.why_busy(42, at(10 * kSecond)), "");
}

TEST_F(CapturesTest, EachProcessHasAFileOfItsOwn) {
  for (const i64 pid : {50, 51, 52}) {
    add(pid, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}, 1);  // each of a container of its own
    poll(pid);
  }
  const std::string id = begin(request({50, 51}));
  EXPECT_NE(receipt(id, 0).file, receipt(id, 1).file);
  EXPECT_NE(text(51, kStart)->find("_host51.pt.trace.json\n"), std::string::npos);
  const std::string next = begin(request({52}));  // in the same second
  EXPECT_NE(id, next);
  EXPECT_NE(receipt(id).file, receipt(next).file);
}

TEST_F(CapturesTest, OnlySoManyAreKept) {
  Request r = request();
  r.deadline = 1;
  std::vector<std::string> ids;
  for (size_t i = 0; i <= Captures::kMostKept; i++) {
    ids.push_back(begin(r));
    captures_.tick(at(1));
  }
  EXPECT_FALSE(captures_.find(ids[0]));
  EXPECT_TRUE(captures_.find(ids[1]));
  EXPECT_TRUE(captures_.find(ids.back()));
}

TEST_F(CapturesTest, WhoHasManyPushesOutHisOwn) {
  Request r = request();
  r.deadline = 1;
  r.asked_by = "ann";
  const std::string anns = begin(r);
  captures_.tick(at(1));
  r.asked_by = "eve";
  const std::string eves = begin(r);
  captures_.tick(at(1));
  for (size_t i = 0; i < 2 * Captures::kMostKept; i++) {
    begin(r);
    captures_.tick(at(1));
  }
  EXPECT_TRUE(captures_.find(anns));
  EXPECT_FALSE(captures_.find(eves));
  EXPECT_EQ(captures_.all().size(), Captures::kMostKept);
}

TEST_F(CapturesTest, OneThatIsUnderWayIsNotForgotten) {
  add(43);
  poll(43);
  const std::string id = begin(request());
  Request r = request({43});
  r.deadline = 1;
  for (size_t i = 0; i < 2 * Captures::kMostKept; i++) {
    begin(r);
    captures_.tick(at(1));
  }
  ASSERT_TRUE(captures_.find(id));
  expect(id, State::accepted, "");
}

}  // namespace
}  // namespace spotter::capture
