// OTLP's answer: what a receiver says of what it was sent. ExportMetricsServiceResponse and
// ExportLogsServiceResponse are alike (opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Response").
#pragma once
#include <optional>
#include <string>

#include "base/types.h"
#include "net/http/http.h"

namespace spotter::sink {

struct OtlpAnswer {
  i64 rejected = 0;  // data points, or log records
  std::string message = {};
};

// Of an answer with a status of success. nullopt: it is none, but a page of some other server.
std::optional<OtlpAnswer> read_otlp_answer(const net::HttpAnswer& reply);

}  // namespace spotter::sink
