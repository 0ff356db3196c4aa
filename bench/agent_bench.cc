// agent_bench SPOTTER [PART...]: `spotter agent` under load, against the bars of an agent that nobody
// notices. Prints one JSON object with a member per part (all by default, about two minutes):
//
//   herd1000, herd3000  so many processes begin within 0.3 s and poll every second for 10 s; in the middle
//                       one request for all. A probe is the round trip of a message that is always answered,
//                       seen by its sender: it holds the time for which sender and agent wait for a processor
//                       beside the herd. The same herd around a bare receive-and-answer loop (`bare`) tells
//                       that part.
//   trigger16, trigger40  the same with few processes, which have a request with the first poll after it
//   bystanders          probes beside clients that vanish before their answer and others that never read
//   flood               polls as fast as one process can send them
//   idle                without processes, with 100 that poll every 5 s, and with 100 that are silent
//   telemetry           all host collectors each second, the history, and a scrape of /metrics every 15 s
//   fleet               one `spotter trace` to 2,000 agents on loopback addresses, 5 % of them dead or stuck
//   rpc                 getStatus in series, by turns with a bare accept-read-write-close loop
//
// Every answer is checked; a wrong one ends the benchmark.
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/system/command.h"
#include "base/time.h"
#include "bench/agent_process.h"
#include "bench/fleet_agents.h"
#include "bench/pollers.h"
#include "kineto/message.h"

