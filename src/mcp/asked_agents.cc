#include "mcp/asked_agents.h"

#include "base/system/host.h"
#include "client/client.h"

namespace spotter::mcp {

constexpr Ns kSilence = 10 * kSecond;

AskedAgents::AskedAgents(std::vector<net::HttpAddress> addresses, client::Credentials credentials,
                         std::string options)
    : addresses_(std::move(addresses)),
      credentials_(std::move(credentials)),
      options_(std::move(options)),
      silent_until_(addresses_.size()) {
  for (const net::HttpAddress& address : addresses_)
    names_.push_back(address.socket.empty() ? address.host : host_name());
}

std::vector<Result<net::HttpAnswer>> AskedAgents::ask(std::span<const size_t> which,
                                                      std::span<const net::HttpQuestion> questions,
                                                      Ns longest, const Patience& patience) const {
  std::vector<Result<net::HttpAnswer>> answers(
      which.size(), fail(Code::io, "it did not answer a moment ago, and is not asked again yet"));
  std::vector<net::HttpAddress> addresses;
  std::vector<net::HttpQuestion> asked;
  std::vector<size_t> places;  // among `which`
  const Ns begun = steady_clock_now();
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < which.size(); ++i) {
      if (silent_until_[which[i]] > begun) continue;
      addresses.push_back(addresses_[which[i]]);
      asked.push_back(questions[i]);
      places.push_back(i);
    }
  }
  auto all = client::ask_each(addresses, credentials_, asked, longest, patience.cancelled);
  const Ns ended = steady_clock_now();
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_silent = !all[i] && all[i].error().code == Code::io && ended - begun >= longest;
    if (is_silent) silent_until_[which[places[i]]] = ended + kSilence;
    answers[places[i]] = std::move(all[i]);
  }
  return answers;
}

}  // namespace spotter::mcp
