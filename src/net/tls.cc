#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>

namespace spotter::net {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// `load` tells by an error_code; the file is named, since OpenSSL's words do not.
template <class F>
Result<void> load(const char* what, const std::string& path, F act) {
  error_code error;
  act(error);
  if (!error) return {};
  ERR_clear_error();
  return fail(Code::invalid, "the {} {} cannot be used: {}", what, path, error.message());
}

Result<void> load_all(ssl::context& context, const TlsFiles& files) {
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION);
  // The quickest first: processors have instructions for both of its parts.
  SSL_CTX_set_ciphersuites(context.native_handle(),
                           "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  // A connection that says nothing holds no buffers, and none can be taken up again: nothing is kept of it.
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.native_handle(), 0);
  if (!files.trusted.empty())
    TRY(load("certificate of an authority", files.trusted,
             [&](error_code& e) { context.load_verify_file(files.trusted, e); }));
  if (files.certificate.empty()) return {};
  TRY(load("certificate", files.certificate,
           [&](error_code& e) { context.use_certificate_chain_file(files.certificate, e); }));
  return load("key", files.key,
              [&](error_code& e) { context.use_private_key_file(files.key, ssl::context::pem, e); });
}

}  // namespace

Tls::Tls() : context_(std::make_unique<ssl::context>(ssl::context::tls)) {}
Tls::~Tls() = default;

Result<std::shared_ptr<Tls>> Tls::server(const TlsFiles& files) {
  std::shared_ptr<Tls> tls(new Tls);
  TRY(load_all(*tls->context_, files));
  if (!files.trusted.empty()) tls->context_->set_verify_mode(ssl::verify_peer);
  return tls;
}

Result<std::shared_ptr<Tls>> Tls::client(const TlsFiles& files, bool takes_1_2) {
  std::shared_ptr<Tls> tls(new Tls);
  TRY(load_all(*tls->context_, files));
  if (takes_1_2) {
    SSL_CTX_set_min_proto_version(tls->context_->native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(tls->context_->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  }
  tls->context_->set_verify_mode(ssl::verify_peer);
  return tls;
}

}  // namespace spotter::net
