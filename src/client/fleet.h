// One capture on many hosts, asked all at once from one thread: each host's agent begins it, is followed
// until all its receipts are final, and what it says becomes part of one table. A host that is dead, stuck or
// lost on the way costs the others nothing; its rows say why.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/credentials.h"
#include "net/http/http_client.h"
#include "net/loop.h"
#include "table/table.h"
#include "wire/capture_request.h"

namespace spotter::client {

class Fleet {
 public:
  struct Member {
    net::HttpAddress address;
    bool has_answered = false;  // to the request: yes or no, or its time is over
    bool is_over = false;       // nothing more will come
    bool matches_none = false;  // its agent works, and no process there is meant
    std::optional<Error> error;
    Answer answer;           // the last one
    i64 clock_ahead_ms = 0;  // of this host's, as far as that is certain
  };

  Fleet(net::Loop& loop, std::vector<net::HttpAddress> hosts, const Credentials& credentials);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Once. `changed` is called on the loop after each piece of news.
  void begin(const wire::CaptureRequest& wish, std::function<void()> changed);
  void end();      // takes back what has begun; the receipts then become final
  void give_up();  // is over at once, whatever is open

  const std::vector<Member>& members() const { return members_; }
  bool has_begun() const { return waiting_ == 0; }  // every member has answered
  bool is_over() const { return open_ == 0; }
  Table receipts() const;  // of all, with a row for a host that could not be asked

 private:
  struct Way;
  void ask(size_t i, std::string method, std::string target, std::string body, Ns patience);
  void take(size_t i, Result<net::HttpAnswer> http);
  void follow(size_t i);
  void lose(size_t i, Error error);
  void finish(size_t i);

  net::Loop& loop_;
  Credentials credentials_;
  std::vector<Member> members_;
  std::vector<std::unique_ptr<Way>> ways_;  // to the members
  std::function<void()> changed_;
  size_t waiting_ = 0, open_ = 0;  // members that have not answered; that are not over
  bool is_ending_ = false;
};

}  // namespace spotter::client
