// kill -9 at any moment of writing incidents: an incident, its transitions and its words are there together
// or not at all, nothing that was taken is lost, and nothing that was ticked off comes again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "store/incident_store.h"
#include "store/test_history.h"

namespace spotter::store {
namespace {

std::string id_of(i64 number) { return fmt::format("{}-speed-1", number); }

std::unique_ptr<IncidentStore> open_store(const TestFolder& folder) {
  auto opened = IncidentStore::open({folder.file("incidents.db")});
  if (!opened) fmt::print(stderr, "{}\n", opened.error().message);
  CHECK(opened.has_value());
  CHECK((*opened)->state().damaged_files == 0);
  return std::move(*opened);
}

struct Said {
  i64 put = -1, delivered = -1;  // the last incident of each
};

// Puts an incident, and delivers that before the last one: the first steps of each go through all files.
[[noreturn]] void write_for_ever(const TestFolder& folder, int pipe, Said said) {
  const auto store = open_store(folder);
  const auto say = [&] {
    if (::write(pipe, &said, sizeof said) != sizeof said) ::_exit(3);
  };
  while (true) {
    const i64 number = said.put + 1;
    const StoredIncident incident{.id = id_of(number),
                                  .key = "a/" + id_of(number),
                                  .n = 1,
                                  .state = "verdict",
                                  .opened = kStart + number,
                                  .updated = kStart + number,
                                  .text = std::string(static_cast<size_t>(number % 7000), 'x')};
    const Transition steps[] = {{kStart, "pending", "firing", "one"}, {kStart, "firing", "verdict", "two"}};
    const OutboxRow words[] = {
        {.incident = incident.id, .notifier = "ops", .sequence = 1, .occasion = "verdict", .text = "x"}};
    if (!store->put(incident, steps, words, kStart)) ::_exit(2);
    ++said.put;
    say();
    if (said.delivered + 2 > said.put) continue;
    const OutboxRow done{
        .incident = id_of(said.delivered + 1), .notifier = "ops", .sequence = 1, .kept = "k"};
    if (!store->begin_attempt({&done, 1}, kStart) || !store->tick_off({&done, 1}, 0)) ::_exit(2);
    ++said.delivered;
    say();
  }
}

Said last_said(const TestFolder& folder, Said before, i64 least, std::chrono::microseconds pause) {
  int pipe[2];
  CHECK(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) write_for_ever(folder, pipe[1], before);
  ::close(pipe[1]);
  Said last = before, said;
  i64 count = 0;
  while (::read(pipe[0], &said, sizeof said) == sizeof said) {
    last = said;
    if (count++ != least) continue;
    std::this_thread::sleep_for(pause);
    ::kill(child, SIGKILL);
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      << "the writer ended by itself, with status " << status;
  return last;
}

TEST(Kill, LosesNoIncidentAndNoWordOfOne) {
  const TestFolder folder;
  std::mt19937_64 random(8);
  Said said;
  for (int round = 0; round < 60; ++round) {
    const auto least = static_cast<i64>(random() % 40);
    said = last_said(folder, said, least, std::chrono::microseconds(random() % 500));
    const auto store = open_store(folder);
    const auto incidents = *store->newest(100'000);
    const i64 found = std::ssize(incidents);
    ASSERT_GE(found, said.put + 1) << round;
    ASSERT_LE(found, said.put + 2) << round;  // one was put, and the writer killed before it could say so
    for (i64 i = 0; i < found; ++i) {
      ASSERT_EQ(incidents[static_cast<size_t>(i)].id, id_of(found - 1 - i)) << round;
      ASSERT_EQ(store->transitions(id_of(i))->size(), 2U) << round << " " << i;
    }
    const auto rows = *store->due("ops", kStart, 100'000);
    const i64 first_waiting = found - std::ssize(rows);
    ASSERT_GE(first_waiting, said.delivered + 1) << round;
    ASSERT_LE(first_waiting, said.delivered + 2) << round;
    std::vector<bool> waits(static_cast<size_t>(found));
    for (const OutboxRow& row : rows) {
      const i64 number = std::stoll(row.incident);
      ASSERT_GE(number, first_waiting) << round;
      ASSERT_FALSE(waits[static_cast<size_t>(number)]) << round;
      waits[static_cast<size_t>(number)] = true;
    }
    said = {found - 1, first_waiting - 1};
  }
  EXPECT_GT(said.delivered, 100);
}

}  // namespace
}  // namespace spotter::store
