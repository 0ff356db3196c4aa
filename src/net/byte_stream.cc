#include "net/byte_stream.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace spotter::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;
using Error = ByteStream::Error;

std::string shown(const tcp::socket& socket) {
  Error ignored;
  const tcp::endpoint end = socket.remote_endpoint(ignored);
  const std::string address = end.address().to_string();
  return fmt::format("{}:{}", end.address().is_v6() ? "[" + address + "]" : address, end.port());
}

// Bytes as they are. What is under way keeps the stream it is about.
template <class Socket>
class BareStream : public ByteStream, public std::enable_shared_from_this<BareStream<Socket>> {
 public:
  explicit BareStream(Socket socket) : socket_(std::move(socket)) {}

  void read(asio::mutable_buffer into, Moved done) override {
    socket_.async_read_some(into, [self = this->shared_from_this(), done = std::move(done)](
                                      const Error& e, size_t n) { done(e, n); });
  }
  void write(const std::array<asio::const_buffer, 2>& all, Told done) override {
    asio::async_write(
        socket_, all,
        [self = this->shared_from_this(), done = std::move(done)](const Error& e, size_t) { done(e); });
  }
  void close() override {
    Error ignored;
    socket_.close(ignored);
  }
  bool is_open() const override { return socket_.is_open(); }

 protected:
  Socket socket_;
};

class LocalStream final : public BareStream<Local::socket> {
 public:
  explicit LocalStream(Local::socket socket, std::string path = {})
      : BareStream(std::move(socket)), path_(std::move(path)) {}

  void open(Told done) override {
    if (path_.empty()) return done({});
    socket_.async_connect(Local::endpoint(path_),
                          [self = shared_from_this(), done = std::move(done)](const Error& e) { done(e); });
  }
  StreamPeer peer() const override {
    StreamPeer peer;
    ucred credentials{};
    socklen_t length = sizeof credentials;
    const int descriptor = const_cast<Local::socket&>(socket_).native_handle();
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return peer;
    peer.uid = credentials.uid;
    peer.pid = credentials.pid;
    return peer;
  }

 private:
  std::string path_;  // to connect to
};

class TcpStream final : public BareStream<tcp::socket> {
 public:
  explicit TcpStream(tcp::socket socket, Endpoints endpoints = {})
      : BareStream(std::move(socket)), endpoints_(std::move(endpoints)) {}

  void open(Told done) override {
    if (endpoints_.empty()) return opened(done);
    asio::async_connect(
        socket_, endpoints_,
        [self = shared_from_this(), done = std::move(done)](const Error& error, const tcp::endpoint&) {
          if (error) return done(error);
          static_cast<TcpStream&>(*self).opened(done);
        });
  }
  StreamPeer peer() const override {
    StreamPeer peer;
    peer.address = shown(socket_);
    return peer;
  }

 private:
  void opened(const Told& done) {
    Error ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    done({});
  }

  Endpoints endpoints_;  // to connect to
};

// Empty unless there is just one.
std::string common_name(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return {};
  u8* text = nullptr;
  const int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (length < 0) return {};
  std::string name(reinterpret_cast<const char*>(text), static_cast<size_t>(length));
  OPENSSL_free(text);
  return name;
}

class TlsStream final : public ByteStream, public std::enable_shared_from_this<TlsStream> {
 public:
  TlsStream(tcp::socket socket, std::shared_ptr<Tls> tls, Endpoints endpoints = {}, std::string host = {},
            std::string tunnel = {})
      : tls_(std::move(tls)),
        stream_(std::move(socket), tls_->context()),
        endpoints_(std::move(endpoints)),
        host_(std::move(host)),
        tunnel_(std::move(tunnel)) {}

