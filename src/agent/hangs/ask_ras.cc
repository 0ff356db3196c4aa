#include "agent/hangs/ask_ras.h"

#include <algorithm>

#include "base/time.h"
#include "net/address.h"
#include "process/process_facts.h"

namespace spotter::agent {
namespace {

constexpr u16 kUsualPort = 28028;
constexpr Ns kShortestPause = 10 * kSecond;
constexpr i64 kPauses = 20;

}  // namespace

std::string ras_address_of(const Host& host, i64 pid) {
  const auto facts = process::read_process_briefly(host, pid);
  if (!facts) return kUsualRasAddress;
  const auto said = facts->environment.find("NCCL_RAS_ADDR");
  return said == facts->environment.end() ? kUsualRasAddress : said->second;
}

bool AskRas::may_ask(Ns now) const { return !is_asking_ && now >= next_; }

Result<void> AskRas::ask(const std::string& address, i64 uid, Done done) {
  TRY_ASSIGN(const net::HttpAddress parsed, net::parse_address(address, kUsualPort));
  const Ns now = loop_.now();
  if (!may_ask(now)) return fail(Code::busy, "NCCL has been asked lately");
  is_asking_ = true;
  began_ = now;
  const size_t line = wire::kRasQuestion.find('\n') + 1;
  net::LoopbackText text{.host = parsed.host,
                         .port = parsed.port,
                         .first = std::string(wire::kRasQuestion.substr(0, line)),
                         .then = std::string(wire::kRasQuestion.substr(line)),
                         .uid = uid};
  question_.ask(std::move(text), [this, done = std::move(done)](const Result<std::string>& said) {
    is_asking_ = false;
    const Ns ended = loop_.now();
    next_ = ended + std::max(kShortestPause, kPauses * (ended - began_));
    if (!said) return done(tl::unexpected(said.error()));
    done(wire::read_ras_answer(*said));
  });
  return {};
}

}  // namespace spotter::agent
