#include "net/http/http.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/beast/core/string.hpp>
#include <optional>

#include "base/system/safe_folder.h"
#include "base/text/utf8.h"
#include "net/acceptor.h"
#include "net/byte_stream.h"
#include "net/http/http_message.h"
#include "net/sessions.h"

namespace spotter::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;

constexpr mode_t kEverybodyMayConnect = 0666;  // what each may do is decided by who it is

class Connection final : public Session, public std::enable_shared_from_this<Connection> {
 public:
  // `server` keeps what the references point to.
  Connection(std::shared_ptr<ByteStream> stream, Loop& loop, size_t most_body,
             const HttpServer::Handler& handler, const HttpServer::Trusts& trusts,
             const HttpServer::Refuse& refuse, Sessions& sessions, std::shared_ptr<const void> server)
      : stream_(std::move(stream)),
        patience_(loop),
        bytes_(loop.bytes()),
        most_body_(most_body),
        handler_(handler),
        trusts_(trusts),
        refuse_(refuse),
        sessions_(sessions),
        server_(std::move(server)) {}
  ~Connection() override {
    bytes_.remove(held_as_);
    sessions_.remove(*this);
  }

  void close() override {
    patience_.cancel();
    stream_->close();
    bytes_.remove(held_as_);
    tell_gone();
  }

  void begin() {
    end_after(HttpServer::kRequestTime);
    stream_->open([self = shared_from_this()](const error_code& error) {
      if (error) return self->close();
      if (!self->stream_->is_open()) return;
      self->peer_ = self->stream_->peer();
      self->hold_bytes();
      self->read();
    });
  }

 private:
  void end_after(Ns time) {
    patience_.set(time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
  }

  void hold_bytes() {
    const std::string peer =
        peer_.address.empty() ? std::to_string(peer_.uid) : peer_.address.substr(0, peer_.address.rfind(':'));
    sessions_.is_of(*this, peer);
    held_as_ = bytes_.add(peer, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->sessions_.close(self);
    });
  }

