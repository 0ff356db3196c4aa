// The interpreter's lock is let go while one of these lives, and taken again.
//
// A thread that wants the lock when the interpreter is ending is ended by it in the midst of our frames,
// which ends the process (PyEval_RestoreThread, until Python 3.14). So at the end those that are away, of
// threads that nobody has waited for, are called back and waited for: what is under way sees is_leaving() and
// gives up, and its thread ends with SystemExit, which says nothing.
#pragma once
#include <nanobind/nanobind.h>

namespace spotter::python {

class Unlocked {
 public:
  Unlocked();  // raises SystemExit where the interpreter is ending
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  static bool is_leaving();

 private:
  PyThreadState* state_;
};

// With the lock: whoever was called back goes no further.
void end_where_leaving();

// Once, when the module is loaded.
void wait_at_exit();

}  // namespace spotter::python
