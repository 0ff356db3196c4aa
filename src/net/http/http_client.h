// The other end of http.h: questions to one server, one at a time.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/http/http.h"

namespace spotter::net {

// A UNIX socket, or a port of a host by TLS or, where that is said, by plain TCP.
struct HttpAddress {
  std::string socket;  // path; empty: host
  std::string host;    // a name or an IP address, which the server's certificate has to have
  u16 port = 0;
  std::string connect_to;  // where it is, if not at `host`
  bool is_plain = false;   // TCP without TLS
  // Whether nobody named the socket: then whoever listens there has to be root, this user, or the user whose
  // folder it is in, where that was made by somebody who could (net/listener_check.h).
  bool is_usual_socket = false;
  // A proxy by which it is reached (CONNECT), where there is TLS to speak behind it; empty: none.
  std::string proxy_host = {};
  u16 proxy_port = 0;
  // Whether it must not be at an address of this link, where clouds tell their machines secrets.
  bool refuses_link_local = false;
  std::string shown() const;
};

struct HttpQuestion {
  std::string method, target, body;
  std::string authorization;              // header; empty: none
  size_t most_answer = size_t{32} << 20;  // bytes; who answers may be broken, or mean harm
  std::vector<std::pair<std::string, std::string>> headers = {};  // more of them; neither may have a line end
  bool may_repeat = false;  // twice does no more than once: see ask(). GET always may
};

class HttpClient {
 public:
  // `tls` is for a host that is not plain.
  HttpClient(Loop& loop, HttpAddress address, std::shared_ptr<Tls> tls);
  ~HttpClient();  // whoever waits for an answer is not told
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Connects if it is not connected, and waits `patience` at most for all. Not before the last question is
  // answered. A connection that was kept from the last question may have been closed since: then it asks
  // again on a new one, if the question may be repeated. Errors: invalid (no path of a socket), not_found
  // (nobody listens there, or there is no such host), denied (of a socket, or by TLS), io; with the address.
  using Done = std::function<void(Result<HttpAnswer>)>;
  void ask(HttpQuestion question, Ns patience, Done done);

 private:
  struct Body;
  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
