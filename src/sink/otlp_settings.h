// What the OTLP sink is told: by its options, else by OpenTelemetry's environment variables, else by the
// protocol's defaults (opentelemetry.io/docs/specs/otel/protocol/exporter).
#pragma once
#include <string>

#include "net/http/http_post.h"
#include "sink/list.h"
#include "sink/otlp_encoder.h"

namespace spotter::sink {

struct OtlpSettings {
  net::HttpPostOptions http;
  net::Headers headers;
  bool is_compressed = true;
  Attributes resource;
};

extern const std::span<const Setting> kOtlpOptions;

// Errors: invalid, with the option or variable.
Result<OtlpSettings> otlp_settings(const Settings& settings, const Surroundings& surroundings);

// "a=1,b=2%20": pairs by commas, values with %XX. Errors: invalid.
Result<Attributes> parse_pairs(const std::string& text);

}  // namespace spotter::sink
