// capture: traces a job now.
#include "capture/capture.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "base/system/host.h"
#include "base/time.h"
#include "client/client.h"
#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "mcp/record.h"
#include "table/ops.h"
#include "wire/capture_request.h"
#include "wire/target.h"

namespace spotter::mcp {
namespace {

constexpr i64 kMostRanks = 8, kMostMs = 2'000, kUsualMs = 500;
constexpr size_t kMostInAnHour = 4;
constexpr Ns kLongest = 110 * kSecond, kPause = kSecond, kPatience = 10 * kSecond;

constexpr ToolParam kParams[] = {
    {.name = "job", .help = "the job, as overview names it", .required = true},
    {.name = "ranks",
     .help = "those that are traced, at most 8; without it rank 0",
     .type = ToolParam::Type::integers,
     .most = kMostRanks},
    {.name = "duration_ms",
     .help = "how long is recorded (default 500)",
     .type = ToolParam::Type::integer,
     .least = 1,
     .most = kMostMs},
    {.name = "reason", .help = "why, for the agent's audit log", .required = true},
};

// How many were begun of late. One server is one caller: what many of them may do is the agents' to say.
class Hour {
 public:
  bool take(Ns now) {
    const std::lock_guard lock(mutex_);
    while (!begun_.empty() && begun_.front() + kHour < now) begun_.pop_front();
    if (begun_.size() >= kMostInAnHour) return false;
    begun_.push_back(now);
    return true;
  }
  // Nothing was begun after all.
  void give_back() {
    const std::lock_guard lock(mutex_);
    if (!begun_.empty()) begun_.pop_back();
  }

 private:
  std::mutex mutex_;
  std::deque<Ns> begun_;
};

struct Begun {
  size_t host;
  client::Answer answer;
};

bool is_cancelled(const Call& call) { return call.patience.cancelled && *call.patience.cancelled; }

Result<client::Answer> asked(const Call& call, size_t host, const net::HttpQuestion& question) {
  auto answers =
      call.world.agents->ask(std::span(&host, 1), std::span(&question, 1), kPatience, call.patience);
  if (!answers[0]) return tl::unexpected(answers[0].error());
  return client::read_answer(std::move(*answers[0]), capture::receipt_columns());
}

// Until all receipts are final, or it takes too long.
void follow(const Call& call, std::vector<Begun>& begun, Ns until) {
  while (steady_clock_now() < until && !is_cancelled(call)) {
    bool is_over = true;
    for (Begun& one : begun) {
      if (one.answer.over) continue;
      auto answer = asked(call, one.host,
                          {"GET", "/v1/captures/" + wire::escaped_parameter(one.answer.capture), {}, {}});
      if (answer) one.answer = std::move(*answer);
      is_over = is_over && one.answer.over;
    }
    if (is_over) return;
    if (call.patience.progress) call.patience.progress(kLongest - (until - steady_clock_now()), kLongest);
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPause));
  }
}

Result<Answer> capture_job(const Call& call) {
  static Hour hour;
  if (!call.world.agents)
    return fail(Code::unsupported, "this server reads folders of traces; only agents can trace a job");
  const Ns now = Host::at("/").unix_now();
  wire::CaptureRequest wish;
  wish.job = call.arguments.text("job");
  wish.ranks = call.arguments.integers("ranks");
  if (wish.ranks.empty()) wish.ranks = {0};
  wish.duration_ms = call.arguments.integer("duration_ms").value_or(kUsualMs);
  wish.reason = call.arguments.text("reason");
  wish.client = std::string(call.client);
  if (!hour.take(steady_clock_now()))
    return fail(
        Code::busy,
        "{} captures were begun in the last hour, which is the most; use those that there are (overview), or wait",
        kMostInAnHour);
  std::vector<Begun> begun;
  std::optional<Error> refusal;
  const size_t hosts = call.world.agents->names().size();
  for (size_t host = 0; host < hosts && !is_cancelled(call); ++host) {
    auto answer = asked(call, host, {"POST", "/v1/captures", wire::capture_request_text(wish), {}});
    if (answer)
      begun.push_back({host, std::move(*answer)});
    else if (!refusal || refusal->code == Code::not_found)
      refusal = answer.error();
  }
  if (begun.empty()) {
    // Of an agent that did not answer it is not known.
    if (!refusal || (refusal->code != Code::io && refusal->code != Code::cancelled)) hour.give_back();
    return refusal ? tl::unexpected(*refusal) : fail(Code::cancelled, "it was taken back before it began");
  }
  follow(call, begun, steady_clock_now() + kLongest);
  Answer answer{.table = begun[0].answer.table.empty_like(), .as_of = now};
  bool is_over = true;
  for (const Begun& one : begun) {
    table::append(answer.table, one.answer.table);
    is_over = is_over && one.answer.over;
    add_notes(one.answer.table.notes, answer.notes);
  }
  const std::string& id = begun[0].answer.capture;
  answer.sentence =
      fmt::format("{} of {} {} [s1].",
                  is_over ? "The capture is over, with receipts" : "The capture goes on, with receipts",
                  count_of(answer.table.rows(), "process"), is_over ? "final" : "so far");
  answer.sources.push_back({"the receipts of the capture", "receipts",
                            agents_command(call.world, "captures " + command_word(id))});
  if (is_id(id)) answer.next.push_back({"why_slow", {{"capture", id}}});
  return answer;
}

}  // namespace

constexpr Tool kCapture = {
    .name = "capture",
    .title = "Trace a job",
    .description =
        "Traces up to 8 ranks of a running job for up to 2 s, which slows them a little, and waits for the receipts. At most "
        "4 in an hour; look first whether overview has a capture that will do. Next: why_slow.",
    .params = kParams,
    .call = capture_job,
    .reads_only = false,
    .has_rows = false,
};

}  // namespace spotter::mcp
