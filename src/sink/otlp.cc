// otlp: batches to a receiver of OTLP by HTTP, as protobuf: OpenTelemetry's collector, and most of what keeps
// metrics. opentelemetry.io/docs/specs/otlp, "OTLP/HTTP".
#include <algorithm>
#include <deque>

#include "base/gzip_writer.h"
#include "base/system/host.h"
#include "base/text/utf8.h"
#include "sink/host_name.h"
#include "sink/list.h"
#include "sink/otlp_answer.h"
#include "sink/otlp_encoder.h"
#include "sink/otlp_settings.h"
#include "sink/protobuf.h"

namespace spotter::sink {
namespace {

constexpr size_t kMostBody = size_t{4} << 20;  // before compression
constexpr size_t kMostWords = 200;             // bytes of what the other side says

std::string in_words(std::string text) {
  text.resize(std::min(text.size(), kMostWords));
  return to_printable(text);
}

class Otlp : public Sink {
 public:
  Otlp(std::unique_ptr<net::HttpPost> post, OtlpSettings settings, const Host& host)
      : post_(std::move(post)),
        settings_(std::move(settings)),
        encoder_(settings_.resource, boot_time(host), host.unix_now()) {
    settings_.headers.emplace_back("content-type", "application/x-protobuf");
    settings_.headers.emplace_back("user-agent", "spotter/" SPOTTER_VERSION);
    if (settings_.is_compressed) settings_.headers.emplace_back("content-encoding", "gzip");
  }

  Delivery deliver(std::span<const Share> shares) override {
    encode(shares);
    std::string body;
    size_t batches = 0;
    for (const Encoded& encoded : encoded_) {
      if (batches > 0 && body.size() + encoded.bytes.size() > most_body_) break;
      body += encoded.bytes;
      ++batches;
    }
    Delivery delivery{.batches = batches};
    if (!body.empty()) send(std::move(body), delivery);
    if (delivery.result || !is_tried_again(delivery.result.error()))
      encoded_.erase(encoded_.begin(), encoded_.begin() + static_cast<std::ptrdiff_t>(batches));
    return delivery;
  }

  void interrupt() override { post_->interrupt(); }

 private:
  struct Encoded {
    SharedBatch batch;
    std::string bytes;
  };

  // Each batch once, however often it is tried. Those that did not come again were dropped.
  void encode(std::span<const Share> shares) {
    while (!encoded_.empty() && encoded_.front().batch != shares[0].batch) encoded_.pop_front();
    size_t bytes = 0;
    for (size_t i = 0; i < shares.size() && (i == 0 || bytes < most_body_); ++i) {
      if (i == encoded_.size()) encoded_.push_back({shares[i].batch, encoder_.encode(shares[i])});
      bytes += encoded_[i].bytes.size();
    }
  }

  void send(std::string body, Delivery& delivery) {
    sent_ = body.size();
    if (settings_.is_compressed) {
      auto small = gzipped(body);
      if (!small) return void(delivery.result = tl::unexpected(small.error()));
      body = std::move(*small);
    }
    const auto reply = post_->post(std::move(body), settings_.headers);
    if (!reply) return void(delivery.result = tl::unexpected(reply.error()));
    judge(*reply, delivery);
  }

  void judge(const net::HttpAnswer& reply, Delivery& delivery) {
    const int status = reply.status;
    if (status >= 200 && status < 300) return taken(reply, delivery);
    const std::string words = in_words(said(reply));
    const auto refused = [&](Code code, const char* what) {
      delivery.result = fail(code, "{}: {} {}{}{}", shown(), what, status, words.empty() ? "" : ": ", words);
    };
    if (status == 429 || status == 502 || status == 503 || status == 504) {
      delivery.pause = net::retry_after(reply.retry_after, unix_clock_now());
      return refused(Code::busy, "it asks for patience, with status");
    }
    if (status == 413 && delivery.batches > 1) {
      most_body_ = sent_ / 2;
      return refused(Code::busy, "less is sent at once, since it answers");
    }
    if (status == 401 || status == 403)
      return refused(Code::denied, "it does not accept the credentials, with status");
    if (status >= 300 && status < 400)
      return refused(Code::invalid, "it says to go elsewhere, which is to be the endpoint then, with status");
    refused(Code::invalid, "it refuses, with status");
  }

  // A page of some other server may come with status 200, too: what it says has to be an answer.
  void taken(const net::HttpAnswer& reply, Delivery& delivery) {
    const auto answer = read_otlp_answer(reply);
    if (!answer) {
      delivery.result = fail(Code::invalid, "{}: what it answers is not OTLP's; is this its URL? {}", shown(),
                             in_words(reply.body));
      return;
    }
    delivery.rejected = answer->rejected;
    delivery.rejected_why = in_words(answer->message);
  }

  // Errors come as google.rpc.Status, whose message is field 2, or as plain words.
  static std::string said(const net::HttpAnswer& reply) {
    if (!reply.content_type.starts_with("application/x-protobuf")) return reply.body;
    ProtobufReader reader(reply.body);
    while (reader.next()) {
      if (reader.field == 2) return std::string(reader.text);
    }
    return {};
  }

  std::string shown() const {
    const net::Url& url = settings_.http.url;
    return fmt::format("{}:{}{}", url.host, url.port, url.path.substr(0, url.path.find('?')));
  }

  std::unique_ptr<net::HttpPost> post_;
  OtlpSettings settings_;
  OtlpEncoder encoder_;
  std::deque<Encoded> encoded_;
  size_t most_body_ = kMostBody;
  size_t sent_ = 0;  // bytes of the last request, before compression
};

}  // namespace

const SinkKind kOtlp = {
    "otlp",
    "OpenTelemetry's protocol by HTTP.",
    [](const Settings&) -> Ns { return 10'000'000'000; },
    true,
    kOtlpOptions,
    [](const Settings& given, const Surroundings& s) -> Result<std::unique_ptr<Sink>> {
      TRY_ASSIGN(OtlpSettings settings, otlp_settings(given, s));
      TRY_ASSIGN(std::unique_ptr<net::HttpPost> post, net::HttpPost::open(settings.http));
      return std::make_unique<Otlp>(std::move(post), std::move(settings), s.host);
    },
};

}  // namespace spotter::sink
