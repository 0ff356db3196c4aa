#include "net/framed_server.h"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstring>
#include <vector>

#include "net/acceptor.h"
#include "net/sessions.h"
#include "net/tcp_ends.h"

namespace spotter::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kLengthBytes = 4;
constexpr auto kFarewell = std::chrono::milliseconds(200);  // for a peer that still sends to read its answer
std::string http_answer() {
  constexpr std::string_view text = "This port speaks the framed JSON of Dynolog, not HTTP.\n";
  return fmt::format(
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
      text.size(), text);
}

std::string framed(std::string_view text) {
  std::string out(kLengthBytes + text.size(), '\0');
  const u32 n = static_cast<u32>(text.size());
  for (size_t i = 0; i < kLengthBytes; i++) out[i] = static_cast<char>(n >> (8 * i));
  std::memcpy(out.data() + kLengthBytes, text.data(), text.size());
  return out;
}

i64 length_of(const std::array<u8, kLengthBytes>& bytes) {
  u32 n = 0;
  for (size_t i = 0; i < kLengthBytes; i++) n |= u32{bytes[i]} << (8 * i);
  return static_cast<i32>(n);
}

bool is_http(const std::array<u8, kLengthBytes>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text == "GET " || text == "POST" || text == "HEAD" || text == "PUT ";
}

class Connection final : public Session, public std::enable_shared_from_this<Connection> {
 public:
  // `server` keeps what the references point to.
  Connection(tcp::socket socket, ByteBudget& bytes, const FramedServer::Handler& handler, Sessions& sessions,
             std::shared_ptr<const void> server)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        bytes_(bytes),
        handler_(handler),
        sessions_(sessions),
        server_(std::move(server)) {}
  ~Connection() override {
    bytes_.remove(held_as_);
    sessions_.remove(*this);
  }

  void close() override {
    error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
    bytes_.remove(held_as_);
  }

  void read() {
    error_code ignored;
    const std::string peer = socket_.remote_endpoint(ignored).address().to_string();
    sessions_.is_of(*this, peer);
    held_as_ = bytes_.add(peer, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->sessions_.close(self);
    });
    end_after(std::chrono::nanoseconds(FramedServer::kRequestTime));
    asio::async_read(socket_, asio::buffer(head_),
                     [self = shared_from_this()](const error_code& error, size_t) {
                       if (self->ended(error)) return;
                       self->read_body();
                     });
  }

 private:
  void end_after(std::chrono::nanoseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](const error_code& error) {
      if (const auto self = weak.lock(); self && !error) self->close();
    });
  }

  // A read may be done when the connection is closed, and be told after: its request is not for anybody any
  // more, and the server may be gone.
  bool ended(const error_code& error) {
    if (error) close();
    return !socket_.is_open();
  }

  void read_body() {
    const i64 length = length_of(head_);
    if (is_http(head_)) return answer_unread(http_answer());
    if (length <= 0 || static_cast<size_t>(length) > FramedServer::kMostBytes) {
      const auto wrong =
          fail(Code::invalid, "a request of {} bytes; 1 to {} are allowed", length, FramedServer::kMostBytes);
      return answer_unread(framed(handler_(wrong, ends_of(socket_))));
    }
    // The memory grows with what has come, not with what was announced.
    const auto n = static_cast<size_t>(length);
    const auto more = [this, n](const error_code& error, size_t bytes) -> size_t {
      bytes_.holds(held_as_, bytes);
      return error ? 0 : n - bytes;
    };
    asio::async_read(socket_, asio::dynamic_buffer(text_, n), more,
                     [self = shared_from_this()](const error_code& error, size_t) {
                       if (self->ended(error)) return;
                       self->reply();
                     });
  }

  void reply() {
    text_ = framed(handler_(std::move(text_), ends_of(socket_)));
    asio::async_write(socket_, asio::buffer(text_),
                      [self = shared_from_this()](const error_code&, size_t) { self->close(); });
  }

  // Closing while the peer's bytes are unread would reset the connection and lose the answer.
  void answer_unread(std::string answer) {
    end_after(kFarewell);
    text_ = std::move(answer);
    asio::async_write(socket_, asio::buffer(text_),
                      [self = shared_from_this()](const error_code& error, size_t) {
                        if (self->ended(error)) return;
                        error_code ignored;
                        self->socket_.shutdown(tcp::socket::shutdown_send, ignored);
                        self->drain();
                      });
  }

  void drain() {
    socket_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this()](const error_code& error, size_t) {
                              if (self->ended(error)) return;
                              self->drain();
                            });
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  ByteBudget& bytes_;
  u64 held_as_ = 0;  // in the budget
  std::array<u8, kLengthBytes> head_;
  std::array<char, 1024> rest_;
  std::string text_;  // the request, then its answer
  const FramedServer::Handler& handler_;
  Sessions& sessions_;
  std::shared_ptr<const void> server_;
};

}  // namespace

struct FramedServer::Body {
  Body(Loop& loop, Handler h) : bytes(loop.bytes()), handler(std::move(h)) {}
  ByteBudget& bytes;
  Handler handler;
  Sessions sessions{kMostConnections};
  std::vector<std::unique_ptr<Acceptor<tcp>>> acceptors;
  u16 port = 0;

  static void welcome(const std::shared_ptr<Body>& body, tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection =
        std::make_shared<Connection>(std::move(socket), body->bytes, body->handler, body->sessions, body);
    body->sessions.add(connection);
    connection->read();
  }
};

FramedServer::FramedServer(std::shared_ptr<Body> body) : body_(std::move(body)) {}
FramedServer::~FramedServer() {
  for (const auto& acceptor : body_->acceptors) acceptor->close();
  body_->sessions.close_all();
}
u16 FramedServer::port() const { return body_->port; }
size_t FramedServer::connections() const { return body_->sessions.size(); }
i64 FramedServer::closed_for_room() const { return body_->sessions.closed(); }

Result<std::unique_ptr<FramedServer>> FramedServer::open(Loop& loop, std::span<const std::string> addresses,
                                                         u16 port, Handler handler) {
  auto body = std::make_shared<Body>(loop, std::move(handler));
  for (const std::string& text : addresses) {
    error_code error;
    const auto address = asio::ip::make_address(text, error);
    if (error) return fail(Code::invalid, "{} is no IP address", text);
    auto opened = Acceptor<tcp>::open(
        loop, tcp::endpoint(address, body->port ? body->port : port),
        [weak = std::weak_ptr(body)](tcp::socket socket) {
          if (const auto strong = weak.lock()) Body::welcome(strong, std::move(socket));
        },
        [weak = std::weak_ptr(body)] {
          if (const auto strong = weak.lock()) strong->sessions.close_oldest();
        });
    if (!opened) {
      const bool no_v6 = address.is_v6() && opened.error().code == Code::unsupported;
      if (no_v6 && !body->acceptors.empty()) continue;
      return tl::unexpected(opened.error());
    }
    body->acceptors.push_back(std::move(*opened));
    body->port = body->acceptors.front()->endpoint().port();
  }
  return std::unique_ptr<FramedServer>(new FramedServer(std::move(body)));
}

}  // namespace spotter::net
