#include "unlocked.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace spotter::python {
namespace {

namespace nb = nanobind;
using namespace std::chrono_literals;

constexpr auto kPatience = 10s;  // what is cancelled ends sooner, but for a file server that does not answer

std::atomic<int> away = 0;
std::atomic<bool> leaving = false, has_stayed = false;
std::thread::id leaver;  // may go on, and ask anew: its other functions at exit are still to come

bool comes_back() { return !leaving || std::this_thread::get_id() == leaver; }

void leave() {
  leaver = std::this_thread::get_id();
  leaving = true;
  PyThreadState* state = PyEval_SaveThread();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (away > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  PyEval_RestoreThread(state);
  // What they hold is never given back.
  if (away > 0 || has_stayed) nb::set_leak_warnings(false);
}

}  // namespace

Unlocked::Unlocked() {
  ++away;
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  if (!comes_back()) {
    has_stayed = true;
    --away;
    while (true) pause();
  }
  // Counted until it has the lock: leave() has let go of it so long.
  PyEval_RestoreThread(state_);
  --away;
}

bool Unlocked::is_leaving() { return !comes_back(); }

void wait_at_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(leave));
  // The threads that were away are not in a process that was forked.
  pthread_atfork(nullptr, nullptr, [] { away = 0; });
}

}  // namespace spotter::python
