// The connections of a server, in the order in which they began to wait. Of too many, the one that has waited
// longest goes: whoever opens thousands of connections and says nothing takes the place of his own.
#pragma once
#include <list>
#include <memory>

#include "base/types.h"

namespace spotter::net {

class Session {
 public:
  virtual ~Session() = default;
  virtual void close() = 0;

 private:
  friend class Sessions;
  std::list<std::weak_ptr<Session>>::iterator place_;
  bool is_listed_ = false;
};

class Sessions {
 public:
  explicit Sessions(size_t most) : most_(most) {}

  void add(const std::shared_ptr<Session>& session) {
    if (list_.size() >= most_) close_oldest();
    session->place_ = list_.insert(list_.end(), session);
    session->is_listed_ = true;
  }
  // A listed one has been served and begins to wait anew.
  void waits_again(Session& session) {
    if (session.is_listed_) list_.splice(list_.end(), list_, session.place_);
  }
  // At the end of a session.
  void remove(Session& session) {
    if (session.is_listed_) list_.erase(session.place_);
    session.is_listed_ = false;
  }
  void close_oldest() {
    if (list_.empty()) return;
    const std::shared_ptr<Session> oldest = list_.front().lock();
    if (!oldest) return;  // it is removing itself
    // It may live on until an answer for it is ready; its place is free at once.
    remove(*oldest);
    oldest->close();
    ++closed_;
  }
  void close_all() {
    const std::list<std::weak_ptr<Session>> all = list_;
    for (const std::weak_ptr<Session>& weak : all)
      if (const std::shared_ptr<Session> session = weak.lock()) session->close();
  }
  size_t size() const { return list_.size(); }
  i64 closed() const { return closed_; }  // to make room

 private:
  size_t most_;
  std::list<std::weak_ptr<Session>> list_;
  i64 closed_ = 0;
};

}  // namespace spotter::net
