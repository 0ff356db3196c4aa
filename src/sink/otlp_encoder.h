// Batches as OTLP metrics: messages of opentelemetry/proto/metrics/v1/metrics.proto, written by hand.
//
// Each column of numbers is a metric spotter.<table>.<column>; those that OpenTelemetry has names for are
// there under these, too (semantic_names.h). Counters are cumulative monotonic sums, the rest gauges. Units
// are UCUM's: times are seconds, so "_ns" is taken off the name. Time is when it was measured. Tables of
// events are no metrics. Attributes are the keys and the details that have a name; who uses a thing is one of
// gauges alone.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sink/counter_starts.h"
#include "sink/sink.h"

namespace spotter::sink {

using Attributes = std::vector<std::pair<std::string, std::string>>;

class OtlpEncoder {
 public:
  // `resource`: what all is about. `boot`, and when the agent began: Unix time; 0: not known.
  OtlpEncoder(const Attributes& resource, Ns boot, Ns agent_start);

  // A field of ExportMetricsServiceRequest; several of them one after the other are a request. Empty: nothing
  // is known. Each batch once and in order, since counters are compared with what they were.
  std::string encode(const Share& share);

 private:
  std::string resource_;
  Ns boot_, agent_start_;
  CounterStarts starts_;
};

}  // namespace spotter::sink
