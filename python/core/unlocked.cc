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
thread_local int own = 0;  // of them this thread's
std::atomic<bool> leaving = false, given_up = false;
std::thread::id leaver;  // may go on, and ask anew: its other functions at exit are still to come

bool is_leaver() { return std::this_thread::get_id() == leaver; }

void leave() {
  leaver = std::this_thread::get_id();
  leaving = true;
  // What other threads hold when the process ends is given back by nobody.
  nb::set_leak_warnings(false);
  PyThreadState* state = PyEval_SaveThread();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (away > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  given_up = away > 0;
  PyEval_RestoreThread(state);
}

}  // namespace

Unlocked::Unlocked() {
  end_where_leaving();
  ++away, ++own;
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  while (given_up && !is_leaver()) pause();
  // Counted until it has the lock: leave() has let go of it so long.
  PyEval_RestoreThread(state_);
  --away, --own;
}

bool Unlocked::is_leaving() { return leaving && !is_leaver(); }

void end_where_leaving() {
  if (!Unlocked::is_leaving()) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

void wait_at_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(leave));
  // Of the threads that were away none is in a process that was forked but the one that forked.
  pthread_atfork(nullptr, nullptr, [] { away = own; });
}

}  // namespace spotter::python
