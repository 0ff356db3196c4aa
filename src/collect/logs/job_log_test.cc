#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "collect/list.h"
#include "collect/logs/job_logs.h"
#include "collect/logs/logged_steps.h"
#include "collect/process/identities.h"
#include "collect/test_machine.h"
#include "table/ops.h"

namespace spotter::collect {
namespace {

using namespace std::string_literals;

Ns unix_time = 0;

// Processes of a made-up /proc, whose files are real.
class JobLogTest : public testing::Test {
 protected:
  JobLogTest() {
    machine_.pass(10 * kMinute);
    unix_time = 1'700'000'000 * kSecond;
    std::filesystem::create_directories(machine_.path("files"));
  }

  void process(i64 pid, const std::string& environment, const std::string& cgroup = "/") {
    const std::string folder = fmt::format("proc/{}/", pid);
    machine_.write(
        folder + "stat",
        fmt::format("{} (python) S 1 42 42 0 -1 0 0 0 0 0 200 50 0 0 20 0 4 0 100 0 1000 0 1 1 77 0", pid));
    machine_.write(folder + "cmdline", "python\0train.py\0"s);
    machine_.write(folder + "environ", environment);
    machine_.write(folder + "cgroup", "0::" + cgroup + "\n");
    machine_.write(folder + "status",
                   fmt::format("Name:\tpython\nPPid:\t1\nUid:\t{0}\t{0}\t{0}\t{0}\n", geteuid()));
    link(pid, "root", machine_.path("files"));
    link(pid, "cwd", "/work");
    identities_->notice(pid);
  }
  void link(i64 pid, const std::string& name, const std::string& target) {
    const std::string path = machine_.path(fmt::format("proc/{}/{}", pid, name));
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::remove(path);
    std::filesystem::create_symlink(target, path);
  }
  std::string file(const std::string& name) const { return machine_.path("files/" + name); }
  // At its end, as of now.
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
    std::ofstream(file(name), std::ios::app) << text;
    const timespec now{unix_time / kSecond, unix_time % kSecond};
    const timespec times[] = {now, now};
    ASSERT_EQ(utimensat(AT_FDCWD, file(name).c_str(), times, 0), 0);
  }

  // A sample, `later`.
  void sample(Ns later = kSecond) {
    machine_.pass(later);
    unix_time += later;
    if (!collector_) {
      Host host = machine_.host();
      host.unix_now = [] { return unix_time; };
      auto opened = find_collector("job_log")->open({.host = host,
                                                     .identities = identities_,
                                                     .step_logs = globs,
                                                     .step_lines = own,
                                                     .logged_steps = board_});
      ASSERT_TRUE(opened) << opened.error().message;
      collector_ = std::move(*opened);
    }
    auto tables = ask(*find_collector("job_log"), *collector_);
    ASSERT_TRUE(tables) << tables.error().message;
    tables_ = std::move(*tables);
  }
  void look() { sample(5 * kSecond); }

  i64 count(const char* column) const {
    const Table& table = tables_.front();
    return table.rows() == 0 ? 0 : table.integer(0, table.column(column));
  }
  std::string notes() const {
    std::string all;
    for (const Note& note : tables_.front().notes.all())
      all += fmt::format("{} {}\n", note.count, note.sentence);
    return all;
  }
  // What the first job has told of its steps since the last time.
  std::vector<Ns> took() {
    const auto jobs = board_->take(machine_.host().steady_now());
    std::vector<Ns> all;
    if (jobs.empty()) return all;
    told_ = jobs.front();
    for (const respond::LoopStep& step : told_.ended) all.push_back(step.took);
    return all;
  }
  const Table& events() const { return tables_.back(); }

  static std::string step(i64 number, i64 ms) {
    return fmt::format(
        " iteration {:8}/ 500 | consumed samples: 1 | elapsed time per iteration (ms): {}.0 |\n", number, ms);
  }

