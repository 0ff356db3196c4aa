// Messages of HTTP on a stream: part of http.cc and http_client.cc.
#pragma once
#include <array>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <functional>
#include <sstream>
#include <string>

#include "net/byte_stream.h"

namespace spotter::net {

namespace http = boost::beast::http;
using boost::system::error_code;

inline constexpr unsigned kHttp11 = 11;

// Reads one message; what came behind it stays in `buffer`. All live until it is done. Errors: the parser's,
// http::error::end_of_stream if there was nothing, the stream's.
// `more` is called with each part that has come; its error is the message's.
template <bool kIsRequest>
void read_message(ByteStream& stream, boost::beast::flat_buffer& buffer,
                  http::basic_parser<kIsRequest>& parser, ByteStream::Told done,
                  std::function<error_code()> more = nullptr) {
  error_code error;
  while (buffer.size() > 0 && !parser.is_done() && !error) buffer.consume(parser.put(buffer.data(), error));
  if (error == http::error::need_more) error = {};
  if (more && !error) error = more();
  if (error || parser.is_done()) return done(error);
  constexpr size_t kMostRoom = 65536;
  const size_t room = boost::beast::read_size(buffer, kMostRoom);
  if (room == 0) return done(http::error::buffer_overflow);
  stream.read(buffer.prepare(room),
              [&, done = std::move(done), more = std::move(more)](error_code failed, size_t bytes) mutable {
                buffer.commit(bytes);
                if (!failed) return read_message(stream, buffer, parser, std::move(done), std::move(more));
                if (failed != boost::asio::error::eof) return done(failed);
                if (!parser.got_some()) return done(http::error::end_of_stream);
                failed = {};
                parser.put_eof(failed);
                done(failed);
              });
}

// A message of text as it goes over the wire: its head, and the body where it is.
template <bool kIsRequest>
class OutgoingMessage {
 public:
  using Message = http::message<kIsRequest, http::string_body>;

  void write(ByteStream& stream, Message message, ByteStream::Told done) {
    message.prepare_payload();
    std::ostringstream head;
    head << message.base();
    head_ = std::move(head).str();
    body_ = std::move(message.body());
    stream.write({boost::asio::buffer(head_), boost::asio::buffer(body_)}, std::move(done));
  }

 private:
  std::string head_, body_;
};

}  // namespace spotter::net
