#include "net/http/http_client.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/ssl/error.hpp>
#include <optional>

#include "base/text/utf8.h"
#include "base/time.h"
#include "net/byte_stream.h"
#include "net/http/http_message.h"
#include "net/listener_check.h"

namespace spotter::net {
namespace {

namespace asio = boost::asio;

constexpr Ns kKnockAgain = 20 * kMillisecond;
// Bodies are taken as they come: what waits in the buffer is a head, or the line before a chunk.
constexpr size_t kMostUnread = size_t{1} << 20;
constexpr size_t kReadAtOnce = size_t{64} << 10;

}  // namespace

std::string HttpAddress::shown() const {
  if (!socket.empty()) return socket;
  return fmt::format("{}:{}", host.find(':') == host.npos ? host : "[" + host + "]", port);
}

struct HttpClient::Body : std::enable_shared_from_this<Body> {
  Body(Loop& l, HttpAddress a, std::shared_ptr<Tls> t)
      : loop(l), address(std::move(a)), tls(std::move(t)), patience(l), again(l) {}

  // What a step under way reads from and writes to; it stays until the step is done, also when the question
  // is not asked any more and the next one has a connection of its own.
  struct Connection {
    std::shared_ptr<ByteStream> stream;
    boost::beast::flat_buffer buffer{kMostUnread};
    std::optional<http::response_parser<http::string_body>> parser;
    OutgoingMessage<true> question;
  };

  // Every step's end is of one question; once that has ended, however, it does nothing.
  template <class F>
  ByteStream::Told step(F act) {
    return [self = shared_from_this(), kept = connection, number = question_number,
            act](const error_code& error) {
      if (number != self->question_number || !self->done) return;
      if (error) return self->broken(error);
      act(*self);
    };
  }

  bool may_repeat() const { return question.may_repeat || question.method != "POST"; }

  void ask(HttpQuestion q, Ns time, Done d) {
    done = std::move(d);
    ++question_number;
    question = std::move(q);
    patience.set(time, [self = shared_from_this()] {
      self->end(fail(Code::io, "no answer in {:.1f} s", static_cast<double>(self->time_given) / 1e9));
    });
    time_given = time;
    // Beast throws where one of the others has a body.
    constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "DELETE"};
    if (std::ranges::find(kMethods, question.method) == std::end(kMethods))
      return end(fail(Code::invalid, "{} is no question that is asked", to_printable(question.method)));
    // The server may have closed a connection that waited, or may hear a question and then close it: what is
    // asked once only has one of its own.
    if (connection && !may_repeat()) disconnect();
    is_reused = connection != nullptr;
    if (connection) return write();
    connect();
  }

  void connect() {
    if (!address.socket.empty()) return connect_local();
    const bool is_proxied = !address.proxy_host.empty();
    const std::string& at = is_proxied                   ? address.proxy_host
                            : address.connect_to.empty() ? address.host
                                                         : address.connect_to;
    resolve(loop, at, is_proxied ? address.proxy_port : address.port,
            [weak = weak_from_this(), number = question_number](Result<Endpoints> endpoints) {
              const auto self = weak.lock();
              if (!self || number != self->question_number || !self->done) return;
              if (!endpoints) return self->end(tl::unexpected(endpoints.error()));
              self->connect_remote(*endpoints);
            });
  }

  void connect_local() {
    if (address.socket.size() > ByteStream::kMostPath)
      return end(fail(Code::invalid, "the path of a socket must have 1 to {} bytes", ByteStream::kMostPath));
    connect(ByteStream::to(loop, address.socket));
  }

  void connect_remote(Endpoints endpoints) {
    if (address.refuses_link_local) {
      std::erase_if(endpoints, [](const auto& endpoint) { return is_link_local(endpoint.address()); });
      if (endpoints.empty())
        return end(fail(Code::denied, "it is at an address of this link alone, or of a metadata service"));
    }
    if (address.is_plain) return connect(ByteStream::to(loop, std::move(endpoints)));
    if (!tls) return end(fail(Code::invalid, "a host is asked by TLS only"));
    const std::string tunnel = address.proxy_host.empty() ? "" : address.shown();
    connect(ByteStream::to(loop, std::move(endpoints), tls, address.host, tunnel));
  }

  void connect(std::shared_ptr<ByteStream> to) {
    connection = std::make_shared<Connection>();
    connection->stream = std::move(to);
    connection->buffer.reserve(kReadAtOnce);
    connection->stream->open(step([](Body& b) { b.connected(); }));
  }

  void connected() {
    if (address.is_usual_socket) {
      if (const auto r = check_listener(address.socket, connection->stream->peer().uid, geteuid()); !r)
        return end(tl::unexpected(r.error()));
    }
    write();
  }

  void write() {
    http::request<http::string_body> request(http::string_to_verb(question.method), question.target, kHttp11);
    request.set(http::field::host, address.socket.empty() ? address.shown() : "spotter");
    for (const auto& [name, value] : question.headers) request.set(name, value);
    if (!question.authorization.empty()) request.set(http::field::authorization, question.authorization);
    request.body() = question.body;
    connection->question.write(*connection->stream, std::move(request), step([](Body& b) { b.read(); }));
  }

  void read() {
    auto& parser = connection->parser.emplace();
    parser.eager(true);
    parser.body_limit(question.most_answer);
    read_message(*connection->stream, connection->buffer, parser, step([](Body& b) { b.take_answer(); }));
  }

  void take_answer() {
    const bool keeps = connection->parser->keep_alive();
    http::response<http::string_body> answer = connection->parser->release();
    connection->parser.reset();
    if (!keeps) disconnect();
    const auto header = [&](http::field field) { return std::string(answer[field]); };
    end(HttpAnswer{static_cast<int>(answer.result_int()), std::move(answer.body()),
                   header(http::field::content_type), header(http::field::content_encoding),
                   header(http::field::retry_after)});
  }

  void broken(const error_code& error) {
    const bool has_answered = connection->parser && connection->parser->got_some();
    const std::string distrust = connection->stream->distrust();
    const std::string refusal = connection->stream->refusal();
    disconnect();
    // A UNIX socket whose queue is full: its owner is busy, or stopped. Asio takes the kernel's answer for a
    // connect under way and that for a success, so that the first write tells; nothing has been sent.
    const bool is_full = error == asio::error::not_connected || error == asio::error::no_buffer_space;
    if (!address.socket.empty() && is_full) return again.set(kKnockAgain, [this] { connect(); });
    // The server may have closed a connection that waited; the question has not reached it then.
    if (std::exchange(is_reused, false) && !has_answered && may_repeat()) return connect();
    const bool nobody =
        error == asio::error::connection_refused || error == boost::system::errc::no_such_file_or_directory;
    const bool may_not =
        error == asio::error::access_denied || error.category() == asio::error::get_ssl_category();
    end(fail(nobody    ? Code::not_found
             : may_not ? Code::denied
                       : Code::io,
             "{}",
             !refusal.empty()   ? refusal
             : distrust.empty() ? error.message()
                                : "its certificate is not trusted: " + distrust));
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

  void disconnect() {
    if (connection) connection->stream->close();
    connection.reset();
  }

  Loop& loop;
  HttpAddress address;
  std::shared_ptr<Tls> tls;
  std::shared_ptr<Connection> connection;  // none: to be made
  bool is_reused = false;                  // it has served before
  Timer patience, again;
  Ns time_given = 0;
  u64 question_number = 0;
  HttpQuestion question;
  Done done;
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
