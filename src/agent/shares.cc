#include "agent/shares.h"

#include "base/text/utf8.h"

namespace spotter::agent {

Result<void> Shares::take(const std::string& who) {
  if (taken_ >= most_)
    return fail(Code::busy, "{} {} run on this host already; ask again later", taken_, things_);
  const auto own = of_.find(who);
  if (own != of_.end() && taken_ + 1 >= most_)
    return fail(
        Code::busy,
        "{} of the {} {} that may run on this host at one time are of {}, and the last is for somebody else; ask "
        "again later",
        own->second, most_, things_, to_printable(who));
  ++of_[who];
  ++taken_;
  return {};
}

void Shares::give_back(const std::string& who) {
  const auto own = of_.find(who);
  CHECK(own != of_.end());
  if (--own->second == 0) of_.erase(own);
  --taken_;
}

}  // namespace spotter::agent