  std::vector<std::string> globs, own;
  TestMachine machine_;
  std::shared_ptr<Identities> identities_ = std::make_shared<Identities>(machine_.host());
  std::shared_ptr<LoggedStepsBoard> board_ = std::make_shared<LoggedStepsBoard>();
  std::unique_ptr<Collector> collector_;
  std::vector<Table> tables_;
  LoggedSteps told_;
};
using Times = std::vector<Ns>;

const std::string kRank0 = "SLURM_JOB_ID=7\0RANK=0\0"s, kRank1 = "SLURM_JOB_ID=7\0RANK=1\0"s;

TEST_F(JobLogTest, StepsThatStandardOutputTells) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  link(42, "fd/2", "/dev/null");
  write("out.log", step(1, 500));
  sample();
  EXPECT_EQ(count("files"), 1);
  EXPECT_EQ(took(), Times{});  // it begins at the end
  write("out.log", step(2, 1200) + "other\n" + step(3, 1300));
  sample();
  EXPECT_EQ(took(), (Times{1200 * kMillisecond, 1300 * kMillisecond}));
  EXPECT_EQ(told_.job, "7");
  EXPECT_EQ(told_.source, "log:megatron");
  EXPECT_EQ(told_.steps, 1);
  EXPECT_EQ(told_.last, unix_time);
  ASSERT_EQ(told_.ended.size(), 2u);
  EXPECT_EQ(told_.ended[0].within, 50'000);
  EXPECT_EQ(count("lines"), 3);
  EXPECT_EQ(notes(), "");
}

TEST_F(JobLogTest, ALineIsReadWhenItIsWhole) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "a beginning");
  sample();
  const std::string line = step(2, 1200);
  write("out.log", " is no line\n" + line.substr(0, 30));
  sample();
  EXPECT_EQ(took(), Times{});
  write("out.log", line.substr(30));
  sample();
  EXPECT_EQ(took(), Times{1200 * kMillisecond});
  EXPECT_EQ(count("lines"), 1);
}

TEST_F(JobLogTest, WithoutATimeOfItsOwnALineHasThatOfTheFile) {
  own = {R"(step (?P<step>\d+) at (?P<sps>\d+))"};
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  sample();
  unix_time += 300 * kMillisecond;
  machine_.pass(300 * kMillisecond);
  write("out.log", "step 1 at 9\n");
  sample(700 * kMillisecond);
  unix_time += 500 * kMillisecond;
  machine_.pass(500 * kMillisecond);
  write("out.log", "step 2 at 9\n");
  sample(500 * kMillisecond);
  EXPECT_EQ(took(), Times{1200 * kMillisecond});
  ASSERT_EQ(told_.ended.size(), 1u);
  EXPECT_EQ(told_.ended[0].within, 20 * kMillisecond);
  EXPECT_EQ(told_.source, "log:own");
  // Where others follow it, it is as late as the samples are apart.
  write("out.log", "step 4 at 9\nanother\n");
  sample(kSecond);
  EXPECT_EQ(took(), Times{750 * kMillisecond});
  ASSERT_EQ(told_.ended.size(), 1u);
  EXPECT_EQ(told_.ended[0].within, (kSecond + 10 * kMillisecond) / 2);
}

TEST_F(JobLogTest, WhatIsRotatedIsReadToItsEndAndThenWhatFollows) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  sample();
  std::filesystem::rename(file("out.log"), file("out.log.1"));
  link(42, "fd/1", file("out.log.1"));  // as the kernel says it of what is renamed
  write("out.log.1", step(1, 100));
  look();
  EXPECT_EQ(took(), Times{100 * kMillisecond});
  write("out.log.1", step(2, 200));
  write("out.log", step(3, 300));
  link(42, "fd/1", file("out.log"));
  look();
  EXPECT_EQ(took(), Times{200 * kMillisecond});
  write("out.log", step(4, 400));
  sample();
  EXPECT_EQ(took(), (Times{300 * kMillisecond, 400 * kMillisecond}));
  EXPECT_EQ(count("replaced"), 1);
  EXPECT_EQ(count("files"), 1);
}

