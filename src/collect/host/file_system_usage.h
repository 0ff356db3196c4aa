// How full file systems are. A file system whose server is dead lets its caller hang, for ever perhaps, and
// nothing wakes it: such a question is asked in a thread of its own, and nobody asks again before it returns.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "collect/host/mounts.h"

namespace spotter::collect {

struct Usage {
  i64 size_bytes = 0, free_bytes = 0;
  i64 available_bytes = 0;               // free for those who are not root
  std::optional<i64> files, files_free;  // file systems without a fixed number of inodes do not tell
};

struct UsageAnswer {
  std::optional<bool> is_reachable;  // null: from here the mount cannot be seen
  std::optional<Usage> usage;
};

// Asks statfs() in the calling thread. `path` is where the mount is, seen from here; what is there may be
// another file system, as in a container, and then it is not told.
UsageAnswer ask_usage(const std::string& path, const Mount& mount);

class UsageAsker {
 public:
  using Ask = std::function<UsageAnswer(const std::string& path, const Mount& mount)>;

  // patience: for all remote mounts together.
  explicit UsageAsker(Ns patience, Ask ask = ask_usage) : patience_(patience), ask_(std::move(ask)) {}

  // The answers in the order of the mounts, which are found below `root`. Local ones are asked here: the
  // kernel answers for them from memory. Called by one thread at a time.
  std::vector<UsageAnswer> ask(const std::string& root, const std::vector<Mount>& mounts);

 private:
  struct Question;  // shared with the thread that asks

  Ns patience_;
  Ask ask_;
  std::map<std::string, std::shared_ptr<Question>> unanswered_;  // by path
};

}  // namespace spotter::collect