  void open(Told done) override {
    if (endpoints_.empty()) return shake_hands(asio::ssl::stream_base::server, std::move(done));
    stream_.set_verify_callback(asio::ssl::host_name_verification(host_));
    Error not_a_number;
    asio::ip::make_address(host_, not_a_number);
    if (not_a_number) SSL_set_tlsext_host_name(ssl(), host_.c_str());
    asio::async_connect(
        socket(), endpoints_,
        [self = shared_from_this(), done = std::move(done)](const Error& error, const tcp::endpoint&) {
          if (error) return done(error);
          if (!self->tunnel_.empty()) return self->ask_proxy(done);
          self->shake_hands(asio::ssl::stream_base::client, done);
        });
  }
  void read(asio::mutable_buffer into, Moved done) override {
    stream_.async_read_some(
        into, [self = shared_from_this(), done = std::move(done)](const Error& e, size_t n) { done(e, n); });
  }
  void write(const std::array<asio::const_buffer, 2>& all, Told done) override {
    asio::async_write(
        stream_, all,
        [self = shared_from_this(), done = std::move(done)](const Error& e, size_t) { done(e); });
  }
  void close() override {
    Error ignored;
    socket().close(ignored);
  }
  bool is_open() const override { return stream_.next_layer().is_open(); }
  StreamPeer peer() const override {
    StreamPeer peer;
    peer.address = shown(stream_.next_layer());
    const X509* certificate = SSL_get0_peer_certificate(ssl());
    if (certificate && SSL_get_verify_result(ssl()) == X509_V_OK) peer.certificate = common_name(certificate);
    return peer;
  }
  std::string distrust() const override {
    const long verified = SSL_get_verify_result(ssl());
    return verified == X509_V_OK ? std::string() : X509_verify_cert_error_string(verified);
  }
  std::string refusal() const override { return refusal_; }

 private:
  tcp::socket& socket() { return stream_.next_layer(); }
  SSL* ssl() const { return const_cast<asio::ssl::stream<tcp::socket>&>(stream_).native_handle(); }

  // Whoever is behind the proxy says nothing before the handshake, so that nothing follows its answer.
  void ask_proxy(Told done) {
    said_ = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", tunnel_);
    asio::async_write(socket(), asio::buffer(said_),
                      [self = shared_from_this(), done = std::move(done)](const Error& error, size_t) {
                        if (error) return done(error);
                        self->said_.clear();
                        self->hear_proxy(done);
                      });
  }
  void hear_proxy(Told done) {
    constexpr size_t kMostAnswer = 16384;
    asio::async_read_until(socket(), asio::dynamic_buffer(said_, kMostAnswer), "\r\n\r\n",
                           [self = shared_from_this(), done = std::move(done)](const Error& error, size_t) {
                             const std::string line = self->said_.substr(0, self->said_.find("\r\n"));
                             if (!error && line.starts_with("HTTP/1.") && line.substr(0, 10).ends_with(" 2"))
                               return self->shake_hands(asio::ssl::stream_base::client, done);
                             self->refusal_ = error ? "the proxy does not answer: " + error.message()
                                                    : "the proxy answers " + line.substr(line.find(' ') + 1);
                             done(error ? error : Error(asio::error::connection_reset));
                           });
  }

  void shake_hands(asio::ssl::stream_base::handshake_type side, Told done) {
    Error ignored;
    socket().set_option(tcp::no_delay(true), ignored);
    stream_.async_handshake(side,
                            [self = shared_from_this(), done = std::move(done)](const Error& e) { done(e); });
  }

  std::shared_ptr<Tls> tls_;
  asio::ssl::stream<tcp::socket> stream_;
  Endpoints endpoints_;  // to connect to, for `host_`
  std::string host_;
  std::string tunnel_, said_, refusal_;  // of a proxy
};

}  // namespace

std::shared_ptr<ByteStream> ByteStream::accepted(Local::socket socket) {
  return std::make_shared<LocalStream>(std::move(socket));
}
std::shared_ptr<ByteStream> ByteStream::accepted(tcp::socket socket) {
  return std::make_shared<TcpStream>(std::move(socket));
}
std::shared_ptr<ByteStream> ByteStream::accepted(tcp::socket socket, std::shared_ptr<Tls> tls) {
  return std::make_shared<TlsStream>(std::move(socket), std::move(tls));
}
std::shared_ptr<ByteStream> ByteStream::to(Loop& loop, const std::string& path) {
  return std::make_shared<LocalStream>(Local::socket(loop.context()), path);
}
std::shared_ptr<ByteStream> ByteStream::to(Loop& loop, Endpoints endpoints) {
  return std::make_shared<TcpStream>(tcp::socket(loop.context()), std::move(endpoints));
}
std::shared_ptr<ByteStream> ByteStream::to(Loop& loop, Endpoints endpoints, std::shared_ptr<Tls> tls,
                                           const std::string& host, const std::string& tunnel) {
  return std::make_shared<TlsStream>(tcp::socket(loop.context()), std::move(tls), std::move(endpoints), host,
                                     tunnel);
}

}  // namespace spotter::net