  void read() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<u32>(HttpServer::kMostHead));
    parser_->body_limit(trusts_ ? HttpServer::kMostBody : most_body_);
    is_head_seen_ = false;
    end_after(HttpServer::kRequestTime);
    read_message(
        *stream_, buffer_, *parser_,
        [self = shared_from_this()](const error_code& error) { self->answer(error); },
        [this] {
          bytes_.holds(held_as_, buffer_.size() + parser_->get().body().size());
          return see_head();
        });
  }

  // Who asks is known once the head is there; the body of one who is not trusted ends early. Whoever waits
  // for a word before he sends it gets one (RFC 9110, 10.1.1).
  error_code see_head() {
    if (is_head_seen_ || !parser_->is_header_done()) return {};
    is_head_seen_ = true;
    if (trusts_ && !trusts_(head())) {
      const auto length = parser_->content_length();
      if ((length && *length > most_body_) || parser_->get().body().size() > most_body_)
        return http::error::body_limit;
      parser_->body_limit(most_body_);
    }
    if (!parser_->is_done() && parser_->get().version() >= kHttp11 &&
        boost::beast::iequals(parser_->get()[http::field::expect], "100-continue"))
      say_continue();
    return {};
  }

  void say_continue() {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    says_continue_ = true;
    stream_->write({asio::buffer(kContinue), {}}, [self = shared_from_this()](const error_code& error) {
      self->says_continue_ = false;
      if (error) return self->close();
      if (auto answer = std::exchange(self->behind_continue_, std::nullopt)) self->write(std::move(*answer));
    });
  }

  HttpRequest head() const {
    HttpRequest request;
    const auto& message = parser_->get();
    const auto header = [&](http::field field) { return std::string(message[field]); };
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    request.authorization = header(http::field::authorization);
    request.accept = header(http::field::accept);
    request.accept_encoding = header(http::field::accept_encoding);
    request.content_type = header(http::field::content_type);
    request.host = header(http::field::host);
    request.origin = header(http::field::origin);
    request.if_none_match = header(http::field::if_none_match);
    request.sec_fetch_site = std::string(message["Sec-Fetch-Site"]);
    for (const auto& field : message)
      if (std::string name =
              ascii_lower(std::string_view(field.name_string().data(), field.name_string().size()));
          name.starts_with("mcp-"))
        request.mcp.emplace_back(std::move(name), std::string(field.value()));
    request.peer = peer_;
    return request;
  }

  void answer(const error_code& error) {
    // A read may be done when the connection is closed, and be told after: the server may be gone.
    if (!stream_->is_open()) return;
    patience_.cancel();
    const bool is_bad = error.category() == http::make_error_code(http::error::bad_method).category();
    if (error && (!is_bad || error == http::error::end_of_stream)) return close();
    keep_ = !error && parser_->get().keep_alive();
    if (error) {
      constexpr int kTooLarge = 413;
      HttpAnswer refusal = refuse_(Error{Code::invalid, "this is no HTTP request: " + error.message()});
      if (error == http::error::body_limit) refusal.status = kTooLarge;
      return write(std::move(refusal));
    }
    HttpRequest request = head();
    request.when_gone = [weak = weak_from_this()](std::function<void()> act) {
      if (const auto self = weak.lock()) self->watch(std::move(act));
    };
    is_head_ = request.method == "HEAD";
    keep_ = keep_ && !is_head_;
    request.body = std::move(parser_->get().body());
    sessions_.is_served(*this);
    awaits_answer_ = true;
    handler_(std::move(request), [self = shared_from_this()](HttpAnswer a) { self->write(std::move(a)); });
  }

  // Reads on while the answer is made: the end of the connection, or the beginning of the next request.
  void watch(std::function<void()> gone) {
    constexpr size_t kRoom = 4096;
    if (!awaits_answer_) return;
    gone_ = std::move(gone);
    if (!stream_->is_open()) return tell_gone();
    if (watches_ || buffer_.size() > 0) return;
    watches_ = true;
    stream_->read(buffer_.prepare(kRoom), [self = shared_from_this()](const error_code& error, size_t bytes) {
      self->watches_ = false;
      self->buffer_.commit(bytes);
      if (error) self->tell_gone();
      if (!std::exchange(self->reads_next_, false) || !self->stream_->is_open()) return;
      error ? self->close() : self->read();
    });
  }

  void tell_gone() {
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
  }

  void write(HttpAnswer answer) {
    gone_ = nullptr;
    awaits_answer_ = false;
    if (says_continue_) {
      if (!stream_->is_open()) return;
      bytes_.holds(held_as_, answer.body.size());
      if (!stream_->is_open()) return;
      end_after(HttpServer::kRequestTime);
      behind_continue_ = std::move(answer);
      return;
    }
    http::response<http::string_body> response(http::int_to_status(static_cast<unsigned>(answer.status)),
                                               kHttp11);
    response.set(http::field::content_type,
                 answer.content_type.empty() ? "application/json" : answer.content_type);
    if (!answer.content_encoding.empty())
      response.set(http::field::content_encoding, answer.content_encoding);
    for (const auto& [name, value] : answer.headers) response.set(name, value);
    // An answer to HEAD has no body (RFC 9110, 9.3.2).
    response.keep_alive(keep_);
    if (!is_head_) response.body() = std::move(answer.body);
    bytes_.holds(held_as_, response.body().size());
    if (!stream_->is_open()) return;
    end_after(HttpServer::kRequestTime + static_cast<Ns>(response.body().size()) * HttpServer::kTimePerByte);
    answer_.write(*stream_, std::move(response),
                  [self = shared_from_this()](const error_code& error) { self->next(error); });
  }

  void next(const error_code& error) {
    if (!stream_->is_open()) return;
    if (error || !keep_) return close();
    bytes_.holds(held_as_, 0);
    sessions_.waits_again(*this);
    if (!watches_) return read();
    reads_next_ = true;
    end_after(HttpServer::kRequestTime);
  }

  std::shared_ptr<ByteStream> stream_;
  Timer patience_;
  ByteBudget& bytes_;
  u64 held_as_ = 0;  // in the budget; 0: not yet
  size_t most_body_;
  boost::beast::flat_buffer buffer_{HttpServer::kMostHead + HttpServer::kMostBody};
  std::optional<http::request_parser<http::string_body>> parser_;
  OutgoingMessage<false> answer_;
  StreamPeer peer_;
  bool keep_ = false;           // the connection, for another request
  std::function<void()> gone_;  // to be told if that one goes who waits for an answer
  bool awaits_answer_ = false;
  bool watches_ = false, reads_next_ = false;  // what watch() reads is under way, and is part of a request
  bool is_head_seen_ = false;
  bool says_continue_ = false;
  std::optional<HttpAnswer> behind_continue_;
  bool is_head_ = false;  // the request's method
  const HttpServer::Handler& handler_;
  const HttpServer::Trusts& trusts_;
  const HttpServer::Refuse& refuse_;
  Sessions& sessions_;
  std::shared_ptr<const void> server_;
};

