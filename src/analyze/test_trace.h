// For tests: random small traces together with the plain rows that they were made of, so that oracles need
// nothing of Trace; and short ways to run one map and to look at its table.
#pragma once
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/list.h"
#include "trace/builder.h"

namespace spotter::analyze {

struct HostSpan {
  std::string category, name;
  i64 thread = 0;
  Ns start = 0, end = 0;
};

struct DeviceSpan {
  std::string kind, name;
  i64 device = 0, stream = 0;
  Ns start = 0, end = 0;
  std::optional<size_t> launch;  // index into TestTrace::host
};

struct TestTrace {
  std::vector<HostSpan> host;      // by row
  std::vector<DeviceSpan> device;  // by row
  TracePtr trace;
};

// Some dozens of spans within 300 ns: nested and overlapping host spans on two threads, and device work of
// all kinds on a few streams, of which most but not all have a launch.
inline TestTrace random_trace(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<u64>(n)); };
  TestTrace t;
  trace::TraceBuilder builder;
  builder.info().base_ns = 1'000'000;

  const char* const categories[] = {"cpu_op",       "cpu_op",      "cpu_op",          "cuda_runtime",
                                    "cuda_runtime", "cuda_driver", "python_function", "user_annotation"};
  const i64 host_spans = below(60);
  for (i64 i = 0; i < host_spans; ++i) {
    HostSpan span{categories[below(8)], fmt::format("name{}", below(5)), below(2), below(260), 0};
    span.end = span.start + (below(2) == 0 ? below(100) : below(12));
    builder.span(span.category, span.name, 1, span.thread, span.start, span.end - span.start,
                 {{Arg::correlation, i + 1}});
    t.host.push_back(span);
  }

  struct Sort {
    const char *category, *name, *kind;
  };
  const Sort sorts[] = {{"kernel", "gemm", "compute"},
                        {"kernel", "add", "compute"},
                        {"Kernel", "ncclDevKernel", "communication"},
                        {"gpu_memcpy", "Memcpy HtoD", "memory"},
                        {"gpu_memset", "Memset", "memory"}};
  const i64 device_spans = below(40), streams = 1 + below(3);
  for (i64 i = 0; i < device_spans; ++i) {
    const Sort& sort = sorts[below(5)];
    DeviceSpan span{sort.kind, sort.name, below(2), 7 + below(streams), below(280), 0, {}};
    span.end = span.start + (below(6) == 0 ? 0 : below(20));
    const i64 correlation = below(host_spans + 10);  // 0 and numbers beyond the host spans lead nowhere
    const bool is_launched = correlation > 0 && correlation <= host_spans &&
                             t.host[static_cast<size_t>(correlation - 1)].category.starts_with("cuda_");
    if (is_launched) span.launch = static_cast<size_t>(correlation - 1);
    builder.span(sort.category, sort.name, span.device, span.stream, span.start, span.end - span.start,
                 {{Arg::correlation, correlation}, {Arg::device, span.device}, {Arg::stream, span.stream}});
    t.device.push_back(span);
  }
  // Rows that are no device work, whatever they look like.
  builder.span("cuda_sync", "Stream Sync", 0, 7, 0, 500, {{Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  builder.span("gpu_user_annotation", "step", 0, 7, 0, 500, {{Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  builder.mark('i', "kernel", "gemm", 0, 7, 600, {{Arg::stream, i64{7}}});
  t.trace = builder.build();
  return t;
}

// The values of all parameters: these, else the fallbacks.
inline ParamValues args_for(const Analysis& analysis, ParamSettings params = {}) {
  ParamValues args;
  for (const Param& param : analysis.params) args.set(param.name, fallback_of(param));
  for (const auto& [name, value] : params) args.set(name, value);
  return args;
}

inline Table run_map(const char* analysis_name, const Trace& trace, ParamSettings params = {}) {
  const Analysis* analysis = find_analysis(analysis_name);
  CHECK(analysis != nullptr);
  Result<Table> table = analysis->map(trace, args_for(*analysis, std::move(params)));
  CHECK(table.has_value());
  return std::move(*table);
}

inline Value cell(const Table& table, size_t row, std::string_view column) {
  return table.at(row, table.column(column));
}
inline i64 integer(const Table& table, size_t row, std::string_view column) {
  return table.integer(row, table.column(column));
}
inline double real(const Table& table, size_t row, std::string_view column) {
  return table.real(row, table.column(column));
}
inline std::string text(const Table& table, size_t row, std::string_view column) {
  return std::string(table.text(row, table.column(column)));
}

}  // namespace spotter::analyze
