#include "net/http/http_post.h"

#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/text/quantity.h"
#include "base/time.h"

namespace spotter::net {
namespace {

// Where distributions keep the certificates of all authorities; a program that is linked statically knows
// only where it was built. SSL_CERT_FILE counts first, as for OpenSSL.
constexpr const char* kBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL, Amazon Linux
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine, BSD
};

Result<std::string> system_authorities() {
  if (const char* named = std::getenv("SSL_CERT_FILE"); named && *named) return named;
  for (const char* path : kBundles) {
    if (access(path, R_OK) == 0) return path;
  }
  return fail(Code::not_found,
              "no certificates of authorities are installed on this system (ca-certificates)");
}

}  // namespace

HttpPost::HttpPost(HttpPostOptions options, std::shared_ptr<Tls> tls)
    : options_(std::move(options)),
      client_(loop_,
              {.socket = {},
               .host = options_.url.host,
               .port = options_.url.port,
               .connect_to = {},
               .is_plain = options_.url.is_plain,
               .proxy_host = options_.proxy ? options_.proxy->host : "",
               .proxy_port = options_.proxy ? options_.proxy->port : u16{0},
               .refuses_link_local = options_.refuses_link_local},
              std::move(tls)) {}

Result<std::unique_ptr<HttpPost>> HttpPost::open(HttpPostOptions options) {
  std::shared_ptr<Tls> tls;
  if (options.proxy && options.url.is_plain) return fail(Code::invalid, "a proxy is for https:// alone");
  if (options.proxy && !options.proxy->is_plain)
    return fail(Code::invalid, "the proxy has to be asked by http://");
  if (!options.url.is_plain) {
    if (options.tls.trusted.empty()) {
      TRY_ASSIGN(options.tls.trusted, system_authorities());
    }
    TRY_ASSIGN(tls, Tls::client(options.tls, options.takes_tls_1_2));
  }
  return std::unique_ptr<HttpPost>(new HttpPost(std::move(options), std::move(tls)));
}

Result<HttpAnswer> HttpPost::post(std::string body, const Headers& headers, const std::string& target) {
  HttpQuestion question{"POST", target.empty() ? options_.url.path : target, std::move(body), {}};
  question.most_answer = options_.most_answer;
  question.headers = headers;
  question.may_repeat = true;
  std::optional<Result<HttpAnswer>> answer;
  client_.ask(std::move(question), options_.patience, [&](Result<HttpAnswer> a) {
    answer = std::move(a);
    loop_.stop();
  });
  // Interrupted, a question stays on its way; its answer is never told, since the loop does not run again.
  if (!is_interrupted_) loop_.run();
  is_in_doubt_ = !answer || !*answer;
  if (!answer) return fail(Code::io, "interrupted");
  // Nobody listened there, or was trusted.
  if (!*answer && (answer->error().code == Code::not_found || answer->error().code == Code::denied))
    is_in_doubt_ = false;
  if (!*answer) answer->error().code = Code::io;
  return std::move(*answer);
}

void HttpPost::interrupt() {
  is_interrupted_ = true;
  loop_.stop();
}

Ns retry_after(const std::string& header, Ns unix_now) {
  if (const auto seconds = whole_number(header))
    return *seconds > INT64_MAX / kSecond ? INT64_MAX : *seconds * kSecond;
  tm date{};
  const char* end = strptime(header.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (header.empty() || !end || *end) return 0;
  return std::max<Ns>(static_cast<Ns>(timegm(&date)) * kSecond - unix_now, 0);
}

}  // namespace spotter::net
