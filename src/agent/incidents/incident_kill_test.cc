// kill -9 at any moment of telling: every incident that is remembered is told, and none twice but those that
// were under way when the process was killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <new>
#include <random>
#include <sstream>
#include <thread>

#include "agent/incidents/incident_memory.h"
#include "base/system/file.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr Ns kStart = 1'795'409'206 * kSecond;

// Each message is a line of a file.
class LineWriter : public notify::Notifier {
 public:
  explicit LineWriter(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {}
  notify::Outcome tell(const notify::Telling& telling, std::string& kept) override {
    const std::string line = telling.incident.id() + "\n";
    CHECK(::write(file_.fd, line.data(), line.size()) == std::ssize(line));
    kept = "x";
    return {};
  }

 private:
  Descriptor file_;
};

std::unique_ptr<IncidentMemory> open_memory(const fs::path& folder) {
  IncidentMemoryOptions options{.path = folder / "incidents.db"};
  options.receivers.push_back({"lines", "test", std::make_unique<LineWriter>(folder / "lines")});
  options.delivery.limits.least_gap = 0;
  auto opened = IncidentMemory::open(std::move(options));
  CHECK(opened.has_value());
  CHECK((*opened)->state().why_in_memory.empty());
  return std::move(*opened);
}

respond::Incident incident_of(i64 number) {
  respond::Incident incident;
  incident.cluster = "a";
  incident.family = "speed";
  incident.n = incident.sequence = 1;
  incident.job.id = std::to_string(number);
  incident.opened = incident.updated = kStart + number;
  incident.state = respond::IncidentState::verdict;
  return incident;
}

[[noreturn]] void tell_for_ever(const fs::path& folder, i64 from, std::atomic<i64>& written) {
  const auto memory = open_memory(folder);
  for (i64 number = from;; ++number) {
    memory->put(incident_of(number), {{kStart, "firing", "verdict", ""}}, notify::Occasion::verdict, kStart);
    while (memory->state().unwritten > 3) std::this_thread::sleep_for(100us);
    if (number - from >= 3) ++written;
  }
}

TEST(Kill, EveryIncidentIsToldAndOnlyWhatWasUnderWayTwice) {
  std::string pattern = fs::temp_directory_path() / "spotter_told_XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const fs::path folder = pattern;
  std::mt19937_64 random(8);
  constexpr int kRounds = 40;
  // That were written down, by all rounds: on a slow machine there have to be more of these, and longer ones.
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& written = *new (page) std::atomic<i64>(0);
  int round = 0;
  for (; round < kRounds || (round < 10 * kRounds && written <= 150); ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) tell_for_ever(folder, i64{round} * 1'000'000, written);
    std::this_thread::sleep_for(std::chrono::microseconds(10'000 + random() % 50'000));
    const i64 enough = written + 5;
    for (int i = 0; round >= kRounds && i < 2000 && written < enough; ++i) std::this_thread::sleep_for(1ms);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself: " << status;
  }
  std::vector<store::StoredIncident> remembered;
  {
    const auto memory = open_memory(folder);
    for (int i = 0; i < 4000 && *memory->store().waiting("lines") > 0; ++i) std::this_thread::sleep_for(5ms);
    ASSERT_EQ(*memory->store().waiting("lines"), 0);
    remembered = *memory->store().newest(1'000'000);
  }
  std::map<std::string, int> told;
  std::istringstream lines(*read_small_file(folder / "lines", size_t{1} << 30));
  for (std::string line; std::getline(lines, line);) ++told[line];
  i64 twice = 0;
  for (const store::StoredIncident& incident : remembered) ASSERT_GE(told[incident.id], 1) << incident.id;
  for (const auto& [id, count] : told) twice += count - 1;
  EXPECT_EQ(told.size(), remembered.size());
  EXPECT_LE(twice, round);
  EXPECT_GT(remembered.size(), 100U);
  ::munmap(page, 4096);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace spotter::agent
