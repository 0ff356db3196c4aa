#include "agent/history_queries.h"

#include <system_error>
#include <thread>

namespace spotter::agent {
namespace {

constexpr Ns kCatchUp = 1'000'000'000;

}  // namespace

void HistoryQueries::ask(const HistoryWriter* writer, const std::string& why_none, Read read, Asker asker) {
  const auto refuse = [&asker](const tl::unexpected<Error>& why) {
    asker.make(why);
    asker.done();
  };
  if (!writer) return refuse(fail(Code::not_found, "{}", why_none));
  const auto history = writer->history();
  if (!history) return refuse(tl::unexpected(history.error()));
  if (const auto taken = waiting_->shares.take(asker.who); !taken)
    return refuse(tl::unexpected(taken.error()));
  const u64 number = next_++;
  try {
    std::thread([history = *history, catch_up = writer->catch_up(), read = std::move(read), make = asker.make,
                 post = loop_.poster(), number, who = asker.who, waiting = std::weak_ptr(waiting_)] {
      catch_up(kCatchUp);
      make(read(*history));
      post([number, who, waiting] {
        const auto all = waiting.lock();
        if (!all) return;
        all->shares.give_back(who);
        all->done.extract(number).mapped()();
      });
    }).detach();
  } catch (const std::system_error&) {
    waiting_->shares.give_back(asker.who);
    return refuse(fail(Code::busy, "no thread can be had; try again"));
  }
  waiting_->done.emplace(number, std::move(asker.done));
}

}  // namespace spotter::agent
