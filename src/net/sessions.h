// The connections of a server: those from which a request is awaited and those that await an answer, in the
// order in which they began to. Of too many, the oldest goes that is of whoever has most in the larger group:
// who opens thousands of connections takes the place of his own.
#pragma once
#include <malloc.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"

namespace spotter::net {

class Session {
 public:
  virtual ~Session() = default;
  virtual void close() = 0;

 private:
  friend class Sessions;
  std::list<std::weak_ptr<Session>>::iterator place_;
  bool is_listed_ = false, is_served_ = false;
  std::string peer_;  // whose it is, where that is known
};

class Sessions {
 public:
  explicit Sessions(size_t most) : most_(most) {}

  void add(const std::shared_ptr<Session>& session) {
    if (size() >= most_) close_oldest();
    session->place_ = asking_.insert(asking_.end(), session);
    session->is_listed_ = true;
    peak_ = std::max(peak_, size());
  }
  void is_of(Session& session, std::string peer) { session.peer_ = std::move(peer); }
  // A request has come; its answer may take long.
  void is_served(Session& session) { move(session, true); }
  // It has been answered.
  void waits_again(Session& session) { move(session, false); }
  // At the end of a session.
  void remove(Session& session) {
    if (session.is_listed_) group(session.is_served_).erase(session.place_);
    session.is_listed_ = false;
    give_back_memory();
  }
  // For its bytes.
  void close(const std::shared_ptr<Session>& session) {
    remove(*session);
    session->close();
    ++closed_;
  }
  void close_oldest() {
    if (size() == 0) return;
    const std::shared_ptr<Session> oldest = oldest_of_most(group(served_.size() > asking_.size()));
    if (!oldest) return;  // it is removing itself
    // It may live on until an answer for it is ready; its place is free at once.
    close(oldest);
  }
  void close_all() {
    Group all = asking_;
    all.insert(all.end(), served_.begin(), served_.end());
    for (const std::weak_ptr<Session>& weak : all)
      if (const std::shared_ptr<Session> session = weak.lock()) session->close();
  }
  size_t size() const { return asking_.size() + served_.size(); }
  i64 closed() const { return closed_; }  // to make room

 private:
  using Group = std::list<std::weak_ptr<Session>>;
  Group& group(bool is_served) { return is_served ? served_ : asking_; }
  static std::shared_ptr<Session> oldest_of_most(const Group& group) {
    std::map<std::string_view, size_t> counts;
    size_t most = 0;
    std::vector<std::shared_ptr<Session>> all;
    for (const std::weak_ptr<Session>& weak : group) {
      const std::shared_ptr<Session> session = weak.lock();
      if (!session) continue;
      most = std::max(most, ++counts[session->peer_]);
      all.push_back(session);
    }
    const auto oldest = std::ranges::find_if(all, [&](const auto& s) { return counts[s->peer_] == most; });
    return oldest == all.end() ? nullptr : *oldest;
  }
  void move(Session& session, bool is_served) {
    if (!session.is_listed_) return;
    Group& to = group(is_served);
    to.splice(to.end(), group(session.is_served_), session.place_);
    session.is_served_ = is_served;
  }

  // What a crowd has left is in pieces, and would stay with the process.
  void give_back_memory() {
    constexpr size_t kCrowd = 32;
    if (peak_ < kCrowd || size() > peak_ / 4) return;
    peak_ = size();
    malloc_trim(0);
  }

  size_t most_, peak_ = 0;
  Group asking_, served_;
  i64 closed_ = 0;
};

}  // namespace spotter::net
