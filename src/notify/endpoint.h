// Endpoint: a receiver that is told by HTTP, as all kinds of them need it: by TLS 1.2 or later, by a proxy
// where one is named, never at an address of the machine's own link, without following anybody elsewhere.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "net/http/http_post.h"
#include "notify/notifier.h"

namespace spotter::notify {

class Endpoint {
 public:
  // `fallback`: the URL where none is named; empty: one has to be. `target` is added to the URL's path,
  // unless it ends so. Errors: invalid, denied (a file of a secret that others may read), not_found, io.
  static Result<std::unique_ptr<Endpoint>> open(const Settings& settings, const std::string& fallback = {},
                                                const std::string& target = {});
  // The same of one URL.
  static Result<std::unique_ptr<Endpoint>> at(const std::string& url, bool is_secret,
                                              const Settings& settings, const std::string& target = {});

  // Not to be in what is said of an answer.
  void keep_secret(std::string secret) { secrets_.push_back(std::move(secret)); }

  Result<net::HttpAnswer> post(std::string body, net::Headers headers, const std::string& target = {});
  // What became of it by HTTP's rules: 2xx done; 429, 5xx or no answer: again; else for good.
  Outcome outcome_of(const Result<net::HttpAnswer>& answer, Ns now) const;
  // The beginning of a sentence: "https://hooks.slack.com".
  std::string shown() const;
  std::string said(const std::string& words) const;  // by the receiver, without secrets
  const net::Url& url() const { return url_; }
  void interrupt() { post_->interrupt(); }

 private:
  Endpoint(net::Url url, std::unique_ptr<net::HttpPost> post)
      : url_(std::move(url)), post_(std::move(post)) {}

  net::Url url_;
  std::unique_ptr<net::HttpPost> post_;
  std::vector<std::string> secrets_;
};

}  // namespace spotter::notify
