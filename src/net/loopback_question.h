// LoopbackQuestion: a question to a program of this machine that speaks lines by TCP: two texts are sent, the
// second one when the first is answered, and what comes until the other side closes is the answer. On the
// loop's thread.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "net/loop.h"

namespace spotter::net {

struct LoopbackText {
  std::string host = "localhost";  // all addresses of it have to be loopback's
  u16 port = 0;
  std::string first, then;
  i64 uid = -1;                   // whose program it has to be; -1: anybody's
  size_t most_bytes = 8'000'000;  // of the answer
  Ns patience = 10 * kSecond;     // for all
};

class LoopbackQuestion {
 public:
  explicit LoopbackQuestion(Loop& loop);
  ~LoopbackQuestion();  // whoever waits for an answer is not told
  LoopbackQuestion(const LoopbackQuestion&) = delete;
  LoopbackQuestion& operator=(const LoopbackQuestion&) = delete;

  // Not before the last question is answered. `done` is called later. Errors: denied (the host is not this
  // machine, or the program another user's), not_found (nobody listens there), invalid (a longer answer), io
  // (no answer in time, a connection that breaks).
  using Done = std::function<void(Result<std::string>)>;
  void ask(LoopbackText text, Done done);

 private:
  struct Body;
  Loop& loop_;
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
