// Queries: questions to what is on a disk: the history, incidents that were. A disk may be slow, so that each
// is read on a thread of its own, and a few at one time at most. Made and asked on the loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/shares.h"
#include "base/result.h"
#include "net/loop.h"
#include "table/table.h"

namespace spotter::agent {

// What a question is answered with; notes are in the tables.
using Tables = Result<std::vector<Table>>;

// Who asked: `make` is called where the tables were read, `done` on the loop's thread, once, after it.
struct Asker {
  std::string who;
  std::function<void(Tables)> make;
  std::function<void()> done;
};

// What `make` makes of the tables, any thread, goes to `done`.
template <class Make>
using Made = std::remove_cvref_t<std::invoke_result_t<Make, Tables>>;
template <class Make>
Asker asker(std::string who, Make make, std::function<void(Made<Make>)> done) {
  const auto made = std::make_shared<std::optional<Made<Make>>>();
  return {std::move(who),
          [made, make = std::move(make)](Tables tables) { made->emplace(make(std::move(tables))); },
          [made, done = std::move(done)] { done(std::move(**made)); }};
}

class Queries {
 public:
  using Read = std::function<Tables()>;

  explicit Queries(net::Loop& loop) : loop_(loop) {}

  // Answers at once, where there is no more room (busy), or later, but not after this has gone. Who asked is
  // known on the loop's thread alone, and is not told once it has gone.
  void ask(Read read, Asker asker);
  static void refuse(const Asker& asker, Error why);

 private:
  // What is done when a query under way has ended.
  struct Waiting {
    std::map<u64, std::function<void()>> done;
    Shares shares{3, "queries"};  // each may read the whole history
  };

  net::Loop& loop_;
  std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  u64 next_ = 0;
};

}  // namespace spotter::agent
