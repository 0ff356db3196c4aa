// Questions to file systems that processes write to, which may hang: a server's, or one that its user has
// made so. Each is asked on a thread of its own, of which each user has some; who asks looks later whether
// there is an answer, and need not wait for it.
#pragma once
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "base/types.h"

namespace spotter::capture {

// Runs work that owns all that it uses, for files of that user. False: too much of his hangs.
using Aside = std::function<bool(i64 uid, std::function<void()> work)>;

Aside aside_for_each_user();
inline bool at_once(i64, const std::function<void()>& work) {  // for tests
  work();
  return true;
}

template <class T>
std::optional<std::future<T>> ask(const Aside& aside, i64 uid, std::function<T()> question) {
  const auto task = std::make_shared<std::packaged_task<T()>>(std::move(question));
  std::future<T> answer = task->get_future();
  if (!aside(uid, [task] { (*task)(); })) return {};
  return answer;
}

template <class Answer>
bool is_there(const Answer& answer) {
  return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace spotter::capture
