// The interpreter's lock is let go while one of these lives, and taken again.
//
// A thread that wants the lock when the interpreter is ending is ended by it in the midst of our frames,
// which ends the process (PyEval_RestoreThread, until Python 3.14). So who is away then, of threads that
// nobody waits for, is waited for at the end, and does not come back; what is under way sees is_leaving() and
// gives up.
#pragma once
#include <nanobind/nanobind.h>

namespace spotter::python {

class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  static bool is_leaving();

 private:
  PyThreadState* state_;
};

// Once, when the module is loaded.
void wait_at_exit();

}  // namespace spotter::python
