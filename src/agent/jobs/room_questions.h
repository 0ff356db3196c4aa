// RoomQuestions: whether there is room for traces, asked of disks that may never answer: each question is
// answered once, by the disk or since it takes too long. The loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/system/side_threads.h"
#include "base/time.h"
#include "base/types.h"
#include "net/loop.h"

namespace spotter::agent {

class RoomQuestions {
 public:
  RoomQuestions(net::Loop& loop, Ns patience);
  ~RoomQuestions();

  // `look` is on a thread of its own, and owns all that it uses; `done` is told what it says, now or later.
  void ask(std::function<std::string()> look, std::function<void(std::string why_not)> done);

 private:
  struct Question;
  void answer(i64 number, std::string why_not);

  net::Loop& loop_;
  Ns patience_;
  std::function<void(std::function<void()>)> post_;
  const SideThreads threads_ = SideThreads(2);  // one that hangs counts until it does not
  std::map<i64, std::unique_ptr<Question>> asked_;
  i64 next_ = 0;
  std::shared_ptr<const int> alive_ = std::make_shared<const int>();
};

}  // namespace spotter::agent
