// Child: a program that is run for its output and trusted with nothing: no environment, no capabilities, no
// descriptors but those it is given, the lowest priority, a bound on its time, memory and output. It ends
// with the thread that started it. What it reads and writes are files in memory, so that nobody waits at a
// pipe.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/system/descriptor.h"
#include "net/loop.h"

namespace spotter::net {

struct ChildOrder {
  std::vector<std::string> command;  // the first word is the program's path
  std::string input;                 // on its standard input
  std::vector<Descriptor> files;     // it has them as kFirstFile, kFirstFile + 1, ...
  std::optional<u32> uid;            // whom to run it as, in no group; else as who this process is
  Ns time = 0;                       // then it is killed
  size_t output_bytes = 0;           // more ends it
  size_t memory_bytes = 0;           // of its own; 0: any
  size_t descriptors_more = 16;      // that it may have open beside its files: who asks many hosts needs more
};

class Child {
 public:
  static constexpr int kFirstFile = 3;

  // `ended` gets its output, or why there is none; it may destroy the child. Errors: io.
  static Result<std::unique_ptr<Child>> start(Loop& loop, const ChildOrder& order,
                                              std::function<void(Result<std::string> output)> ended);
  ~Child();  // kills it, if it has not ended; nobody is told

  i64 pid() const;

 private:
  struct Body;
  explicit Child(std::shared_ptr<Body> body);
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
