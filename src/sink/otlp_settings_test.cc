#include "sink/otlp_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sink/host_name.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

class OtlpSettingsTest : public testing::Test {
 protected:
  ~OtlpSettingsTest() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  static std::string endpoint(const Settings& settings = {}) {
    const auto all = otlp_settings(settings, {});
    if (!all) return all.error().message;
    const net::Url& url = all->http.url;
    return fmt::format("{}{}:{}{}", url.is_plain ? "" : "tls ", url.host, url.port, url.path);
  }
  static std::string attribute(const OtlpSettings& all, const std::string& key) {
    for (const auto& [k, v] : all.resource) {
      if (k == key) return v;
    }
    return "none";
  }
  std::vector<std::string> set_;
};

TEST_F(OtlpSettingsTest, Endpoints) {
  EXPECT_EQ(endpoint(), "localhost:4318/v1/metrics");
  EXPECT_EQ(endpoint({{"endpoint", "https://a/otlp/"}}), "tls a:443/otlp/v1/metrics");
  EXPECT_EQ(endpoint({{"endpoint", "http://a:1/v1/metrics"}}), "a:1/v1/metrics");
  set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b:2");
  EXPECT_EQ(endpoint(), "b:2/v1/metrics");
  set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://c:3/whole");
  EXPECT_EQ(endpoint(), "c:3/whole");
  EXPECT_EQ(endpoint({{"endpoint", "http://a"}}), "a:80/v1/metrics");
  set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "nowhere");
  EXPECT_TRUE(endpoint().starts_with("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: \"nowhere\" is no URL"))
      << endpoint();
}

TEST_F(OtlpSettingsTest, OtherProtocolsAreRefused) {
  set("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
  EXPECT_TRUE(otlp_settings({}, {}));
  set("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
  EXPECT_EQ(
      otlp_settings({}, {}).error().message,
      "OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken here, only http/protobuf; name an \"endpoint\" of "
      "that");
  EXPECT_TRUE(otlp_settings({{"endpoint", "http://a"}}, {}));
  set("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf");
  EXPECT_TRUE(otlp_settings({}, {}));
}

TEST_F(OtlpSettingsTest, Headers) {
  EXPECT_TRUE(otlp_settings({}, {})->headers.empty());
  set("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, a=b=c ,,d=");
  EXPECT_EQ(otlp_settings({}, {})->headers,
            (net::Headers{{"authorization", "Bearer x"}, {"a", "b=c"}, {"d", ""}}));
  set("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "e=f");
  EXPECT_EQ(otlp_settings({}, {})->headers, (net::Headers{{"e", "f"}}));
  EXPECT_EQ(otlp_settings({{"headers", "g=h"}}, {})->headers, (net::Headers{{"g", "h"}}));
  for (const char* wrong : {"secret", "=x", "a b=c", "a=b%0d%0aX: y", "a=%00"}) {
    set("OTEL_EXPORTER_OTLP_METRICS_HEADERS", wrong);
    const auto all = otlp_settings({}, {});
    ASSERT_FALSE(all) << wrong;
    EXPECT_TRUE(all.error().message.starts_with("OTEL_EXPORTER_OTLP_METRICS_HEADERS: "));
    EXPECT_EQ(all.error().message.find("secret"), std::string::npos);
  }
}

TEST_F(OtlpSettingsTest, TimeoutAndCompression) {
  EXPECT_EQ(otlp_settings({}, {})->http.patience, 10'000'000'000);
  EXPECT_TRUE(otlp_settings({}, {})->is_compressed);
  set("OTEL_EXPORTER_OTLP_TIMEOUT", "2500");
  set("OTEL_EXPORTER_OTLP_COMPRESSION", "none");
  EXPECT_EQ(otlp_settings({}, {})->http.patience, 2'500'000'000);
  EXPECT_FALSE(otlp_settings({}, {})->is_compressed);
  EXPECT_EQ(otlp_settings({{"timeout", "3s"}}, {})->http.patience, 3'000'000'000);
  EXPECT_TRUE(otlp_settings({{"compression", "gzip"}}, {})->is_compressed);
  set("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd");
  EXPECT_FALSE(otlp_settings({}, {}));
  set("OTEL_EXPORTER_OTLP_COMPRESSION", "");  // as if it were not set
  EXPECT_TRUE(otlp_settings({}, {}));
  set("OTEL_EXPORTER_OTLP_TIMEOUT", "soon");
  EXPECT_FALSE(otlp_settings({}, {}));
}

TEST_F(OtlpSettingsTest, Files) {
  set("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca");
  EXPECT_EQ(otlp_settings({}, {})->http.tls.trusted, "/ca");
  EXPECT_EQ(otlp_settings({{"ca", "/other"}}, {})->http.tls.trusted, "/other");
  set("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key");
  EXPECT_FALSE(otlp_settings({}, {}));
  set("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/certificate");
  EXPECT_EQ(otlp_settings({}, {})->http.tls.certificate, "/certificate");
  EXPECT_NE(make_sink("otlp", {{"endpoint", "https://a"}}, {}).error().message.find("/ca cannot be used"),
            std::string::npos);
}

TEST_F(OtlpSettingsTest, Resource) {
  const Folder folder;
  std::filesystem::create_directories(folder.path("etc"));
  std::filesystem::create_directories(folder.path("proc"));
  std::ofstream(folder.path("etc/machine-id")) << "0123456789abcdef0123456789abcdef\n";
  std::ofstream(folder.path("proc/stat")) << "cpu 1 2\nbtime 1700000000\nprocesses 5\n";
  const Surroundings surroundings{.host = Host::at(folder.path("")), .host_name = "n1"};
  EXPECT_EQ(boot_time(surroundings.host), 1'700'000'000'000'000'000);
  auto all = otlp_settings({}, surroundings).value();
  EXPECT_EQ(attribute(all, "service.name"), "spotter");
  EXPECT_EQ(attribute(all, "host.name"), "n1");
  EXPECT_EQ(attribute(all, "host.id"), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(attribute(all, "service.instance.id"), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(attribute(all, "os.type"), "linux");
  EXPECT_NE(attribute(all, "service.version"), "none");
  std::filesystem::remove(folder.path("etc/machine-id"));
  EXPECT_EQ(attribute(otlp_settings({}, surroundings).value(), "service.instance.id"), "n1");
  set("OTEL_RESOURCE_ATTRIBUTES", "cluster=a%2Cb,service.name=x,service.instance.id=i");
  all = otlp_settings({}, surroundings).value();
  EXPECT_EQ(attribute(all, "service.instance.id"), "i");
  EXPECT_EQ(attribute(all, "cluster"), "a,b");
  EXPECT_EQ(attribute(all, "service.name"), "x");
  set("OTEL_SERVICE_NAME", "y");
  EXPECT_EQ(attribute(otlp_settings({}, surroundings).value(), "service.name"), "y");
  EXPECT_EQ(attribute(otlp_settings({{"service_name", "z"}}, surroundings).value(), "service.name"), "z");
}

TEST(HostNameTest, WhatIsNotTold) {
  const Folder folder;
  const Host host = Host::at(folder.path(""));
  EXPECT_EQ(machine_id(host), "");
  EXPECT_EQ(boot_time(host), 0);
  std::filesystem::create_directories(folder.path("etc"));
  std::ofstream(folder.path("etc/machine-id")) << "uninitialized\n";
  EXPECT_EQ(machine_id(host), "");
}

}  // namespace
}  // namespace spotter::sink
