#include "net/http_client.h"

#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <chrono>
#include <optional>

#include "net/http_stream.h"
#include "net/resolve.h"

namespace spotter::net {
namespace {

constexpr Ns kKnockAgain = 20'000'000;

}  // namespace

std::string HttpAddress::shown() const {
  if (!socket.empty()) return socket;
  return fmt::format("{}:{}", host.find(':') == host.npos ? host : "[" + host + "]", port);
}

struct HttpClient::Body : std::enable_shared_from_this<Body> {
  Body(Loop& l, HttpAddress a, std::shared_ptr<Tls> t)
      : loop(l), address(std::move(a)), tls(std::move(t)), patience(l), again(l) {}

  // Every step's handler is of one question; once that has ended, however, it does nothing.
  template <class F>
  auto step(F act) {
    return [self = shared_from_this(), number = question_number, act](const error_code& error, auto&&...) {
      if (number != self->question_number || !self->done) return;
      if (error) return self->broken(error);
      act(*self);
    };
  }

  void ask(HttpQuestion q, Ns time, Done d) {
    done = std::move(d);
    ++question_number;
    question = std::move(q);
    parser.emplace();
    parser->body_limit(question.most_answer);
    patience.set(time, [self = shared_from_this()] {
      self->end(fail(Code::io, "no answer in {:.1f} s", static_cast<double>(self->time_given) / 1e9));
    });
    time_given = time;
    is_reused = is_connected;
    if (is_connected) return write();
    connect();
  }

  void connect() {
    if (!address.socket.empty()) return connect_local();
    resolve(loop, address.connect_to.empty() ? address.host : address.connect_to, address.port,
            [weak = weak_from_this(), number = question_number](Result<Endpoints> endpoints) {
              const auto self = weak.lock();
              if (!self || number != self->question_number || !self->done) return;
              if (!endpoints) return self->end(tl::unexpected(endpoints.error()));
              self->connect_remote(*endpoints);
            });
  }

  void connect_local() {
    if (address.socket.size() > kMostPath)
      return end(fail(Code::invalid, "the path of a socket must have 1 to {} bytes", kMostPath));
    local = std::make_unique<LocalStream>(loop.context());
    local->async_connect(Local::endpoint(address.socket),
                         [self = shared_from_this(), number = question_number](const error_code& error) {
                           if (number != self->question_number || !self->done) return;
                           // Its queue is full: it is busy, or stopped.
                           if (error == asio::error::no_buffer_space)
                             return self->again.set(kKnockAgain, [self] { self->connect_local(); });
                           if (error) return self->broken(error);
                           self->is_connected = true;
                           self->write();
                         });
  }

  void connect_remote(const Endpoints& endpoints) {
    if (!tls) return end(fail(Code::invalid, "a host is asked by TLS only"));
    remote = std::make_unique<TlsStream>(loop.context(), tls->context());
    remote->set_verify_callback(asio::ssl::host_name_verification(address.host));
    error_code not_a_number;
    asio::ip::make_address(address.host, not_a_number);
    if (not_a_number) SSL_set_tlsext_host_name(remote->native_handle(), address.host.c_str());
    beast::get_lowest_layer(*remote).async_connect(endpoints, step([](Body& b) { b.shake_hands(); }));
  }

  void shake_hands() {
    error_code ignored;
    beast::get_lowest_layer(*remote).socket().set_option(tcp::no_delay(true), ignored);
    remote->async_handshake(asio::ssl::stream_base::client, step([](Body& b) {
                              b.is_connected = true;
                              b.write();
                            }));
  }

  void write() {
    request = {http::string_to_verb(question.method), question.target, kHttp11};
    request.set(http::field::host, address.host.empty() ? "spotter" : address.host);
    if (!question.authorization.empty()) request.set(http::field::authorization, question.authorization);
    request.body() = question.body;
    request.prepare_payload();
    on_stream([this](auto& stream) { http::async_write(stream, request, step([](Body& b) { b.read(); })); });
  }

  void read() {
    on_stream([this](auto& stream) {
      http::async_read(stream, buffer, *parser, step([](Body& b) { b.take_answer(); }));
    });
  }

  void take_answer() {
    if (!parser->get().keep_alive()) disconnect();
    end(HttpAnswer{static_cast<int>(parser->get().result_int()), std::move(parser->get().body())});
  }

  void broken(const error_code& error) {
    // The server may have closed a connection that waited; the question has not reached it then.
    if (is_reused && !parser->got_some() && question.method != "POST") {
      disconnect();
      is_reused = false;
      return connect();
    }
    const bool nobody =
        error == asio::error::connection_refused || error == boost::system::errc::no_such_file_or_directory;
    const bool may_not =
        error == asio::error::access_denied || error.category() == asio::error::get_ssl_category();
    disconnect();
    end(fail(nobody ? Code::not_found : may_not ? Code::denied : Code::io, "{}", reason(error)));
  }

  std::string reason(const error_code& error) const {
    const long verified = remote ? SSL_get_verify_result(remote->native_handle()) : X509_V_OK;
    if (verified != X509_V_OK)
      return fmt::format("its certificate is not trusted: {}", X509_verify_cert_error_string(verified));
    return error.message();
  }

  void end(Result<HttpAnswer> answer) {
    patience.cancel();
    again.cancel();
    if (!answer) {
      disconnect();
      answer = within(answer.error(), address.shown());
    }
    std::exchange(done, nullptr)(std::move(answer));
  }

  template <class F>
  void on_stream(F act) {
    if (remote)
      act(*remote);
    else
      act(*local);
  }

  void disconnect() {
    is_connected = false;
    buffer.clear();
    error_code ignored;
    if (remote) beast::get_lowest_layer(*remote).socket().close(ignored);
    if (local) local->socket().close(ignored);
  }

  Loop& loop;
  HttpAddress address;
  std::shared_ptr<Tls> tls;
  std::unique_ptr<LocalStream> local;
  std::unique_ptr<TlsStream> remote;
  bool is_connected = false, is_reused = false;
  Timer patience, again;
  Ns time_given = 0;
  u64 question_number = 0;
  HttpQuestion question;
  Done done;
  http::request<http::string_body> request;
  std::optional<http::response_parser<http::string_body>> parser;
  beast::flat_buffer buffer;
};

HttpClient::HttpClient(Loop& loop, HttpAddress address, std::shared_ptr<Tls> tls)
    : body_(std::make_shared<Body>(loop, std::move(address), std::move(tls))) {}
HttpClient::~HttpClient() {
  body_->done = nullptr;
  body_->patience.cancel();
  body_->again.cancel();
  body_->disconnect();
}
void HttpClient::ask(HttpQuestion question, Ns patience, Done done) {
  body_->ask(std::move(question), patience, std::move(done));
}

}  // namespace spotter::net
