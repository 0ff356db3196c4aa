#include "mcp/stdio.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/system/host.h"
#include "mcp/call_tool.h"
#include "mcp/calls.h"
#include "mcp/dispatcher.h"
#include "mcp/list.h"
#include "mcp/methods.h"
#include "mcp/pace.h"
#include "mcp/pipe.h"
#include "mcp/times.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

constexpr size_t kAtOnce = 4;
constexpr size_t kMostWaiting = 32;
constexpr Ns kBetweenProgress = kSecond;

// The token of a request's _meta; null: it wants no news of how far it is.
json::value progress_token(const Message& message) {
  const json::value* meta = message.params.if_contains("_meta");
  const json::value* token =
      meta && meta->is_object() ? meta->get_object().if_contains("progressToken") : nullptr;
  return token && (token->is_string() || token->is_int64() || token->is_uint64()) ? *token
                                                                                  : json::value(nullptr);
}

class Server {
 public:
  Server(World& world, int input, int output) : world_(world), pipe_(input, output) {}

  Result<void> run() {
    while (const auto line = pipe_.next()) {
      if (line->is_too_long)
        pipe_.write(error_text(std::nullopt,
                               {kNotJson, fmt::format("a message has at most {} bytes", kMostMessage)},
                               is_legacy()));
      else if (line->text.find_first_not_of(" \t\r") != std::string::npos)
        take(line->text);
      if (pipe_.is_gone()) break;
    }
    calls_.wait(pipe_.is_gone() ? 0 : Pipe::kLast);  // what runs may end; what does not is given up
    calls_.cancel([](const Job&) { return true; }, give_up);
    calls_.end();
    if (pipe_.is_gone()) return fail(Code::io, "nobody reads the answers any more");
    return {};
  }

 private:
  // One request on its way. Several of a batch are one after the other.
  struct Job : Cancellable {
    std::vector<std::variant<Message, std::string>> parts;
    bool is_batch = false;
    Connection connection;
    std::atomic<bool> is_unwanted = false;  // nobody waits for its answer
  };
  static void give_up(Job& job) { job.is_unwanted = job.cancelled = true; }

  bool is_legacy() const { return connection_.legacy_version.has_value(); }

  void take(const std::string& text) {
    Received received = read_messages(text, connection_);
    if (received.is_batch) {
      for (const auto& part : received.parts)
        if (const auto* message = std::get_if<Message>(&part); message && is_cancelling(*message))
          cancel(*message);
      return enqueue(std::move(received.parts), true);
    }
    for (auto& part : received.parts) {
      if (const auto* refusal = std::get_if<std::string>(&part)) {
        pipe_.write(*refusal);
        continue;
      }
      const Message& message = std::get<Message>(part);
      if (is_cancelling(message)) {
        cancel(message);
      } else if (is_slow(message)) {
        std::vector<std::variant<Message, std::string>> one;
        one.push_back(std::move(part));
        enqueue(std::move(one), false);
      } else {
        const Reply reply = answer(message, {world_, connection_});
        if (!reply.text.empty()) pipe_.write(reply.text);
      }
    }
  }

  static bool is_cancelling(const Message& message) {
    return !message.has_id && message.method == "notifications/cancelled";
  }

  void enqueue(std::vector<std::variant<Message, std::string>> parts, bool is_batch) {
    auto job = std::make_shared<Job>();
    job->parts = std::move(parts);
    job->is_batch = is_batch;
    job->connection = connection_;
    job->longest = longest(*job);
    if (calls_.take(job)) return;
    for (const auto& part : job->parts)
      if (const auto* message = std::get_if<Message>(&part); message && message->has_id)
        pipe_.write(busy_text(
            *message, connection_,
            fmt::format("busy: {} calls are waiting; ask again when they are answered", kMostWaiting)));
  }

  void cancel(const Message& message) {
    const json::value* id = message.params.if_contains("requestId");
    if (!id) return;
    const auto is_it = [&](const Job& job) {
      const Message* one = job.parts.size() == 1 ? std::get_if<Message>(&job.parts[0]) : nullptr;
      return one && one->has_id && one->id == *id;
    };
    calls_.cancel(is_it, give_up);
  }

  static Ns now() { return steady_clock_now(); }

  static Ns longest(const Job& job) {
    const auto is_capture = [](const auto& part) {
      const Message* message = std::get_if<Message>(&part);
      const json::value* name = message ? message->params.if_contains("name") : nullptr;
      return name && name->is_string() && name->get_string() == kCapture.name;
    };
    return std::ranges::any_of(job.parts, is_capture) ? kCaptureCall : kUsualCall;
  }

  void act(Job& job) {
    std::vector<std::string> replies;
    for (const auto& part : job.parts) {
      if (const auto* refusal = std::get_if<std::string>(&part)) {
        replies.push_back(*refusal);
        continue;
      }
      const Message& message = std::get<Message>(part);
      if (is_slow(message)) wait_for_turn(job);
      if (job.is_unwanted) return;
      Patience patience{.cancelled = &job.cancelled, .progress = progress_of(job, message)};
      std::string text = answer(message, {world_, job.connection, std::move(patience)}).text;
      if (!text.empty()) replies.push_back(std::move(text));
    }
    if (job.is_unwanted || replies.empty()) return;
    pipe_.write(together(replies, job.is_batch));
  }

  void wait_for_turn(const Job& job) {
    Ns wait = pace_.take(now());
    for (; wait > 0 && !job.cancelled; wait -= kLook)
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(wait, kLook)));
  }

  std::function<void(i64, i64)> progress_of(const Job& job, const Message& message) {
    const json::value token = progress_token(message);
    if (token.is_null()) return {};
    struct State {
      std::mutex mutex;
      Ns last = 0;
      i64 told = 0;
    };
    return [this, &job, token, state = std::make_shared<State>()](i64 done, i64 total) {
      const std::lock_guard lock(state->mutex);
      const Ns now = Server::now();
      if (done <= state->told || now - state->last < kBetweenProgress || job.is_unwanted) return;
      state->last = now;
      state->told = done;
      json::object params{{"progressToken", token}, {"progress", done}, {"total", total}};
      pipe_.write(wire::json_text(json::object{
          {"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", std::move(params)}}));
    };
  }

  World& world_;
  Connection connection_;  // of the thread that reads
  Pipe pipe_;
  Pace pace_;
  Calls<Job> calls_{kAtOnce, kMostWaiting, [this](const std::shared_ptr<Job>& job) { act(*job); }};
};

}  // namespace

Result<void> serve_stdio(World& world, int input, int output) {
  std::signal(SIGPIPE, SIG_IGN);
  Server server(world, input, output);
  return server.run();
}

}  // namespace spotter::mcp
