// Accepts connections of a stream protocol (TCP or UNIX) for as long as it lives. Part of net/'s servers.
#pragma once
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "net/loop.h"
#include "net/socket_owner.h"

namespace spotter::net {

template <class Protocol>
class Acceptor {
 public:
  using Socket = typename Protocol::socket;
  using Endpoint = typename Protocol::endpoint;

  // `no_room`: no descriptor is left for another connection, so one should be given up. Errors: unsupported
  // (no such protocol on this system), io.
  static Result<std::unique_ptr<Acceptor>> open(Loop& loop, const Endpoint& endpoint,
                                                std::function<void(Socket)> welcome,
                                                std::function<void()> no_room) {
    auto body = std::make_shared<Body>(loop.context());
    body->welcome = std::move(welcome);
    body->no_room = std::move(no_room);
    boost::system::error_code error;
    body->acceptor.open(endpoint.protocol(), error);
    if (error == boost::asio::error::address_family_not_supported)
      return fail(Code::unsupported, "{}: {}", shown(endpoint), error.message());
    if (error) return fail(Code::io, "{}: {}", shown(endpoint), error.message());
    if constexpr (std::is_same_v<Protocol, boost::asio::ip::tcp>) {
      body->acceptor.set_option(boost::asio::socket_base::reuse_address(true), error);
      if (endpoint.protocol() == Protocol::v6())
        body->acceptor.set_option(boost::asio::ip::v6_only(true), error);
    }
    body->acceptor.bind(endpoint, error);
    if (!error) body->acceptor.listen(kBacklog, error);
    if (error == boost::system::errc::address_not_available ||
        error == boost::asio::error::address_family_not_supported)
      return fail(Code::unsupported, "{}: {}", shown(endpoint), error.message());
    if (error == boost::asio::error::address_in_use)
      return fail(Code::io, "{} is taken{}", shown(endpoint), owner(endpoint));
    if (error) return fail(Code::io, "{}: {}", shown(endpoint), error.message());
    body->next();
    return std::unique_ptr<Acceptor>(new Acceptor(std::move(body)));
  }

  ~Acceptor() { close(); }
  void close() {
    boost::system::error_code ignored;
    body_->acceptor.close(ignored);
    body_->pause.cancel();
  }
  Endpoint endpoint() const { return body_->acceptor.local_endpoint(); }
  auto executor() const { return body_->acceptor.get_executor(); }

 private:
  static constexpr int kBacklog = 1024;

  struct Body : std::enable_shared_from_this<Body> {
    explicit Body(boost::asio::io_context& context) : acceptor(context), pause(context) {}

    // Waits first: without a descriptor to spare the kernel refuses to accept even where nobody asks.
    void next() {
      acceptor.async_wait(Protocol::acceptor::wait_read,
                          [self = this->shared_from_this()](const boost::system::error_code& error) {
                            if (!error && self->acceptor.is_open()) self->accept();
                          });
    }

    void accept() {
      acceptor.async_accept(
          [self = this->shared_from_this()](const boost::system::error_code& error, Socket socket) {
            if (error == boost::asio::error::operation_aborted || !self->acceptor.is_open()) return;
            if (is_lack(error)) self->no_room();
            // The connection still waits to be accepted: at once it would be the same again.
            if (error) return self->next_later();
            self->welcome(std::move(socket));
            self->next();
          });
    }

    static bool is_lack(const boost::system::error_code& error) {
      namespace errc = boost::system::errc;
      return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
             error == errc::no_buffer_space || error == errc::not_enough_memory;
    }

    // The one that is closed gives its descriptor back only when its turn on the loop comes.
    void next_later() {
      pause.expires_after(std::chrono::milliseconds(1));
      pause.async_wait([self = this->shared_from_this()](const boost::system::error_code& error) {
        if (!error && self->acceptor.is_open()) self->next();
      });
    }

    boost::asio::basic_socket_acceptor<Protocol> acceptor;
    boost::asio::steady_timer pause;
    std::function<void(Socket)> welcome;
    std::function<void()> no_room;
  };

  explicit Acceptor(std::shared_ptr<Body> body) : body_(std::move(body)) {}

  static std::string shown(const boost::asio::ip::tcp::endpoint& e) {
    const std::string address = e.address().to_string();
    return fmt::format("the port {}:{}", e.address().is_v6() ? "[" + address + "]" : address, e.port());
  }
  static std::string shown(const boost::asio::local::stream_protocol::endpoint& e) {
    return "the socket " + e.path();
  }
  static std::string owner(const boost::asio::ip::tcp::endpoint& e) { return owner_of_port(e.port()); }
  static std::string owner(const boost::asio::local::stream_protocol::endpoint& e) {
    return owner_of_unix(e.path());
  }

  std::shared_ptr<Body> body_;
};

}  // namespace spotter::net
