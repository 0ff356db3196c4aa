#include "api/metrics_page.h"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include "agent/telemetry/table_kinds.h"
#include "base/time.h"
#include "base/version.h"
#include "collect/list.h"

namespace spotter::api {
namespace {

constexpr Ns kNow = 1'700'000'000 * kSecond;
constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";

constexpr Field kColumns[] = {
    {"n", Type::integer, Unit::none, Role::key, "Which."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "How large."},
};

SharedBatch batch(const char* table, Ns unix_ns, i64 rows = 1) {
  auto batch = std::make_shared<Batch>();
  batch->unix_ns = unix_ns;
  batch->period_ns = kSecond;
  Table& made = batch->tables.emplace_back(table, kColumns);
  for (i64 n = 0; n < rows; ++n) made.append({n, 10 * n});
  return batch;
}

net::HttpAnswer page(const std::vector<SharedBatch>& latest, std::string_view accept = {},
                     std::string_view encoding = {}) {
  net::HttpRequest request;
  request.target = "/metrics";
  request.accept = accept;
  request.accept_encoding = encoding;
  return metrics_page(latest, kNow, request).value();
}

bool has(const net::HttpAnswer& answer, std::string_view text) {
  return answer.body.find(text) != std::string::npos;
}

TEST(MetricsPage, TheNewestOfEachTable) {
  const net::HttpAnswer answer = page({batch("one", kNow - kSecond / 2), batch("two", kNow - 5 * kSecond)});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, kText);
  EXPECT_EQ(answer.content_encoding, "");
  EXPECT_TRUE(has(answer, "\nspotter_one_size_bytes{n=\"0\"} 0\n")) << answer.body;
  EXPECT_TRUE(has(answer, "\nspotter_two_size_bytes{n=\"0\"} 0\n"));
  EXPECT_TRUE(has(answer, "\nspotter_sample_timestamp_seconds{table=\"one\"} 1699999999.5\n"));
  EXPECT_TRUE(has(answer, "\nspotter_sample_timestamp_seconds{table=\"two\"} 1699999995\n"));
}

TEST(MetricsPage, WhatIsOldIsToldButNotShown) {
  const net::HttpAnswer answer = page({batch("one", kNow - 6 * kSecond), batch("two", kNow + 60 * kSecond)});
  EXPECT_FALSE(has(answer, "spotter_one_size_bytes"));
  EXPECT_TRUE(has(answer, "\nspotter_sample_timestamp_seconds{table=\"one\"} 1699999994\n"));
  EXPECT_TRUE(has(answer, "spotter_two_size_bytes"));  // the clock was set back since
}

TEST(MetricsPage, OfOneTableTheNewest) {
  auto both = std::make_shared<Batch>(*batch("one", kNow - kSecond, 3));
  both->tables.push_back(batch("two", 0)->tables[0]);
  const net::HttpAnswer answer = page({batch("one", kNow), both});
  EXPECT_TRUE(has(answer, "spotter_one_size_bytes{n=\"0\"}"));
  EXPECT_FALSE(has(answer, "spotter_one_size_bytes{n=\"1\"}"));
  EXPECT_TRUE(has(answer, "spotter_two_size_bytes{n=\"0\"}"));
  EXPECT_TRUE(has(answer, "\nspotter_sample_timestamp_seconds{table=\"one\"} 1700000000\n"));
  EXPECT_TRUE(has(answer, "\nspotter_exposition_rows_left_out{table=\"one\"} 0\n"));
}

TEST(MetricsPage, ProcessesAndEventsAreNoSeries) {
  constexpr Field kEvents[] = {
      {"time_ns", Type::integer, Unit::ns, Role::time, "When."},
      {"count", Type::integer, Unit::count, Role::value, "How many."},
  };
  auto made = std::make_shared<Batch>();
  made->unix_ns = kNow;
  Table& events = made->tables.emplace_back("event", kEvents);
  events.is_events = true;
  events.append({1, 2});
  Table& processes = made->tables.emplace_back("process", agent::find_table_kind("process")->columns);
  std::vector<Value> row(processes.columns());
  row[0] = 17;
  row[processes.column("threads")] = 1;
  processes.append(row);
  const net::HttpAnswer answer = page({made, batch("one", kNow)});
  EXPECT_FALSE(has(answer, "event"));
  EXPECT_FALSE(has(answer, "process"));
  EXPECT_TRUE(has(answer, "spotter_one_size_bytes"));
}

TEST(MetricsPage, Formats) {
  const auto type = [](std::string_view accept) { return page({}, accept).content_type; };
  // What Prometheus 2.42 and 3 send.
  EXPECT_EQ(
      type("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
           "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
      kOpenMetrics);
  EXPECT_EQ(type("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                 "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,"
                 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
            kOpenMetrics);
  EXPECT_EQ(type("Application/OpenMetrics-Text; Version=1.0.0"), kOpenMetrics);
  EXPECT_EQ(type("application/openmetrics-text"), kOpenMetrics);
  for (const char* text :
       {"", "*/*", "text/plain", "application/json", "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=x",
        "application/openmetrics-text;q=0.5,text/plain", "application/openmetrics-text;q=0.5,*/*;q=0.6",
        ",;,;=,q=1"})
    EXPECT_EQ(type(text), kText) << text;
  EXPECT_TRUE(page({}, "application/openmetrics-text").body.ends_with("# EOF\n"));
  EXPECT_FALSE(has(page({}), "# EOF"));
}

std::string inflated(const std::string& bytes) {
  std::string text(1 << 20, '\0');
  size_t size = 0;
  libdeflate_decompressor* d = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_gzip_decompress(d, bytes.data(), bytes.size(), text.data(), text.size(), &size);
  libdeflate_free_decompressor(d);
  EXPECT_EQ(result, LIBDEFLATE_SUCCESS);
  text.resize(size);
  return text;
}

TEST(MetricsPage, Gzip) {
  const std::vector<SharedBatch> large{batch("one", kNow, 100)}, small{};
  const std::string plain = page(large).body;
  for (const char* takes : {"gzip", "deflate, GZIP;q=0.5", "x-gzip", "*"}) {
    const net::HttpAnswer answer = page(large, {}, takes);
    EXPECT_EQ(answer.content_encoding, "gzip") << takes;
    EXPECT_LT(answer.body.size(), plain.size() / 5);
    EXPECT_EQ(inflated(answer.body), plain);
    EXPECT_EQ(page(small, {}, takes).content_encoding, "");
  }
  for (const char* not_so : {"", "deflate", "gzip;q=0", "gzip;q=0.0, *", "identity, *;q=0"}) {
    EXPECT_EQ(page(large, {}, not_so).content_encoding, "") << not_so;
    EXPECT_EQ(page(large, {}, not_so).body, plain);
  }
}

TEST(MetricsPage, TheBuild) {
  EXPECT_TRUE(has(page({}), fmt::format("\nspotter_build_info{{version=\"{}\",compiler=\"", kVersion)))
      << page({}).body;
}

TEST(MetricsPage, TheCollectorsThatAreWanted) {
  const auto of = [](const char* table, const char* by) {
    auto made = std::make_shared<Batch>(*batch(table, kNow));
    made->by = by;  // several collectors may have looked together
    return made;
  };
  const std::vector<SharedBatch> latest{of("cpu", "sampler"), of("disk", "sampler"),
                                        of("memory", "blocking")};
  const auto tables = [&](const std::string& query) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/metrics" + query;
    const net::HttpAnswer answer = answer_metrics_door({latest, kNow}, request);
    if (answer.status != 200) return fmt::format("{} {}", answer.status, answer.body);
    std::string found;
    for (const char* table : {"cpu", "disk", "memory"})
      if (has(answer, fmt::format("spotter_{}_size_bytes{{", table))) found += fmt::format("{} ", table);
    EXPECT_TRUE(has(answer, "spotter_build_info"));
    return found;
  };
  EXPECT_EQ(tables(""), "cpu disk memory ");
  EXPECT_EQ(tables("?collect[]=disk"), "disk ");
  EXPECT_EQ(tables("?collect%5B%5D=disk&x=y&collect[]=cpu"), "cpu disk ");
  EXPECT_EQ(tables("?exclude[]=disk"), "cpu memory ");
  EXPECT_EQ(tables("?collect[]=load"), "") << "it is not on";
  EXPECT_EQ(tables("?collect[]=tape"), "400 collect[]: there is no collector \"tape\"\n");
  EXPECT_EQ(tables("?collect[]=cpu&exclude[]=disk"), "400 collect[] and exclude[] exclude each other\n");
}

TEST(MetricsPage, Probes) {
  net::HttpRequest request;
  request.method = "GET";
  const auto status = [&](const char* path, bool is_ready) {
    request.target = path;
    return answer_metrics_door({{}, kNow, is_ready}, request).status;
  };
  EXPECT_EQ(status("/-/healthy", false), 200);
  EXPECT_EQ(status("/-/ready", true), 200);
  EXPECT_EQ(status("/-/ready", false), 503);
  EXPECT_EQ(status("/-/reload", true), 404);
}

TEST(MetricsPage, Door) {
  const std::vector<SharedBatch> latest{batch("one", kNow)};
  net::HttpRequest request;
  request.method = "GET";
  request.accept = "application/openmetrics-text";
  request.target = "/metrics?x=y";
  EXPECT_EQ(answer_metrics_door({latest, kNow}, request).content_type, kOpenMetrics);
  for (const char* other : {"/", "/metrics/", "/metricsx", "/v1/status", ""}) {
    request.target = other;
    EXPECT_EQ(answer_metrics_door({latest, kNow}, request).status, 404) << other;
  }
  request.target = "/metrics";
  request.method = "POST";
  const net::HttpAnswer refused = answer_metrics_door({latest, kNow}, request);
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.content_type, "text/plain; charset=utf-8");
  ASSERT_EQ(refused.headers.size(), 1u);
  EXPECT_EQ(refused.headers[0].second, "GET");
}

TEST(MetricsPage, DoorForThisHostAlone) {
  const std::vector<SharedBatch> latest{batch("one", kNow)};
  net::HttpRequest request;
  request.method = "GET";
  request.target = "/metrics";
  for (const char* host : {"", "localhost:9100", "127.0.0.1:9100", "gpu07.example:9100"}) {
    request.host = host;
    EXPECT_EQ(answer_metrics_door({latest, kNow, true, "gpu07.example"}, request).status, 200) << host;
  }
  request.host = "evil.example:9100";
  EXPECT_EQ(answer_metrics_door({latest, kNow, true, "gpu07.example"}, request).status, 403);
  EXPECT_EQ(answer_metrics_door({latest, kNow}, request).status, 200);
}

}  // namespace
}  // namespace spotter::api
