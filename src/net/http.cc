#include "net/http.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <optional>

#include "net/acceptor.h"
#include "net/http_stream.h"
#include "net/sessions.h"

namespace spotter::net {
namespace {

constexpr mode_t kEverybodyMayConnect = 0666;  // what each may do is decided by who it is

void who_is(LocalStream& stream, HttpPeer& peer) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(stream.socket().native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return;
  peer.uid = credentials.uid;
  peer.pid = credentials.pid;
}

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

void who_is(TlsStream& stream, HttpPeer& peer) {
  error_code error;
  const tcp::endpoint end = beast::get_lowest_layer(stream).socket().remote_endpoint(error);
  const std::string address = end.address().to_string();
  peer.address = fmt::format("{}:{}", end.address().is_v6() ? "[" + address + "]" : address, end.port());
  const X509* certificate = SSL_get0_peer_certificate(stream.native_handle());
  if (certificate && SSL_get_verify_result(stream.native_handle()) == X509_V_OK)
    peer.certificate = common_name(certificate);
}

template <class Stream>
class Connection final : public Session, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  // `server` keeps what the references point to.
  template <class... A>
  Connection(const HttpServer::Handler& handler, const HttpServer::Refuse& refuse, Sessions& sessions,
             std::shared_ptr<const void> server, A&&... stream)
      : stream_(std::forward<A>(stream)...),
        handler_(handler),
        refuse_(refuse),
        sessions_(sessions),
        server_(std::move(server)) {}
  ~Connection() override { sessions_.remove(*this); }

  void close() override {
    error_code ignored;
    lowest().socket().close(ignored);
  }

  void begin() {
    if constexpr (kIsRemote) {
      lowest().expires_after(std::chrono::nanoseconds(HttpServer::kRequestTime));
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const error_code& error) {
                                if (error) return self->close();
                                if (!self->lowest().socket().is_open()) return;
                                who_is(self->stream_, self->peer_);
                                self->read();
                              });
    } else {
      who_is(stream_, peer_);
      read();
    }
  }

 private:
  static constexpr bool kIsRemote = std::is_same_v<Stream, TlsStream>;

  auto& lowest() { return beast::get_lowest_layer(stream_); }

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<u32>(HttpServer::kMostHead));
    parser_->body_limit(kIsRemote ? HttpServer::kMostRemoteBody : HttpServer::kMostBody);
    lowest().expires_after(std::chrono::nanoseconds(HttpServer::kRequestTime));
    http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](const error_code& error, size_t) { self->answer(error); });
  }

  void answer(const error_code& error) {
    // A read may be done when the connection is closed, and be told after: the server may be gone.
    if (!lowest().socket().is_open()) return;
    lowest().expires_never();
    const bool is_bad = error.category() == http::make_error_code(http::error::bad_method).category();
    if (error && (!is_bad || error == http::error::end_of_stream)) return close();
    keep_ = !error && parser_->get().keep_alive();
    if (error) return write(refuse_(Error{Code::invalid, "this is no HTTP request: " + error.message()}));
    HttpRequest request;
    request.method = std::string(parser_->get().method_string());
    request.target = std::string(parser_->get().target());
    request.authorization = std::string(parser_->get()[http::field::authorization]);
    request.body = std::move(parser_->get().body());
    request.peer = peer_;
    sessions_.is_served(*this);
    handler_(std::move(request),
             [self = this->shared_from_this()](HttpAnswer a) { self->write(std::move(a)); });
  }

  void write(HttpAnswer answer) {
    response_ = {};
    response_.version(kHttp11);
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(keep_);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    lowest().expires_after(std::chrono::nanoseconds(
        HttpServer::kRequestTime + static_cast<Ns>(response_.body().size()) * HttpServer::kTimePerByte));
    http::async_write(stream_, response_, [self = this->shared_from_this()](const error_code& error, size_t) {
      self->next(error);
    });
  }

  void next(const error_code& error) {
    if (!lowest().socket().is_open()) return;
    if (!error && keep_) {
      sessions_.waits_again(*this);
      return read();
    }
    error_code ignored;
    lowest().socket().shutdown(asio::socket_base::shutdown_both, ignored);
    lowest().expires_never();
  }

  Stream stream_;
  beast::flat_buffer buffer_{HttpServer::kMostHead + HttpServer::kMostBody};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  HttpPeer peer_;
  bool keep_ = false;  // the connection, for another request
  const HttpServer::Handler& handler_;
  const HttpServer::Refuse& refuse_;
  Sessions& sessions_;
  std::shared_ptr<const void> server_;
};

