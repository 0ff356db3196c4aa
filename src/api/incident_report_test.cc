// GET /v1/incidents/ID/report: who gets it, as what, and what is said where there is none.
#include <gtest/gtest.h>

#include <optional>

#include "agent/incidents/report_folder.h"
#include "agent/test_agent.h"
#include "api/doors.h"
#include "api/routes.h"
#include "base/gzip_writer.h"
#include "net/http/browser_headers.h"

namespace spotter::api {
namespace {

using respond::Incident;
using respond::ReportOfIncident;

constexpr i64 kUser = 12345, kOther = 12346;
constexpr const char* kPage = "<!doctype html><title>4711</title>rank 3";

class IncidentReportTest : public testing::Test, protected agent::TestAgent {
 protected:
  // An agent that begins with these incidents.
  void begin(const std::vector<Incident>& incidents, const std::string& file) {
    agent_.reset();
    options_.respond.is_on = true;
    options_.incidents_file = file;
    if (!file.empty()) {
      auto memory = agent::IncidentMemory::open({.path = file});
      CHECK(memory);
      for (const Incident& incident : incidents) (*memory)->put(incident, {}, {}, incident.opened);
    }
    restart();
    DoorOptions doors;
    doors.api_socket = (root_ / "api").string();
    auto opened = Doors::open(loop_, *agent_, doors);
    CHECK(opened);
    doors_ = std::move(*opened);
  }
  Incident incident_of(const std::string& job, std::optional<ReportOfIncident> report) const {
    Incident incident{.cluster = "local", .family = "speed", .n = 1, .sequence = 1};
    incident.job.id = job;
    incident.state = respond::IncidentState::verdict;
    incident.opened = incident.updated = agent_->host.unix_now();
    if (report) incident.captures.emplace_back();
    incident.report = std::move(report);
    return incident;
  }
  ReportOfIncident here(std::optional<i64> uid) const { return {agent_->host_name, uid}; }

  net::HttpAnswer ask(const std::string& id, i64 uid = geteuid(), const std::string& takes = "") {
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/v1/incidents/" + id + "/report";
    request.accept_encoding = takes;
    request.peer.uid = uid;
    request.peer.pid = getpid();
    std::optional<net::HttpAnswer> got;
    answer_http({*agent_, *doors_}, std::move(request), [&](net::HttpAnswer answer) {
      got = std::move(answer);
      loop_.stop();
    });
    if (!got) run();
    return got.value_or(net::HttpAnswer{});
  }
  // The status, and what the error says.
  void expect_refusal(const net::HttpAnswer& answer, int status, const std::string& words) {
    EXPECT_EQ(answer.status, status) << words;
    EXPECT_NE(answer.body.find(words), answer.body.npos) << answer.body;
  }

  const std::string file_ = (root_ / "incidents.db").string();
  std::unique_ptr<Doors> doors_;
};

TEST_F(IncidentReportTest, AFileToSaveForThoseWhoSeeTheIncident) {
  begin({incident_of("4711", here(kUser)), incident_of("../x y", here({}))}, file_);
  agent::ReportFolder folder(agent::ReportFolder::beside(file_));
  ASSERT_TRUE(folder.keep("4711-speed-1", kPage));
  ASSERT_TRUE(folder.keep("../x y-speed-1", "another"));
  const net::HttpAnswer answer = ask("4711-speed-1");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, kPage);
  EXPECT_EQ(answer.content_type, "text/html; charset=utf-8");
  std::map<std::string, std::string> headers(answer.headers.begin(), answer.headers.end());
  EXPECT_EQ(headers["Content-Disposition"], "attachment; filename=\"report.html\"");
  EXPECT_EQ(headers["Content-Security-Policy"], net::kDataPolicy);
  EXPECT_EQ(headers["X-Content-Type-Options"], "nosniff");
  const net::HttpAnswer packed = ask("4711-speed-1", geteuid(), "gzip");
  EXPECT_EQ(packed.content_encoding, "gzip");
  EXPECT_EQ(gunzipped(packed.body).value(), kPage);
  EXPECT_EQ(ask("..%2Fx%20y-speed-1").body, "another");
}

TEST_F(IncidentReportTest, WhoMayTraceHisOwnProcessesAloneSeesNoOthersReport) {
  begin({incident_of("1", here(kUser)), incident_of("2", here({}))}, file_);
  agent::ReportFolder folder(agent::ReportFolder::beside(file_));
  for (const char* id : {"1-speed-1", "2-speed-1"}) ASSERT_TRUE(folder.keep(id, kPage));
  EXPECT_EQ(ask("1-speed-1", kUser).body, kPage);
  expect_refusal(ask("1-speed-1", kOther), 403, "its report is not of processes of user 12346 alone");
  expect_refusal(ask("2-speed-1", kUser), 403, "its report is not of processes of user 12345 alone");
  expect_refusal(ask("1-speed-1", -1), 401, "may not look");
}

TEST_F(IncidentReportTest, WhyThereIsNone) {
  Incident traced = incident_of("2", {});
  traced.captures.emplace_back();
  begin({incident_of("1", {}), traced, incident_of("3", ReportOfIncident{"gpu07", kUser}),
         incident_of("4", here({}))},
        file_);
  expect_refusal(ask("1-speed-1"), 404, "it has no report: nothing was traced for it");
  expect_refusal(ask("2-speed-1"), 404, "it has no report: none was made of what was traced");
  expect_refusal(ask("3-speed-1"), 404, "its report is on gpu07: ask the agent there (--host)");
  expect_refusal(ask("4-speed-1"), 404, "its report was removed");
  expect_refusal(ask("5-speed-1"), 404, "there is no incident 5-speed-1");
  expect_refusal(ask("..%2F..%2Fetc%2Fpasswd"), 404, "there is no incident");
}

TEST_F(IncidentReportTest, AnAgentWithoutAFileForIncidentsKeepsNone) {
  begin({}, "");
  EXPECT_EQ(agent_->incidents.report_state(), std::nullopt);
}

}  // namespace
}  // namespace spotter::api
