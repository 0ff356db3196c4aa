#include "notify/endpoint.h"

#include "base/text/quantity.h"
#include "base/version.h"
#include "notify/secret.h"

namespace spotter::notify {
namespace {

std::string text_of(const Settings& settings, const char* key) {
  const auto it = settings.find(key);
  return it == settings.end() ? std::string() : it->second;
}

}  // namespace

Result<std::unique_ptr<Endpoint>> Endpoint::at(const std::string& text, bool is_secret,
                                               const Settings& settings, const std::string& target) {
  auto url = net::parse_url(text);
  // What it is instead may be a secret.
  if (!url)
    return fail(Code::invalid, "{} has no URL such as https://example.org/path",
                is_secret ? "url_file" : "url");
  if (!target.empty() && !url->path.ends_with(target)) {
    while (url->path.ends_with('/')) url->path.pop_back();
    url->path += target;
  }
  net::HttpPostOptions options;
  options.url = *url;
  options.takes_tls_1_2 = true;
  options.refuses_link_local = true;
  options.tls.trusted = text_of(settings, "ca");
  if (const std::string proxy = text_of(settings, "proxy"); !proxy.empty()) {
    TRY_ASSIGN(options.proxy, net::parse_url(proxy));
  }
  constexpr Ns kUsual = 15 * kSecond;
  options.patience = parse_duration_ns(text_of(settings, "timeout")).value_or(kUsual);
  TRY_ASSIGN(std::unique_ptr<net::HttpPost> post, net::HttpPost::open(std::move(options)));
  std::unique_ptr<Endpoint> endpoint(new Endpoint(std::move(*url), std::move(post)));
  endpoint->keep_secret(text);
  if (is_secret && endpoint->url_.path != "/") endpoint->keep_secret(endpoint->url_.path);
  return endpoint;
}

Result<std::unique_ptr<Endpoint>> Endpoint::open(const Settings& settings, const std::string& fallback,
                                                 const std::string& target) {
  const std::string said = text_of(settings, "url"), file = text_of(settings, "url_file");
  if (!said.empty() && !file.empty()) return fail(Code::invalid, "it has both url and url_file");
  if (!file.empty()) {
    TRY_ASSIGN(const std::string url, read_secret(file));
    return at(url, true, settings, target);
  }
  if (said.empty() && fallback.empty()) return fail(Code::invalid, "it has neither url nor url_file");
  return at(said.empty() ? fallback : said, false, settings, target);
}

Result<net::HttpAnswer> Endpoint::post(std::string body, net::Headers headers, const std::string& target) {
  headers.emplace_back("user-agent", std::string("spotter/") + kVersion);
  return post_->post(std::move(body), headers, target);
}

std::string Endpoint::shown() const {
  const std::string host = url_.host.find(':') == url_.host.npos ? url_.host : "[" + url_.host + "]";
  return fmt::format("{}://{}", url_.is_plain ? "http" : "https", host);
}

std::string Endpoint::said(const std::string& words) const { return without_secrets(words, secrets_); }

Outcome Endpoint::outcome_of(const Result<net::HttpAnswer>& answer, Ns now) const {
  using Kind = Outcome::Kind;
  constexpr int kBusy = 429, kRequestTimeout = 408;
  if (!answer) {
    Outcome outcome{Kind::again, said(answer.error().message)};
    outcome.in_doubt = post_->is_in_doubt();
    return outcome;
  }
  const int status = answer->status;
  if (status >= 200 && status < 300) return {};
  const std::string words = said(answer->body);
  const std::string says = fmt::format("{}: {}{}{}", shown(), status, words.empty() ? "" : ": ", words);
  if (status == kBusy || status == kRequestTimeout || status >= 500)
    return {Kind::again, says, net::retry_after(answer->retry_after, now)};
  if (status >= 300 && status < 400) return {Kind::for_good, says + " (it says to go elsewhere)"};
  return {Kind::for_good, says};
}

}  // namespace spotter::notify
