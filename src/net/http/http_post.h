// HttpPost: questions to one server, for a thread that waits for each answer. The connection is kept from one
// question to the next. Redirections are not followed: what is in the headers is for one server.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http/http_client.h"
#include "net/http/url.h"
#include "net/loop.h"

namespace spotter::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpPostOptions {
  Url url;
  // Files for https. Without `trusted` the system's authorities are trusted.
  TlsFiles tls = {};
  Ns patience = 10'000'000'000;  // for the whole of a question
  size_t most_answer = size_t{1} << 20;
  // For servers that somebody else runs.
  bool takes_tls_1_2 = false;
  bool refuses_link_local = false;
  std::optional<Url> proxy = {};  // "http://host:port", for https
};

class HttpPost {
 public:
  // Errors: invalid (a file of TLS), not_found (no authorities on this system).
  static Result<std::unique_ptr<HttpPost>> open(HttpPostOptions options);

  // The question may be asked twice where a connection breaks. Errors: io, whatever kept it from arriving, or
  // the answer.
  // `target`: instead of the URL's path.
  Result<HttpAnswer> post(std::string body, const Headers& headers, const std::string& target = {});
  // Whether the last question may have reached it all the same, after an error.
  bool is_in_doubt() const { return is_in_doubt_; }
  void interrupt();  // any thread: post() ends soon, and all later ones at once

 private:
  HttpPost(HttpPostOptions options, std::shared_ptr<Tls> tls);

  HttpPostOptions options_;
  std::atomic<bool> is_interrupted_ = false;
  bool is_in_doubt_ = false;
  Loop loop_;
  HttpClient client_;
};

// How long the header Retry-After asks to wait: seconds, or a date. 0: it does not say.
Ns retry_after(const std::string& header, Ns unix_now);

}  // namespace spotter::net