TEST_F(JobLogTest, ALineOfAFileThatIsFoundLateHasTheFilesTime) {
  own = {R"(step (?P<step>\d+) at (?P<sps>\d+))"};
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  sample();
  write("out.log", "step 1 at 9\n");
  sample();
  std::filesystem::rename(file("out.log"), file("out.log.1"));
  unix_time += kSecond;
  machine_.pass(kSecond);
  write("out.log", "step 2 at 9\n");
  for (int second = 0; second < 6; ++second) sample();
  ASSERT_EQ(took(), Times{kSecond});  // not the five more until it was found and read
  EXPECT_EQ(told_.ended[0].within, kSecond + 10 * kMillisecond);
  EXPECT_EQ(count("replaced"), 1);
}

TEST_F(JobLogTest, WhatIsCutOffIsReadFromItsBeginning) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", std::string(1000, 'x') + "\n");
  sample();
  std::filesystem::resize_file(file("out.log"), 0);
  write("out.log", step(2, 200));
  sample();
  EXPECT_EQ(took(), Times{200 * kMillisecond});
  EXPECT_EQ(count("cut_off"), 1);
}

TEST_F(JobLogTest, FilesOfTheConfiguration) {
  globs = {"/logs/{job}/*.log", "rel/out-?.txt", "/other/{job}/x"};
  process(42, kRank0);
  for (const char* name :
       {"logs/7/a.log", "logs/7/.hidden.log", "logs/7/a.txt", "logs/8/a.log", "work/rel/out-1.txt"})
    write(name, "");
  sample();
  EXPECT_EQ(count("files"), 2);
  write("logs/7/a.log", step(2, 200));
  write("work/rel/out-1.txt", "x\n");
  sample();
  EXPECT_EQ(took(), Times{200 * kMillisecond});
  EXPECT_EQ(count("lines"), 2);
  // One that is removed is read to its end; what then has its name from the beginning.
  write("logs/7/a.log", step(3, 300));
  std::filesystem::remove(file("logs/7/a.log"));
  look();
  EXPECT_EQ(took(), Times{300 * kMillisecond});
  EXPECT_EQ(count("files"), 1);
  write("logs/7/a.log", step(4, 400));
  look();
  EXPECT_EQ(took(), Times{400 * kMillisecond});
}

TEST_F(JobLogTest, AJobsNameIsNoWayOut) {
  globs = {"/logs/{job}/a.log"};
  process(42, "SLURM_JOB_ID=../secret\0RANK=0\0"s);
  process(43, "SLURM_JOB_ID=*\0RANK=0\0"s);
  write("secret/a.log", "");
  write("logs/a.log", "");
  sample();
  for (size_t row = 0; row < tables_.front().rows(); ++row)
    EXPECT_EQ(tables_.front().integer(row, tables_.front().column("files")), 0);
}

TEST_F(JobLogTest, NoLinkIsFollowed) {
  globs = {"/logs/a.log"};
  process(42, kRank0);
  write("elsewhere", "");
  std::filesystem::create_directories(file("logs"));
  std::filesystem::create_symlink(file("elsewhere"), file("logs/a.log"));
  sample();
  EXPECT_EQ(count("files"), 0);
  EXPECT_EQ(notes(), "1 log files are not read: there is a link in their path\n");
}

TEST_F(JobLogTest, OnlyTheUsersOwnFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  ASSERT_EQ(chown(file("out.log").c_str(), 12345, 12345), 0);
  sample();
  EXPECT_EQ(count("files"), 0);
  EXPECT_EQ(notes(), "1 log files are not read: they are not the job's own user's\n");
}

TEST_F(JobLogTest, FilesOfTorchrun) {
  process(42, "TORCHELASTIC_RUN_ID=5\0RANK=0\0TORCHELASTIC_ERROR_FILE=/logs/attempt_0/0/error.json\0"s);
  for (const char* name : {"stdout.log", "stderr.log", "error.json"}) write("logs/attempt_0/0/"s + name, "");
  sample();
  EXPECT_EQ(count("files"), 2);
  write("logs/attempt_0/0/stderr.log", step(1, 100));
  sample();
  EXPECT_EQ(took(), Times{100 * kMillisecond});
}

