// What both ends of HTTP are made of: part of http.cc and http_client.cc.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace spotter::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Local = asio::local::stream_protocol;
using LocalStream = beast::basic_stream<Local>;
using TlsStream = asio::ssl::stream<beast::basic_stream<tcp>>;

inline constexpr unsigned kHttp11 = 11;
inline constexpr size_t kMostPath = 107;  // of a UNIX address

}  // namespace spotter::net
