// HTTP/1.1 as the agent's API speaks it, over a UNIX socket: a request with a small body, an answer of JSON.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/types.h"
#include "net/loop.h"

namespace spotter::net {

struct HttpRequest {
  std::string method, target, body;  // target: path and query
  i64 peer_uid = -1, peer_pid = 0;   // as the kernel knows them
};

struct HttpAnswer {
  int status = 200;
  std::string body;
};

class HttpServer {
 public:
  static constexpr Ns kRequestTime = 5'000'000'000;
  static constexpr size_t kMostHead = size_t{16} << 10, kMostBody = size_t{1} << 20;
  static constexpr size_t kMostConnections = 512;

  // May answer at once or later, on the loop's thread, and has to, once. One request per connection.
  using Respond = std::function<void(HttpAnswer)>;
  using Handler = std::function<void(HttpRequest, Respond)>;
  // The answer to what is no request.
  using Refuse = std::function<HttpAnswer(const Error&)>;

  // A socket file that nobody listens to is replaced; everybody may connect. Errors: denied, io; where the
  // name is taken, with who has it.
  static Result<std::unique_ptr<HttpServer>> open(Loop& loop, const std::string& path, Handler handler,
                                                  Refuse refuse);
  ~HttpServer();  // removes the file
  size_t connections() const;
  i64 closed_for_room() const;  // connections that had to go for newer ones

 private:
  struct Body;
  explicit HttpServer(std::shared_ptr<Body> body);
  std::shared_ptr<Body> body_;
};

// Asks and waits for the answer, `patience` at most. Errors: invalid (no path of a socket), not_found (nobody
// listens there), denied, io.
Result<HttpAnswer> http_ask(const std::string& socket_path, const std::string& method,
                            const std::string& target, const std::string& body, Ns patience);

}  // namespace spotter::net
