#include "client/fleet.h"

#include <algorithm>
#include <chrono>

#include "base/time.h"
#include "capture/captures.h"

namespace spotter::client {
namespace {

constexpr Ns kAnswerPatience = 5 * kSecond;  // for what an agent answers at once
constexpr i64 kWaitMs = 10'000;              // how long it may wait for news
constexpr Ns kWaitPatience = kWaitMs * kMillisecond + kAnswerPatience;
constexpr Ns kRetryPause = kSecond;
constexpr Ns kFirstPause = kSecond / 2;  // others are still to be asked, and nothing can have happened yet
constexpr Ns kNewsPause = kSecond / 50;  // between questions, however fast there is news
constexpr Ns kGrace = 5 * kSecond;       // for the agent to end what it said it would
constexpr i64 kLongestMs = i64{370} * 24 * 3600 * 1000;
constexpr int kMostMisses = 3;  // questions in a row without an answer: a network may have a gap

i64 unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// How far a clock is ahead that showed `there` between two moments of ours; 0 where it may be right.
i64 clock_ahead(i64 before, i64 there, i64 after) {
  constexpr i64 kFarthest = i64{1} << 60;  // what an agent says may be any number
  there = std::clamp(there, -kFarthest, kFarthest);
  return there < before ? there - before : there > after ? there - after : 0;
}

}  // namespace

struct Fleet::Way {
  Way(net::Loop& loop, const net::HttpAddress& address, const Credentials& credentials)
      : client(loop, address, credentials.tls), pause(loop), deadline(loop) {}
  net::HttpClient client;
  net::Timer pause, deadline;
  i64 asked_ms = 0;
  int misses = 0;
  bool asked_to_end = false;
};

Fleet::Fleet(net::Loop& loop, std::vector<net::HttpAddress> hosts, const Credentials& credentials)
    : loop_(loop), credentials_(credentials) {
  net::allow_many_descriptors();
  for (net::HttpAddress& host : hosts) {
    Member member;
    member.address = std::move(host);
    members_.push_back(std::move(member));
  }
}
Fleet::~Fleet() = default;

void Fleet::begin(const wire::CaptureRequest& wish, std::function<void()> changed) {
  changed_ = std::move(changed);
  waiting_ = open_ = members_.size();
  const std::string body = wire::capture_request_text(wish);
  for (size_t i = 0; i < members_.size(); ++i) {
    ways_.push_back(std::make_unique<Way>(loop_, members_[i].address, credentials_));
    ask(i, "POST", "/v1/captures", body, kAnswerPatience);
  }
}

void Fleet::ask(size_t i, std::string method, std::string target, std::string body, Ns patience) {
  Way& way = *ways_[i];
  way.asked_ms = unix_ms();
  way.client.ask({std::move(method), std::move(target), std::move(body), credentials_.authorization},
                 patience, [this, i](Result<net::HttpAnswer> http) {
                   take(i, std::move(http));
                   changed_();
                 });
}

void Fleet::take(size_t i, Result<net::HttpAnswer> http) {
  Member& member = members_[i];
  Way& way = *ways_[i];
  if (member.is_over) return;  // it was given up
  const bool is_first = !member.has_answered;
  if (is_first) {
    member.has_answered = true;
    --waiting_;
  }
  if (!http) {
    // A capture is not asked for twice: it may have begun.
    if (is_first || ++way.misses >= kMostMisses)
      return lose(i, unreachable(member.address, http.error()).value());
    return way.pause.set(kRetryPause, [this, i] { follow(i); });
  }
  way.misses = 0;
  Result<Answer> answer = read_answer(std::move(*http), capture::receipt_columns());
  if (answer && answer->capture.empty())
    answer = fail(Code::corrupt, "what answers there is no agent of this program");
  if (!answer) {
    member.matches_none = is_first && answer.error().code == Code::not_found;
    return lose(i, is_first ? answer.error()
                            : Error{answer.error().code, "its agent says: " + answer.error().message});
  }
  if (is_first) {
    member.clock_ahead_ms = clock_ahead(way.asked_ms, answer->unix_ms, unix_ms());
    way.deadline.set(std::clamp<i64>(answer->remaining_ms, 0, kLongestMs) * kMillisecond + kGrace, [this, i] {
      lose(i, {Code::io, "its agent does not end the capture, though its time is over"});
      changed_();
    });
  }
  // Only the first answer has notes.
  Notes notes = std::move(member.answer.table.notes);
  member.answer = std::move(*answer);
  if (!is_first) member.answer.table.notes = std::move(notes);
  if (member.answer.over) return finish(i);
  if (way.asked_to_end)
    return lose(i, {Code::corrupt, "its agent was asked to end the capture, and says that it goes on"});
  if (is_ending_) return follow(i);
  way.pause.set(is_first ? kFirstPause : kNewsPause, [this, i] { follow(i); });
}

void Fleet::follow(size_t i) {
  const Answer& answer = members_[i].answer;
  ways_[i]->asked_to_end = is_ending_;
  if (is_ending_) return ask(i, "DELETE", "/v1/captures/" + answer.capture, {}, kAnswerPatience);
  ask(i, "GET", fmt::format("/v1/captures/{}?seen={}&wait_ms={}", answer.capture, answer.revision, kWaitMs),
      {}, kWaitPatience);
}

void Fleet::lose(size_t i, Error error) {
  members_[i].error = std::move(error);
  finish(i);
}

void Fleet::finish(size_t i) {
  if (std::exchange(members_[i].is_over, true)) return;
  ways_[i]->deadline.cancel();
  ways_[i]->pause.cancel();
  --open_;
}

void Fleet::end() {
  if (is_ending_) return;
  is_ending_ = true;
  // Who has not answered yet is asked when he does. A question that is under way is given up for this one.
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].is_over || !members_[i].has_answered) continue;
    ways_[i] = std::make_unique<Way>(loop_, members_[i].address, credentials_);
    follow(i);
  }
}

void Fleet::give_up() {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].is_over) lose(i, {Code::cancelled, "given up before its agent said how it ended"});
  }
}

Table Fleet::receipts() const {
  Table all("receipts", capture::receipt_columns());
  const size_t host = all.column("host"), state = all.column("state"), reason = all.column("reason"),
               took = all.column("took_ns");
  std::vector<Value> row(all.columns());
  for (const Member& member : members_) {
    const Table& table = member.answer.table;
    const bool is_lost = member.error && !member.matches_none;
    const std::string why = is_lost ? member.error->message : std::string();
    for (size_t r = 0; r < table.rows(); ++r) {
      for (size_t c = 0; c < all.columns(); ++c) row[c] = table.at(r, c);
      // Not final, and nobody will say more.
      if (is_lost && is_null(row[took])) {
        row[state] = "failed";
        row[reason] = std::string_view(why);
      }
      all.append(row);
    }
    if (is_lost && table.rows() == 0) {
      std::fill(row.begin(), row.end(), Value());
      const std::string name = member.address.host.empty() ? "localhost" : member.address.host;
      row[host] = std::string_view(name);
      row[state] = "failed";
      row[reason] = std::string_view(why);
      all.append(row);
    }
    all.notes.merge(table.notes, members_.size() > 1 ? std::string_view(member.address.host) : "");
  }
  return all;
}

}  // namespace spotter::client