TEST_F(JobLogTest, LogsOfAPod) {
  const std::string uid = "01234567-89ab-cdef-0123-456789abcdef", id(64, 'a');
  const std::string group =
      "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-" + id;
  const std::string folder = machine_.path("var/log/");
  for (const std::string& pod : {"ml_train_" + uid, "ml_train_x" + uid})
    std::filesystem::create_directories(folder + "pods/" + pod + "/main");
  machine_.write("var/log/containers/train_ml_main-" + id + ".log", "");
  const std::string log = "var/log/pods/ml_train_" + uid + "/main/";
  machine_.write(log + "0.log", "");
  machine_.write(log + "1.log", "");
  process(42, kRank0, group + ".scope");
  process(43, "SLURM_JOB_ID=8\0RANK=0\0"s, "/user.slice" + group + ".scope");  // says that it is in the pod
  sample();
  ASSERT_EQ(tables_.front().rows(), 2u);
  EXPECT_EQ(count("files"), 1);
  EXPECT_EQ(tables_.front().integer(1, tables_.front().column("files")), 0);
  machine_.write(log + "1.log",
                 "2026-11-23T04:46:46.5Z stdout F step:  1  loss: 7 grad_norm: 1 tps: 6\n"
                 "2026-11-23T04:46:48.5Z stdout P step:  2  loss: 7 gra\n"
                 "2026-11-23T04:46:48.5Z stdout F d_norm: 1 tps: 6\nno line of a pod, tps: 6\n");
  sample();
  EXPECT_EQ(took(), Times{2 * kSecond});
  EXPECT_EQ(told_.source, "log:torchtitan");
}

// A bar ends no line for a container's runtime: it writes what came in pieces of 16 KiB, both streams in one
// file.
TEST_F(JobLogTest, BarsInTheLogOfAPod) {
  const std::string uid = "01234567-89ab-cdef-0123-456789abcdef", id(64, 'a');
  machine_.write("var/log/containers/train_ml_main-" + id + ".log", "");
  const std::string log = "var/log/pods/ml_train_" + uid + "/main/0.log";
  machine_.write(log, "");
  process(42, kRank0,
          "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-" + id +
              ".scope");
  sample();
  const auto bars = [](i64 first, i64 last) {
    std::string text;
    for (i64 i = first; i <= last; ++i)
      text += fmt::format("\r 0%|\u2588{:130}| {}/90000 [00:{:02}<10:00, 10.00it/s]", "", i, i / 10);
    return text;
  };
  const std::string first = bars(1, 100);
  ASSERT_GT(first.size(), size_t{16} << 10);
  std::string text = "2026-11-23T04:46:46.5Z stderr P " + first.substr(0, size_t{16} << 10) + "\n";
  machine_.write(log, text);
  sample();
  text += "2026-11-23T04:46:47.0Z stdout F a line\n";
  text += "2026-11-23T04:46:56.5Z stderr P " + first.substr(size_t{16} << 10) + bars(101, 180) + "\r\n";
  machine_.write(log, text);
  sample();
  took();
  EXPECT_EQ(told_.source, "log:tqdm");
  EXPECT_EQ(told_.steps, 179);
  EXPECT_EQ(count("cut_lines"), 0);
}

TEST_F(JobLogTest, FilesOfLaunchersToo) {
  process(42, kRank0);
  process(41, "SLURM_JOB_ID=7\0"s);
  machine_.write("proc/41/cmdline", "srun\0python\0"s);
  link(42, "fd/1", "pipe:[5]");
  link(41, "fd/1", file("slurm-7.out"));
  write("slurm-7.out", "");
  identities_->who(41);
  sample();
  write("slurm-7.out", step(1, 100));
  sample();
  EXPECT_EQ(took(), Times{100 * kMillisecond});
}

