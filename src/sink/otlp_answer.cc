#include "sink/otlp_answer.h"

#include "sink/protobuf.h"

namespace spotter::sink {
namespace {

namespace response {
constexpr u32 kPartialSuccess = 1;
}
namespace partial_success {
constexpr u32 kRejected = 1, kMessage = 2;
}

}  // namespace

std::optional<OtlpAnswer> read_otlp_answer(const net::HttpAnswer& reply) {
  OtlpAnswer answer;
  if (reply.content_type.starts_with("application/json") && reply.body.starts_with('{')) return answer;
  ProtobufReader reader(reply.body);
  while (reader.next()) {
    if (reader.field != response::kPartialSuccess) continue;
    ProtobufReader part(reader.text);
    while (part.next()) {
      if (part.field == partial_success::kRejected) answer.rejected = static_cast<i64>(part.integer);
      if (part.field == partial_success::kMessage) answer.message = std::string(part.text);
    }
    if (part.is_broken) return std::nullopt;
  }
  if (reader.is_broken || answer.rejected < 0) return std::nullopt;
  return answer;
}

}  // namespace spotter::sink