// How an attempt to connect ends.
error_code knock(const std::string& path) {
  asio::io_context context;
  Local::socket socket(context, Local());
  socket.non_blocking(true);  // the owner may be stopped and its queue full, which asio takes for success
  error_code error;
  socket.connect(Local::endpoint(path), error);
  return error;
}

}  // namespace

struct HttpServer::Body {
  Body(Handler h, Refuse r, size_t most_connections)
      : handler(std::move(h)), refuse(std::move(r)), sessions(most_connections) {}
  Handler handler;
  Trusts trusts;
  Refuse refuse;
  Sessions sessions;
  std::unique_ptr<Acceptor<Local>> local;
  std::string path;  // of `local`
  std::unique_ptr<Acceptor<tcp>> remote;
  std::shared_ptr<Tls> tls;  // of `remote`; nullptr: bare

  static void welcome(const std::shared_ptr<Body>& body, Loop& loop, std::shared_ptr<ByteStream> stream,
                      size_t most_body) {
    auto connection = std::make_shared<Connection>(std::move(stream), loop, most_body, body->handler,
                                                   body->trusts, body->refuse, body->sessions, body);
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
void HttpServer::trust(Trusts trusts) { body_->trusts = std::move(trusts); }
size_t HttpServer::connections() const { return body_->sessions.size(); }
i64 HttpServer::closed_for_room() const { return body_->sessions.closed(); }

Result<std::unique_ptr<HttpServer>> HttpServer::open(Loop& loop, const std::string& path, Handler handler,
                                                     Refuse refuse) {
  if (path.empty() || path.size() > ByteStream::kMostPath)
    return fail(Code::invalid, "the socket {}: its path must have 1 to {} bytes", path,
                ByteStream::kMostPath);
  const size_t slash = path.rfind('/');
  TRY_ASSIGN(const Descriptor folder, open_safe_folder(slash == path.npos ? "." : path.substr(0, slash + 1)));
  const error_code knocked = knock(path);
  if (!knocked) return fail(Code::io, "the socket {} is taken{}", path, owner_of_unix(path));
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
                              [weak, &loop](Local::socket socket) {
                                if (const auto strong = weak.lock())
                                  Body::welcome(strong, loop, ByteStream::accepted(std::move(socket)),
                                                kMostBody);
                              },
                              Body::no_room(weak)));
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(body)));
  TRY(set_mode_of_socket(folder, path.substr(slash + 1), kEverybodyMayConnect));
  return server;
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(Loop& loop, const std::string& address, u16 port,
                                                     std::shared_ptr<Tls> tls, Handler handler, Refuse refuse,
                                                     size_t most_connections) {
  CHECK(tls);
  auto body = std::make_shared<Body>(std::move(handler), std::move(refuse), most_connections);
  body->tls = std::move(tls);
  return open_port(loop, address, port, std::move(body));
}

Result<std::unique_ptr<HttpServer>> HttpServer::open_plain(Loop& loop, const std::string& address, u16 port,
                                                           Handler handler, Refuse refuse,
                                                           size_t most_connections) {
  return open_port(loop, address, port,
                   std::make_shared<Body>(std::move(handler), std::move(refuse), most_connections));
}

Result<std::unique_ptr<HttpServer>> HttpServer::open_port(Loop& loop, const std::string& address, u16 port,
                                                          std::shared_ptr<Body> body) {
  error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) return fail(Code::invalid, "{} is no IP address", address);
  const std::weak_ptr<Body> weak(body);
  const auto welcome = [weak, &loop](tcp::socket socket) {
    const auto strong = weak.lock();
    if (!strong) return;
    auto stream = strong->tls ? ByteStream::accepted(std::move(socket), strong->tls)
                              : ByteStream::accepted(std::move(socket));
    Body::welcome(strong, loop, std::move(stream), kMostRemoteBody);
  };
  TRY_ASSIGN(body->remote, Acceptor<tcp>::open(loop, tcp::endpoint(ip, port), welcome, Body::no_room(weak)));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(body)));
}

}  // namespace spotter::net