TEST_F(JobLogTest, OfALauncherWithoutAJobTheFileIsThatOfItsRanks) {
  process(41, "");
  link(41, "fd/1", file("out.log"));
  write("out.log", "");
  sample();
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  look();
  write("out.log", step(1, 100));
  sample();
  const auto told = board_->take(machine_.host().steady_now());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].job, "7");
  EXPECT_EQ(told[0].pid, 42);
  // Once its ranks have gone it is read for itself, but not what they have written.
  write("out.log", "RuntimeError: CUDA error: an illegal memory access\n");
  sample();
  std::filesystem::remove_all(machine_.path("proc/42"));
  look();
  const auto lines_without_job = [&] {
    i64 lines = 0;
    const Table& fatal = tables_[1];
    for (size_t row = 0; row < fatal.rows(); ++row)
      if (table::text_or_empty(fatal, row, "job").empty()) lines += fatal.integer(row, fatal.column("lines"));
    return lines;
  };
  sample();
  EXPECT_EQ(lines_without_job(), 0);
  write("out.log", "RuntimeError: CUDA error: an illegal memory access\n");
  sample();
  EXPECT_EQ(lines_without_job(), 1);
}

TEST_F(JobLogTest, RanksShareAFileAndThereAreEight) {
  for (i64 rank = 0; rank < 10; ++rank) {
    process(42 + rank, fmt::format("SLURM_JOB_ID=7") + "\0RANK="s + std::to_string(rank) + "\0"s);
    link(42 + rank, "fd/1", file(fmt::format("rank{}", rank)));
    link(42 + rank, "fd/2", file("all"));
    write(fmt::format("rank{}", rank), "");
  }
  write("all", "");
  sample();
  EXPECT_EQ(count("files"), 8);
  EXPECT_EQ(notes(), "3 log files are not read: there are more than 8 of a job\n");
  write("rank9", step(1, 100));  // the last rank is among them
  sample();
  EXPECT_EQ(took(), Times{100 * kMillisecond});
}

TEST_F(JobLogTest, WhatIsTooMuchIsSkippedAndCounted) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  sample();
  std::string much;
  while (much.size() < 3 * size_t{JobLogs::kBytesPerSecond}) much += step(5, 100);
  write("out.log", much + step(6, 200));
  sample();
  EXPECT_GE(count("skipped_bytes"), JobLogs::kBytesPerSecond);
  EXPECT_LE(count("read_bytes"), JobLogs::kBytesPerSecond + 4096);
  EXPECT_EQ(count("skipped_bytes") + count("read_bytes"), std::ssize(much + step(6, 200)));
  EXPECT_EQ(took(), (Times{100 * kMillisecond, 200 * kMillisecond}));
  write("out.log", std::string(5000, 'x') + "\n");
  sample();
  EXPECT_EQ(count("cut_lines"), 1);
}

TEST_F(JobLogTest, BarsThatAreDrawnAgain) {
  process(42, kRank0);
  link(42, "fd/2", file("err.log"));
  write("err.log", "");
  sample();
  const auto bar = [](i64 step) {
    return fmt::format("\r {0}%|\u2588         | {0}/100 [00:{0}<01:30,  2.50s/it]", step);
  };
  write("err.log", bar(10) + bar(11));
  sample();
  EXPECT_EQ(took(), Times{2500 * kMillisecond});  // the last one may yet go on
  EXPECT_EQ(told_.source, "log:tqdm");
  EXPECT_EQ(told_.ended[0].within, 5 * kMillisecond);
  write("err.log", bar(12) + "\rValidation: 100%|\u2588| 5/5 [00:01<00:00,  5.00it/s]" + bar(13));
  sample();
  EXPECT_EQ(took(), Times(2, 2500 * kMillisecond));
  EXPECT_EQ(told_.steps, 2);
  EXPECT_EQ(count("other_lines"), 1);
}

TEST_F(JobLogTest, ALineOfAKindThatNeverWasIsAnEvent) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "before\n");
  ASSERT_EQ(chmod(file("out.log").c_str(), 0644), 0);
  sample();
  for (int minute = 0; minute < 4; ++minute) {
    write("out.log", fmt::format("loss of step {}: 1.5\n", minute));
    sample(kMinute);
    EXPECT_EQ(tables_.size(), 2u) << minute;
  }
  write("out.log", "loss of step 9: 1.5\nretrying 10.0.0.7\nretrying 10.0.0.8\nBus error\n");
  sample();
  ASSERT_EQ(tables_.size(), 3u);
  ASSERT_EQ(events().rows(), 2u);
  EXPECT_EQ(events().text(0, events().column("kind")), "crash");
  EXPECT_EQ(events().text(1, events().column("kind")), "new_line");
  EXPECT_EQ(events().text(1, events().column("text")), "retrying 10.0.0.7");
  EXPECT_EQ(tables_[1].rows(), 1u) << "no fatal one";
  // Whose text is his own, only the place is told.
  ASSERT_EQ(chmod(file("out.log").c_str(), 0600), 0);
  sample(5 * kSecond);
  write("out.log", "a secret\n");
  sample();
  ASSERT_EQ(tables_.size(), 3u);
  EXPECT_TRUE(is_null(events().at(0, events().column("text"))));
}