// How an attempt to connect ends.
error_code knock(const std::string& path) {
  asio::io_context context;
  Local::socket socket(context, Local());
  socket.non_blocking(true);  // the owner may be stopped and its queue full
  error_code error;
  socket.connect(Local::endpoint(path), error);
  return error;
}

}  // namespace

struct HttpServer::Body {
  Body(Handler h, Refuse r, size_t most_connections)
      : handler(std::move(h)), refuse(std::move(r)), sessions(most_connections) {}
  Handler handler;
  Refuse refuse;
  Sessions sessions;
  std::unique_ptr<Acceptor<Local>> local;
  std::string path;  // of `local`
  std::unique_ptr<Acceptor<tcp>> remote;
  std::shared_ptr<Tls> tls;

  template <class Stream, class... A>
  static void welcome(const std::shared_ptr<Body>& body, A&&... stream) {
    auto connection = std::make_shared<Connection<Stream>>(body->handler, body->refuse, body->sessions, body,
                                                           std::forward<A>(stream)...);
    body->sessions.add(connection);
    connection->begin();
  }
  // What makes room when there is none.
  static std::function<void()> no_room(const std::weak_ptr<Body>& weak) {
    return [weak] {
      if (const auto body = weak.lock()) body->sessions.close_oldest();
    };
  }
};

HttpServer::HttpServer(std::shared_ptr<Body> body) : body_(std::move(body)) {}
HttpServer::~HttpServer() {
  // First the file: once nobody listens to it another one may put his there.
  if (body_->local) unlink(body_->path.c_str());
  if (body_->local) body_->local->close();
  if (body_->remote) body_->remote->close();
  body_->sessions.close_all();
}
u16 HttpServer::port() const { return body_->remote ? body_->remote->endpoint().port() : u16{0}; }
size_t HttpServer::connections() const { return body_->sessions.size(); }
i64 HttpServer::closed_for_room() const { return body_->sessions.closed(); }

Result<std::unique_ptr<HttpServer>> HttpServer::open(Loop& loop, const std::string& path, Handler handler,
                                                     Refuse refuse) {
  if (path.empty() || path.size() > kMostPath)
    return fail(Code::invalid, "the socket {}: its path must have 1 to {} bytes", path, kMostPath);
  const error_code knocked = knock(path);
  if (!knocked || knocked == asio::error::no_buffer_space)
    return fail(Code::io, "the socket {} is taken{}", path, owner_of_unix(path));
  struct stat file;
  if (lstat(path.c_str(), &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) return fail(Code::io, "{} is there already and is no socket", path);
    if (knocked == asio::error::connection_refused) unlink(path.c_str());
  }
  auto body = std::make_shared<Body>(std::move(handler), std::move(refuse), kMostConnections);
  body->path = path;
  const std::weak_ptr<Body> weak(body);
  TRY_ASSIGN(body->local, Acceptor<Local>::open(
                              loop, Local::endpoint(path),
                              [weak](Local::socket socket) {
                                if (const auto strong = weak.lock())
                                  Body::welcome<LocalStream>(strong, std::move(socket));
                              },
                              Body::no_room(weak)));
  chmod(path.c_str(), kEverybodyMayConnect);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(body)));
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(Loop& loop, const std::string& address, u16 port,
                                                     std::shared_ptr<Tls> tls, Handler handler, Refuse refuse,
                                                     size_t most_connections) {
  error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) return fail(Code::invalid, "{} is no IP address", address);
  auto body = std::make_shared<Body>(std::move(handler), std::move(refuse), most_connections);
  body->tls = std::move(tls);
  const std::weak_ptr<Body> weak(body);
  TRY_ASSIGN(body->remote, Acceptor<tcp>::open(
                               loop, tcp::endpoint(ip, port),
                               [weak](tcp::socket socket) {
                                 const auto strong = weak.lock();
                                 if (!strong) return;
                                 error_code ignored;
                                 socket.set_option(tcp::no_delay(true), ignored);
                                 Body::welcome<TlsStream>(strong, std::move(socket), strong->tls->context());
                               },
                               Body::no_room(weak)));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(body)));
}

}  // namespace spotter::net
