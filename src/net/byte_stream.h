// One end of a connection as HTTP needs it: bytes both ways, by a UNIX socket, or by TCP with TLS or bare.
// The protocols are told apart here alone, and behind virtual functions: what reads and writes messages is
// compiled once, not once for each.
#pragma once
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>

#include "net/resolve.h"
#include "net/stream_peer.h"
#include "net/tls.h"

namespace spotter::net {

class ByteStream {
 public:
  using Error = boost::system::error_code;
  using Told = std::function<void(const Error&)>;
  using Moved = std::function<void(const Error&, size_t bytes)>;
  static constexpr size_t kMostPath = 107;  // of a UNIX socket

  // To be a stream once open() is through.
  static std::shared_ptr<ByteStream> accepted(boost::asio::local::stream_protocol::socket socket);
  static std::shared_ptr<ByteStream> accepted(boost::asio::ip::tcp::socket socket);
  static std::shared_ptr<ByteStream> accepted(boost::asio::ip::tcp::socket socket, std::shared_ptr<Tls> tls);
  static std::shared_ptr<ByteStream> to(Loop& loop, const std::string& path);
  static std::shared_ptr<ByteStream> to(Loop& loop, Endpoints endpoints);  // bare
  // `host`: the name that the certificate there has to have.
  // `tunnel`: at the endpoints is a proxy, which is asked (CONNECT) for this HOST:PORT first; empty: none is.
  static std::shared_ptr<ByteStream> to(Loop& loop, Endpoints endpoints, std::shared_ptr<Tls> tls,
                                        const std::string& host, const std::string& tunnel = {});
  virtual ~ByteStream() = default;

  // Connects and shakes hands, as far as it has to; may be done before it returns.
  virtual void open(Told done) = 0;
  // One of each at a time. What they move stays where it is until they are done.
  virtual void read(boost::asio::mutable_buffer into, Moved done) = 0;
  virtual void write(const std::array<boost::asio::const_buffer, 2>& all, Told done) = 0;
  // What was begun is done with an error, later.
  virtual void close() = 0;
  virtual bool is_open() const = 0;
  virtual StreamPeer peer() const = 0;
  // Why TLS would not have the other side's certificate; empty if that was not it.
  virtual std::string distrust() const { return {}; }
  // What a proxy says instead of connecting; empty if that was not it.
  virtual std::string refusal() const { return {}; }
};

}  // namespace spotter::net