TEST_F(JobLogTest, FatalLinesAreEvents) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "before\n");
  ASSERT_EQ(chmod(file("out.log").c_str(), 0644), 0);
  sample();
  EXPECT_EQ(tables_.size(), 2u);
  const std::string long_one = "CUDA error: \x1b[31mé\x01" + std::string(300, 'x');
  write("out.log", "fine\n" + long_one + "\nCUDA error: 2\nBus error\n");
  sample();
  ASSERT_EQ(tables_.size(), 3u);
  EXPECT_TRUE(events().is_events);
  ASSERT_EQ(events().rows(), 2u);
  EXPECT_EQ(events().text(0, events().column("kind")), "crash");
  EXPECT_EQ(events().text(1, events().column("kind")), "cuda_error");
  EXPECT_EQ(events().integer(1, events().column("lines")), 2);
  EXPECT_EQ(events().integer(1, events().column("offset")), 12);
  EXPECT_EQ(events().text(1, events().column("file")), file("out.log"));
  EXPECT_EQ(events().text(1, events().column("text")), "CUDA error: é�" + std::string(186, 'x'));
  write("out.log", "CUDA error: 3\n");
  sample();
  EXPECT_EQ(tables_.size(), 2u);  // once a minute
  sample(kMinute);
  ASSERT_EQ(tables_.size(), 3u);
  EXPECT_EQ(events().text(0, events().column("text")), "CUDA error: 3");
  const Table& fatal = tables_[1];
  ASSERT_EQ(fatal.rows(), 2u);
  EXPECT_EQ(fatal.text(1, fatal.column("kind")), "cuda_error");
  EXPECT_EQ(fatal.integer(1, fatal.column("lines")), 3);
  // Of a job that ends nothing is lost.
  write("out.log", "CUDA error: 4\n");
  std::filesystem::remove_all(machine_.path("proc/42"));
  look();
  ASSERT_EQ(tables_.size(), 3u);
  EXPECT_EQ(events().text(0, events().column("text")), "CUDA error: 4");
  look();
  EXPECT_EQ(tables_.front().rows(), 0u);
}

TEST_F(JobLogTest, OfATracebackWhatWasRaised) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  ASSERT_EQ(chmod(file("out.log").c_str(), 0644), 0);
  sample();
  write(
      "out.log",
      "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"train.py\", line 3\n[rank0]:     step()\n"
      "[rank0]:\n[rank0]: ValueError: no such batch\nlater\nTraceback (most recent call last):\n  x\nKeyError: 5\n");
  sample();
  ASSERT_EQ(tables_.size(), 3u);
  ASSERT_EQ(events().rows(), 1u);
  EXPECT_EQ(events().text(0, events().column("text")), "[rank0]: ValueError: no such batch");
  EXPECT_EQ(events().integer(0, events().column("lines")), 2);
  EXPECT_EQ(events().integer(0, events().column("offset")), 0);
}

TEST_F(JobLogTest, TextOfAPrivateFileStaysThere) {
  process(42, kRank0);
  link(42, "fd/1", file("out.log"));
  write("out.log", "");
  ASSERT_EQ(chmod(file("out.log").c_str(), 0640), 0);
  sample();
  write("out.log", "[Rank 3] Watchdog caught collective operation timeout: secret\n");
  sample();
  ASSERT_EQ(tables_.size(), 3u);
  EXPECT_TRUE(is_null(events().at(0, events().column("text"))));
  EXPECT_EQ(events().integer(0, events().column("rank")), 3);
}

}  // namespace
}  // namespace spotter::collect
