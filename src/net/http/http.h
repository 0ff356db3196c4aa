// HTTP/1.1 as the agent's doors speak it: requests with a small body, answers mostly of JSON, one after the
// other on a connection for as long as both sides like.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/types.h"
#include "net/loop.h"
#include "net/stream_peer.h"
#include "net/tls.h"

namespace spotter::net {

struct HttpRequest {
  std::string method, target, body;  // target: path and query
  // The headers of these names.
  std::string authorization, accept, accept_encoding, content_type, host, origin, if_none_match,
      sec_fetch_site;
  std::vector<std::pair<std::string, std::string>> mcp = {};  // headers Mcp-*, their names in lower case
  StreamPeer peer;
  // `act` is called, once and on the loop's thread, if the one who asks goes before the answer is begun: for
  // answers that take long. Who has said that he sends no more (a half-closed connection) counts as gone,
  // and is answered all the same. Empty in requests that came by no connection.
  std::function<void(std::function<void()> act)> when_gone = {};
};

struct HttpAnswer {
  int status = 200;
  std::string body;
  std::string content_type = {};      // empty: application/json
  std::string content_encoding = {};  // empty: none
  std::string retry_after = {};       // of one that came: how long to wait, as the header says
  std::vector<std::pair<std::string, std::string>> headers = {};  // more of one that goes, without line ends
};

class HttpServer {
 public:
  static constexpr Ns kRequestTime = 5 * kSecond;  // from the last answer, if there was one
  static constexpr Ns kTimePerByte = 1000;         // more for an answer: 1 MB/s is slow
  static constexpr size_t kMostHead = size_t{16} << 10, kMostBody = size_t{1} << 20;
  static constexpr size_t kMostRemoteBody = size_t{64} << 10;  // of who is not trusted (trust())
  static constexpr size_t kMostConnections = 512;

  // May answer at once or later, on the loop's thread, and has to, once.
  using Respond = std::function<void(HttpAnswer)>;
  using Handler = std::function<void(HttpRequest, Respond)>;
  // Whether the one whose request has this head may send a body of kMostBody by a port, too.
  using Trusts = std::function<bool(const HttpRequest& head)>;
  // The answer to what is no request.
  using Refuse = std::function<HttpAnswer(const Error&)>;

  // A UNIX socket. A socket file that nobody listens to is replaced; everybody may connect. Errors: denied,
  // io; where the name is taken, with who has it.
  static Result<std::unique_ptr<HttpServer>> open(Loop& loop, const std::string& path, Handler handler,
                                                  Refuse refuse);
  // TLS on a port of an IP address; 0: any free one. Errors: invalid (no address), io.
  static Result<std::unique_ptr<HttpServer>> open(Loop& loop, const std::string& address, u16 port,
                                                  std::shared_ptr<Tls> tls, Handler handler, Refuse refuse,
                                                  size_t most_connections = kMostConnections);
  // The same without TLS: nobody knows who asks, and others may listen in. Beyond loopback not for what is
  // secret, nor for what changes anything.
  static Result<std::unique_ptr<HttpServer>> open_plain(Loop& loop, const std::string& address, u16 port,
                                                        Handler handler, Refuse refuse,
                                                        size_t most_connections = kMostConnections);
  ~HttpServer();              // removes the file
  void trust(Trusts trusts);  // who connects from now on
  u16 port() const;
  size_t connections() const;
  i64 closed_for_room() const;  // connections that had to go for newer ones

 private:
  struct Body;
  explicit HttpServer(std::shared_ptr<Body> body);
  static Result<std::unique_ptr<HttpServer>> open_port(Loop& loop, const std::string& address, u16 port,
                                                       std::shared_ptr<Body> body);
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
