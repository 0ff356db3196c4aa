#include "net/http.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <optional>

#include "net/acceptor.h"
#include "net/sessions.h"

namespace spotter::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Local = asio::local::stream_protocol;
using boost::system::error_code;

constexpr unsigned kHttp11 = 11;
constexpr size_t kMostPath = 107;  // of a UNIX address
constexpr size_t kMostAnswer = size_t{256} << 20;
constexpr mode_t kEverybodyMayConnect = 0666;  // what each may do is decided by who it is

class Connection final : public Session, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Local::socket socket, const HttpServer::Handler& handler, const HttpServer::Refuse& refuse,
             Sessions& sessions,
             std::shared_ptr<const void> server)  // `server` keeps what the references point to
      : stream_(std::move(socket)),
        handler_(handler),
        refuse_(refuse),
        sessions_(sessions),
        server_(std::move(server)) {}
  ~Connection() override { sessions_.remove(*this); }

  void close() override {
    error_code ignored;
    stream_.socket().close(ignored);
  }

  void read() {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (getsockopt(stream_.socket().native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0) {
      request_.peer_uid = peer.uid;
      request_.peer_pid = peer.pid;
    }
    parser_.header_limit(static_cast<u32>(HttpServer::kMostHead));
    parser_.body_limit(HttpServer::kMostBody);
    stream_.expires_after(std::chrono::nanoseconds(HttpServer::kRequestTime));
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](const error_code& error, size_t) { self->answer(error); });
  }

 private:
  void answer(const error_code& error) {
    // A read may be done when the connection is closed, and be told after: the server may be gone.
    if (!stream_.socket().is_open()) return;
    stream_.expires_never();
    if (error == http::error::end_of_stream || error == beast::error::timeout ||
        error == asio::error::operation_aborted)
      return;
    if (error) return write(refuse_(Error{Code::invalid, "this is no HTTP request: " + error.message()}));
    request_.method = std::string(parser_.get().method_string());
    request_.target = std::string(parser_.get().target());
    request_.body = std::move(parser_.get().body());
    handler_(std::move(request_), [self = shared_from_this()](HttpAnswer a) { self->write(std::move(a)); });
  }

  void write(HttpAnswer answer) {
    response_.version(kHttp11);
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(false);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(std::chrono::nanoseconds(HttpServer::kRequestTime));
    http::async_write(stream_, response_, [self = shared_from_this()](const error_code&, size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(Local::socket::shutdown_both, ignored);
    });
  }

  beast::basic_stream<Local> stream_;
  beast::flat_buffer buffer_{HttpServer::kMostHead + HttpServer::kMostBody};
  http::request_parser<http::string_body> parser_;
  http::response<http::string_body> response_;
  HttpRequest request_;
  const HttpServer::Handler& handler_;
  const HttpServer::Refuse& refuse_;
  Sessions& sessions_;
  std::shared_ptr<const void> server_;
};

// How an attempt to connect ends.
error_code knock(const std::string& path) {
  asio::io_context context;
  Local::socket socket(context);
  error_code error;
  socket.connect(Local::endpoint(path), error);
  return error;
}

}  // namespace

struct HttpServer::Body {
  Handler handler;
  Refuse refuse;
  Sessions sessions{kMostConnections};
  std::unique_ptr<Acceptor<Local>> acceptor;
  std::string path;
};

HttpServer::HttpServer(std::shared_ptr<Body> body) : body_(std::move(body)) {}
HttpServer::~HttpServer() {
  // First the file: once nobody listens to it another one may put his there.
  unlink(body_->path.c_str());
  body_->acceptor->close();
  body_->sessions.close_all();
}
size_t HttpServer::connections() const { return body_->sessions.size(); }
i64 HttpServer::closed_for_room() const { return body_->sessions.closed(); }

Result<std::unique_ptr<HttpServer>> HttpServer::open(Loop& loop, const std::string& path, Handler handler,
                                                     Refuse refuse) {
  if (path.empty() || path.size() > kMostPath)
    return fail(Code::invalid, "the socket {}: its path must have 1 to {} bytes", path, kMostPath);
  const error_code knocked = knock(path);
  if (!knocked) return fail(Code::io, "the socket {} is taken{}", path, owner_of_unix(path));
  struct stat file;
  if (lstat(path.c_str(), &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) return fail(Code::io, "{} is there already and is no socket", path);
    if (knocked == asio::error::connection_refused) unlink(path.c_str());
  }
  auto body = std::make_shared<Body>();
  body->handler = std::move(handler);
  body->refuse = std::move(refuse);
  body->path = path;
  const std::weak_ptr<Body> weak(body);
  TRY_ASSIGN(body->acceptor, Acceptor<Local>::open(
                                 loop, Local::endpoint(path),
                                 [weak](Local::socket socket) {
                                   const auto strong = weak.lock();
                                   if (!strong) return;
                                   auto connection =
                                       std::make_shared<Connection>(std::move(socket), strong->handler,
                                                                    strong->refuse, strong->sessions, strong);
                                   strong->sessions.add(connection);
                                   connection->read();
                                 },
                                 [weak] {
                                   if (const auto strong = weak.lock()) strong->sessions.close_oldest();
                                 }));
  chmod(path.c_str(), kEverybodyMayConnect);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(body)));
}

Result<HttpAnswer> http_ask(const std::string& socket_path, const std::string& method,
                            const std::string& target, const std::string& body, Ns patience) {
  if (socket_path.empty() || socket_path.size() > kMostPath)
    return fail(Code::invalid, "the socket {}: its path must have 1 to {} bytes", socket_path, kMostPath);
  asio::io_context context;
  beast::basic_stream<Local> stream(context);
  error_code error;
  stream.socket().connect(Local::endpoint(socket_path), error);
  if (error) {
    const bool nobody =
        error == asio::error::connection_refused || error == boost::system::errc::no_such_file_or_directory;
    const Code code = nobody                                ? Code::not_found
                      : error == asio::error::access_denied ? Code::denied
                                                            : Code::io;
    return fail(
        code, "no agent answers at {} ({}); start one with `spotter agent`, or name its socket with --socket",
        socket_path, error.message());
  }
  http::request<http::string_body> request(http::string_to_verb(method), target, kHttp11);
  request.set(http::field::host, "spotter");
  request.body() = body;
  request.prepare_payload();
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMostAnswer);
  stream.expires_after(std::chrono::nanoseconds(patience));
  http::async_write(stream, request, [&](const error_code& e, size_t) {
    if (e) {
      error = e;
      return;
    }
    http::async_read(stream, buffer, parser, [&](const error_code& r, size_t) { error = r; });
  });
  context.run();
  if (error) return fail(Code::io, "the agent at {} gave no answer: {}", socket_path, error.message());
  return HttpAnswer{static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
}

}  // namespace spotter::net
