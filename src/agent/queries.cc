#include "agent/queries.h"

#include <system_error>
#include <thread>

namespace spotter::agent {
void Queries::refuse(const Asker& asker, Error why) {
  asker.make(tl::unexpected(std::move(why)));
  asker.done();
}

void Queries::ask(Read read, Asker asker) {
  if (const auto taken = waiting_->shares.take(asker.who); !taken) return refuse(asker, taken.error());
  const u64 number = next_++;
  try {
    std::thread([read = std::move(read), make = asker.make, post = loop_.poster(), number, who = asker.who,
                 waiting = std::weak_ptr(waiting_)] {
      make(read());
      post([number, who, waiting] {
        const auto all = waiting.lock();
        if (!all) return;
        all->shares.give_back(who);
        all->done.extract(number).mapped()();
      });
    }).detach();
  } catch (const std::system_error&) {
    waiting_->shares.give_back(asker.who);
    return refuse(asker, {Code::busy, "no thread can be had; try again"});
  }
  waiting_->done.emplace(number, std::move(asker.done));
}

}  // namespace spotter::agent