namespace spotter::bench {
namespace {

constexpr Ns kProbePause = 2 * kMillisecond;

using Agent = std::unique_ptr<bench::AgentProcess>;

void wait(double seconds) { bench::sleep_until(bench::now_ns() + static_cast<Ns>(seconds * 1e9)); }

std::string json(const bench::Spread& s) {
  return fmt::format(R"({{"count": {}, "p50_ns": {}, "p99_ns": {}, "max_ns": {}}})", s.count, s.p50, s.p99,
                     s.max);
}

std::string json(const bench::Usage& used, double seconds) {
  return fmt::format(R"({{"seconds": {:.1f}, "cpu_ns": {}, "waiting_ns": {}, "wake_ups": {}}})", seconds,
                     used.cpu, used.waiting, used.wake_ups);
}

bench::Usage operator-(const bench::Usage& a, const bench::Usage& b) {
  return {a.cpu - b.cpu, a.waiting - b.waiting, a.wake_ups - b.wake_ups};
}

struct HerdRun {
  bench::PollCounts counts;
  bench::Spread probes;
  Ns trigger = 0;  // what the request took
  std::string capture;
};

// `agent` null: around a bare loop, without a request.
Result<HerdRun> run_herd(const std::string& directory, const bench::AgentProcess* agent, int processes,
                         double seconds) {
  HerdRun run;
  TRY_ASSIGN(const auto herd, bench::Herd::start({directory, processes, kSecond, 300 * kMillisecond}));
  Result<std::string> capture;
  std::thread trigger([&] {
    if (!agent) return;
    wait(seconds * 0.4);
    const Ns start = bench::now_ns();
    capture = agent->capture_all();
    run.trigger = bench::now_ns() - start;
    herd->triggered();
  });
  const Result<bench::Spread> probes = bench::probe(directory, seconds, kProbePause);
  trigger.join();
  TRY_ASSIGN(run.counts, herd->end());
  TRY(capture);
  TRY(probes);
  run.capture = *capture;
  run.probes = *probes;
  return run;
}

Result<i64> written_of(const bench::AgentProcess& agent, const std::string& capture, i64 wanted) {
  i64 count = 0;
  for (int i = 0; i < 30 && count < wanted; i++) {
    if (i > 0) wait(0.1);
    TRY_ASSIGN(count, agent.written(capture));
  }
  return count;
}

Result<std::string> herd(const std::string& program, int processes, double seconds, bool with_bare) {
  TRY_ASSIGN(const Agent agent, bench::AgentProcess::start(program));
  TRY(bench::probe(agent->ipc_directory(), 0.01, kMillisecond));
  const bench::Usage before = agent->child().usage();
  const Result<HerdRun> done = run_herd(agent->ipc_directory(), agent.get(), processes, seconds);
  if (!done && done.error().code == Code::unsupported)
    return fmt::format(R"({{"processes": 0, "reason": "{}"}})", done.error().message);
  TRY_ASSIGN(const HerdRun run, done);
  const bench::Usage used = agent->child().usage() - before;
  TRY_ASSIGN(const i64 written, written_of(*agent, run.capture, processes));
  TRY_ASSIGN(const i64 taken, agent->polls());
  const bench::PollCounts& c = run.counts;
  if (c.wrong > 0) return fail(Code::internal, "{} wrong answers to polls", c.wrong);
  std::string out = fmt::format(
      R"({{"processes": {}, "polls": {}, "in_time": {}, "sent": {}, "taken": {}, "retries": {}, "configs": {}, )"
      R"("late_configs": {}, "written": {}, "trigger_ns": {}, "probes": {}, "usage": {}, "peak_rss_kb": {}, )"
      R"("rss_kb": {})",
      processes, c.polls, c.in_time, c.sent, taken, c.retries, c.configs, c.late_configs, written,
      run.trigger, json(run.probes), json(used, seconds), agent->child().kilobytes("VmHWM"),
      agent->child().kilobytes("VmRSS"));
  if (with_bare) {
    const bench::Folder folder;
    const auto bare = bench::bare_datagram_loop(folder.path());
    TRY_ASSIGN(const HerdRun same, run_herd(folder.path(), nullptr, processes, seconds));
    out +=
        fmt::format(R"(, "bare": {{"polls": {}, "in_time": {}, "retries": {}, "probes": {}, "usage": {}}})",
                    same.counts.polls, same.counts.in_time, same.counts.retries, json(same.probes),
                    json(bare->usage(), seconds));
  }
  return out + "}";
}

// Sixty-four clients that never read, asking all the time, and others that are gone before their answer
// comes: sockets, and processes that register and end.
std::unique_ptr<bench::Child> bad_clients(const std::string& directory) {
  const pid_t pid = bench::fork_bound();
  if (pid > 0) return std::make_unique<bench::Child>(pid);
  const std::string question = kineto::encode(kineto::Registration{1, 1, 1});
  std::vector<std::unique_ptr<bench::DatagramClient>> mute(64);
  for (auto& client : mute) client = std::make_unique<bench::DatagramClient>(directory);
  for (u64 i = 0;; i++, wait(0.002)) {
    mute[i % mute.size()]->send(question, true);
    {
      bench::DatagramClient vanishing(directory);
      vanishing.send(question, true);
    }
    if (i % 10 != 0) continue;
    const pid_t registers = bench::fork_bound();
    if (registers == 0) {
      {
        bench::DatagramClient vanishing(directory);
        vanishing.send(kineto::encode(kineto::Poll{3, 0, {static_cast<i32>(getpid())}}), true);
      }
      _exit(0);
    }
    waitpid(registers, nullptr, 0);
  }
}

Result<std::string> bystanders(const std::string& program) {
  TRY_ASSIGN(const Agent agent, bench::AgentProcess::start(program));
  TRY_ASSIGN(const bench::Spread alone, bench::probe(agent->ipc_directory(), 5, kProbePause));
  const auto bad = bad_clients(agent->ipc_directory());
  wait(1);
  TRY_ASSIGN(const bench::Spread beside, bench::probe(agent->ipc_directory(), 5, kProbePause));
  return fmt::format(R"({{"alone": {}, "beside": {}, "bad_clients_run": {}}})", json(alone), json(beside),
                     bad->runs());
}

Result<std::string> flood(const std::string& program) {
  TRY_ASSIGN(const Agent agent, bench::AgentProcess::start(program));
  bench::DatagramClient client(agent->ipc_directory());
  const std::string poll = kineto::encode(kineto::Poll{3, 0, {static_cast<i32>(getpid()), getppid()}});
  const bench::Usage before = agent->child().usage();
  const Ns start = bench::now_ns();
  i64 sent = 0;
  for (; bench::now_ns() < start + 2 * kSecond; sent++)
    if (!client.send(poll, true)) return fail(Code::internal, "a poll cannot be sent");
  TRY_ASSIGN(const i64 taken, agent->polls());
  const Ns time = bench::now_ns() - start;
  const bench::Usage used = agent->child().usage() - before;
  if (taken != sent) return fail(Code::internal, "{} polls were sent, {} taken", sent, taken);
  return fmt::format(R"({{"polls": {}, "ns": {}, "cpu_ns": {}}})", taken, time, used.cpu);
}

Result<std::string> idle(const std::string& program) {
  constexpr int processes = 100;
  constexpr double seconds = 20;
  TRY_ASSIGN(const Agent agent, bench::AgentProcess::start(program));
  const bench::Child& child = agent->child();
  const auto use = [&] {
    const bench::Usage before = child.usage();
    wait(seconds);
    return child.usage() - before;
  };
  wait(1);
  const i64 rss_at_start = child.kilobytes("VmRSS");
  const bench::Usage alone = use();
  TRY_ASSIGN(const auto herd,
             bench::Herd::start({agent->ipc_directory(), processes, 5 * kSecond, 5 * kSecond}));
  wait(6);
  TRY_ASSIGN(const i64 polls_before, agent->polls());
  const bench::Usage polled = use();
  TRY_ASSIGN(const i64 polls, agent->polls());
  const i64 rss = child.kilobytes("VmRSS"), anon = child.kilobytes("RssAnon"),
            file = child.kilobytes("RssFile");
  herd->silence();
  wait(1);
  const bench::Usage silent = use();
  TRY_ASSIGN(const bench::PollCounts counts, herd->end());
  if (counts.polls < 4 * processes)
    return fail(Code::internal, "{} polls of {} processes", counts.polls, processes);
  return fmt::format(
      R"({{"none": {}, "polled": {}, "polls": {}, "silent": {}, "rss_at_start_kb": {}, "rss_kb": {}, )"
      R"("rss_anon_kb": {}, "rss_file_kb": {}}})",
      json(alone, seconds), json(polled, seconds), polls - polls_before, json(silent, seconds), rss_at_start,
      rss, anon, file);
}

Result<std::string> rpc(const std::string& program) {
  constexpr int rounds = 7, count = 2000;  // all in all fewer than there are ports
  TRY_ASSIGN(const Agent agent, bench::AgentProcess::start(program));
  u16 bare_port = 0;
  const auto bare = bench::bare_rpc_loop(bare_port);
  TRY(bench::ask_rpc(bare_port, 10));
  TRY(bench::ask_rpc(agent->rpc_port(), 10));
  std::vector<double> ratios;
  std::vector<Ns> times, bare_times;
  for (int round = 0; round < rounds; round++) {
    TRY_ASSIGN(const Ns bare_time, bench::ask_rpc(bare_port, count));
    TRY_ASSIGN(const Ns time, bench::ask_rpc(agent->rpc_port(), count));
    bare_times.push_back(bare_time);
    times.push_back(time);
    ratios.push_back(static_cast<double>(bare_time) / static_cast<double>(time));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto rate = [](std::vector<Ns> of) {
    return count * 1e9 / static_cast<double>(bench::spread_of(std::move(of)).p50);
  };
  return fmt::format(R"({{"per_second": {:.0f}, "bare_per_second": {:.0f}, "ratio": {:.3f}}})", rate(times),
                     rate(bare_times), ratios[rounds / 2]);
}

// After ten seconds, when all files are open and all processes known.
Result<std::string> telemetry(const std::string& program) {
  constexpr double kSettling = 10, kScrape = 15;
  constexpr int kScrapes = 4;
  TRY_ASSIGN(const Agent agent, bench::AgentProcess::start(program, "collect: all:1s\n"));
  wait(kSettling);
  const bench::Usage before = agent->child().usage();
  Ns longest = 0;
  size_t samples = 0;
  for (int i = 0; i < kScrapes; ++i) {
    const Ns start = bench::now_ns();
    TRY_ASSIGN(const std::string page, agent->http("GET", "/metrics", ""));
    longest = std::max(longest, bench::now_ns() - start);
    if (page.find("spotter_cpu_user_seconds_total ") == page.npos)
      return fail(Code::internal, "/metrics has no spotter_cpu_user_seconds_total");
    samples = static_cast<size_t>(std::count(page.begin(), page.end(), '\n'));
    wait(kScrape);
  }
  const bench::Usage used = agent->child().usage() - before;
  TRY_ASSIGN(const std::string kept, agent->http("GET", "/v1/metrics?since_ms=60000&metric=cpu_user_ns", ""));
  const auto rows = std::count(kept.begin(), kept.end(), '\n');
  if (rows < 50) return fail(Code::internal, "the history has only {} lines of a minute", rows);
  return fmt::format(
      R"({{"usage": {}, "rss_kb": {}, "anon_kb": {}, "scrape_lines": {}, "longest_scrape_ns": {}}})",
      json(used, kScrape * kScrapes), agent->child().kilobytes("VmRSS"), agent->child().kilobytes("RssAnon"),
      samples, longest);
}

Result<std::string> fleet(const std::string& program) {
  constexpr bench::FleetShape shape{2000, 50, 50, 4 * kSecond};
  TRY_ASSIGN(const auto agents, bench::FleetAgents::start(shape));
  const bench::Folder output;
  const Ns start = bench::now_ns();
  const auto receipts = run_command(
      {"sh", "-c", R"("$0" trace --hostfile "$1" --credentials "$2" --output "$3" --format csv; echo "$?")",
       program, agents->hostfile(), agents->credentials(), output.path()});
  const Ns took = bench::now_ns() - start;
  TRY(receipts);
  const auto lines_with = [&](std::string_view word) {
    i64 count = 0;
    for (size_t at = receipts->find(word); at != receipts->npos; at = receipts->find(word, at + 1)) ++count;
    return count;
  };
  if (!receipts->ends_with("\n3\n")) return fail(Code::internal, "spotter trace does not end with status 3");
  return fmt::format(
      R"({{"agents": {}, "asked": {}, "asked_ns": {}, "took_ns": {}, "write_ns": {}, "written": {}, "dead": {}, )"
      R"("stuck": {}}})",
      shape.count, agents->asked(), agents->last_asked() - start, took, shape.write_time,
      lines_with(",written,"), lines_with("refused"), lines_with("no answer in"));
}

struct Part {
  std::string_view name;
  Result<std::string> (*run)(const std::string& program);
};
constexpr Part kParts[] = {
    {"herd1000", [](const std::string& p) { return herd(p, 1000, 10, true); }},
    {"herd3000", [](const std::string& p) { return herd(p, 3000, 10, true); }},
    {"trigger16", [](const std::string& p) { return herd(p, 16, 6, false); }},
    {"trigger40", [](const std::string& p) { return herd(p, 40, 6, false); }},
    {"bystanders", bystanders},
    {"flood", flood},
    {"idle", idle},
    {"telemetry", telemetry},
    {"fleet", fleet},
    {"rpc", rpc},
};

}  // namespace
}  // namespace spotter::bench

int main(int argc, char** argv) {
  using namespace spotter;
  if (argc < 2) {
    fmt::print(stderr, "usage: agent_bench SPOTTER [PART...]\n");
    return 2;
  }
  const std::vector<std::string_view> wanted(argv + 2, argv + argc);
  std::string out;
  for (const bench::Part& part : bench::kParts) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), part.name) == wanted.end()) continue;
    const Result<std::string> result = part.run(argv[1]);
    if (!result) {
      fmt::print(stderr, "agent_bench: {}: {}\n", part.name, result.error().message);
      return 1;
    }
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ",\n", part.name, *result);
  }
  fmt::print("{{{}}}\n", out);
}
