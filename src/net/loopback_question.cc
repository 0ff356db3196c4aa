#include "net/loopback_question.h"

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "net/resolve.h"
#include "net/tcp_ends.h"

namespace spotter::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

bool is_loopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  return address.is_loopback();
}

}  // namespace

// Of one question. What is under way holds it; once it has ended nothing of it does anything.
struct LoopbackQuestion::Body : std::enable_shared_from_this<Body> {
  Body(Loop& l, LoopbackText t, Done d)
      : loop(l), text(std::move(t)), done(std::move(d)), socket(l.context()), patience(l) {}

  void begin() {
    patience.set(text.patience, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->end(fail(Code::io, "no answer in time"));
    });
    resolve(loop, text.host, text.port, [weak = weak_from_this()](Result<Endpoints> endpoints) {
      if (const auto self = weak.lock(); self && self->done) self->connect(std::move(endpoints));
    });
  }

  void connect(Result<Endpoints> endpoints) {
    if (!endpoints) return end(tl::unexpected(endpoints.error()));
    if (!std::ranges::all_of(*endpoints, [](const auto& e) { return is_loopback(e.address()); }))
      return end(fail(Code::denied, "it is not this machine"));
    asio::async_connect(socket, *endpoints,
                        [self = shared_from_this()](error_code error, const tcp::endpoint&) {
                          if (!self->done) return;
                          if (error) return self->broken(error);
                          self->read();
                          self->write(self->text.first);
                        });
  }

  void write(const std::string& what) {
    asio::async_write(socket, asio::buffer(what), [self = shared_from_this()](error_code error, size_t) {
      if (self->done && error) self->broken(error);
    });
  }

  void read() {
    socket.async_read_some(asio::buffer(buffer), [self = shared_from_this()](error_code error, size_t bytes) {
      if (self->done) self->take(error, bytes);
    });
  }

  void take(error_code error, size_t bytes) {
    if (error == asio::error::eof && has_asked) return end(std::move(answer));
    if (error) return broken(error);
    if (answer.size() + bytes > text.most_bytes)
      return end(fail(Code::invalid, "its answer is longer than {} bytes", text.most_bytes));
    answer.append(buffer.data(), bytes);
    if (!std::exchange(has_asked, true)) {
      // It waits for us, so that its end is open yet and can be looked up.
      if (text.uid >= 0 && uid_of_connection(ends_of(socket)) != text.uid)
        return end(fail(Code::denied, "it is not a program of user {}", text.uid));
      write(text.then);
    }
    read();
  }

  void broken(error_code error) {
    const bool nobody = error == asio::error::connection_refused;
    end(fail(nobody ? Code::not_found : Code::io, "{}", error.message()));
  }

  void end(Result<std::string> result) {
    patience.cancel();
    error_code ignored;
    socket.close(ignored);
    if (!result) result = within(result.error(), fmt::format("{} port {}", text.host, text.port));
    std::exchange(done, nullptr)(std::move(result));
  }

  Loop& loop;
  LoopbackText text;
  Done done;
  tcp::socket socket;
  Timer patience;
  std::array<char, size_t{64} << 10> buffer;
  std::string answer;
  bool has_asked = false;
};

LoopbackQuestion::LoopbackQuestion(Loop& loop) : loop_(loop) {}

LoopbackQuestion::~LoopbackQuestion() {
  if (!body_) return;
  body_->done = nullptr;
  body_->patience.cancel();
  error_code ignored;
  body_->socket.close(ignored);
}

void LoopbackQuestion::ask(LoopbackText text, Done done) {
  body_ = std::make_shared<Body>(loop_, std::move(text), std::move(done));
  body_->begin();
}

}  // namespace spotter::net
