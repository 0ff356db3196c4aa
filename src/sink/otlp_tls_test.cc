#include <gtest/gtest.h>

#include <thread>

#include "net/certificates.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/tls.h"
#include "sink/list.h"
#include "sink/test_batches.h"

namespace spotter::sink {
namespace {

class OtlpTlsTest : public testing::Test {
 protected:
  OtlpTlsTest() {
    const net::Certificate authority = net::make_authority("test").value();
    write("ca.pem", authority.certificate);
    const net::Certificate server = net::issue(authority, {"receiver", {"127.0.0.1"}, true}).value();
    write("server.pem", server.certificate);
    write("server-key.pem", server.key);
    const net::Certificate client = net::issue(authority, {"agent", {}, false}).value();
    write("agent.pem", client.certificate);
    write("agent-key.pem", client.key);
    write("other.pem", net::make_authority("other").value().certificate);
    const auto tls = net::Tls::server({file("server.pem"), file("server-key.pem"), file("ca.pem")}).value();
    server_ = net::HttpServer::open(
                  loop_, "127.0.0.1", 0, tls,
                  [this](net::HttpRequest request, net::HttpServer::Respond respond) {
                    certificate_ = request.peer.certificate;
                    respond({.status = 200, .body = {}});
                  },
                  [](const Error&) { return net::HttpAnswer{.status = 400, .body = {}}; })
                  .value();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~OtlpTlsTest() override {
    loop_.stop();
    thread_.join();
  }
  std::string file(const std::string& name) const { return folder_.path(name); }
  void write(const std::string& name, const std::string& text) { std::ofstream(file(name)) << text; }
  Result<void> deliver(Settings settings, const std::string& host = "127.0.0.1") {
    settings["endpoint"] = fmt::format("https://{}:{}", host, server_->port());
    settings["compression"] = "none";
    const auto sink = make_sink("otlp", settings, {}).value();
    const Share shares[] = {share_of(disk_batch(1, 1))};
    return sink->deliver(shares).result;
  }

  const Folder folder_;
  net::Loop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::string certificate_;
  std::thread thread_;
};

TEST_F(OtlpTlsTest, WithCertificatesOfBothSides) {
  const auto arrived =
      deliver({{"ca", file("ca.pem")}, {"certificate", file("agent.pem")}, {"key", file("agent-key.pem")}});
  ASSERT_TRUE(arrived) << arrived.error().message;
  EXPECT_EQ(certificate_, "agent");
}

TEST_F(OtlpTlsTest, AReceiverThatIsNotTrustedGetsNothingAndIsTriedAgain) {
  const auto other = deliver({{"ca", file("other.pem")}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::io);
  EXPECT_NE(other.error().message.find("its certificate is not trusted"), std::string::npos)
      << other.error().message;
  const auto other_name = deliver({{"ca", file("ca.pem")}}, "localhost");
  ASSERT_FALSE(other_name);
  EXPECT_EQ(other_name.error().code, Code::io);
}

}  // namespace
}  // namespace spotter::sink
