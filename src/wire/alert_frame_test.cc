#include "wire/alert_frame.h"

#include <gtest/gtest.h>

#include "base/moment.h"

namespace spotter::wire {
namespace {

// As Debian's Alertmanager 0.25 sends it, with members of newer ones.
const std::string kBody =
    R"({"version":"4","groupKey":"{}:{alertname=\"StepSlow\"}","truncatedAlerts":1,"receiver":"spotter",)"
    R"("status":"resolved","notification_reason":"x","groupLabels":{},"commonLabels":{},"commonAnnotations":{},)"
    R"("externalURL":"http://am:9093","alerts":[)"
    R"({"status":"firing","labels":{"alertname":"StepSlow","job_id":"4711"},"annotations":{"summary":"slow"},)"
    R"("startsAt":"2026-11-23T04:46:46.5Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"",)"
    R"("fingerprint":"b3d8110e04668ca5"},)"
    R"({"status":"resolved","labels":{},"startsAt":"2026-11-23T04:46:46Z","fingerprint":"2"}]})";

TEST(AlertFrame, OfAlertmanager) {
  const auto frame = read_alert_frame(kBody);
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(frame->sender, "alertmanager");
  EXPECT_EQ(frame->truncated, 1);
  ASSERT_EQ(frame->alerts.size(), 2u);
  const respond::Alert& alert = frame->alerts[0];
  EXPECT_TRUE(alert.is_firing);  // by its own status, not the frame's
  EXPECT_EQ(alert.label("job_id"), "4711");
  EXPECT_EQ(alert.label("no such"), "");
  EXPECT_EQ(utc_text(alert.starts), "2026-11-23T04:46:46.500Z");
  EXPECT_EQ(alert.fingerprint, "b3d8110e04668ca5");
  EXPECT_EQ(alert.summary, "slow");
  EXPECT_FALSE(frame->alerts[1].is_firing);
}

TEST(AlertFrame, OfGrafana) {
  const auto frame = read_alert_frame(
      R"({"version":"1","orgId":1,"title":"t","state":"alerting","message":"m","alerts":[{"status":"firing",)"
      R"("labels":{"alertname":"A"},"annotations":{},"startsAt":"2026-11-23T04:46:46+01:00","values":{"B":1.5},)"
      R"("fingerprint":"c6eadffa33fcdf37","silenceURL":"s","dashboardURL":"","panelURL":"","imageURL":""}]})");
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(frame->sender, "grafana");
  EXPECT_EQ(utc_text(frame->alerts[0].starts), "2026-11-23T03:46:46.000Z");
}

TEST(AlertFrame, WhatIsNone) {
  const std::string alert = R"({"status":"firing","startsAt":"2026-11-23T04:46:46Z","fingerprint":"1")";
  const auto of = [](const std::string& each) { return R"({"version":"4","alerts":[)" + each + "]}"; };
  ASSERT_TRUE(read_alert_frame(of(alert + "}")));
  for (const std::string& body :
       {std::string("hello"), std::string("[]"), std::string("{}"), std::string(R"({"version":"4"})"),
        std::string(R"({"version":"3","alerts":[]})"), std::string(R"({"version":4,"alerts":[]})"),
        std::string(R"({"version":"4","alerts":{}})"), of("1"), of("{}"),
        of(R"({"status":"maybe","startsAt":"2026-11-23T04:46:46Z","fingerprint":"1"})"),
        of(R"({"status":"firing","startsAt":"yesterday","fingerprint":"1"})"),
        of(R"({"status":"firing","startsAt":"2026-11-23T04:46:46Z"})"), of(alert + R"(,"labels":[]})"),
        of(alert + R"(,"labels":{"a":1}})"), of(alert + R"(,"annotations":"x"})")}) {
    const auto frame = read_alert_frame(body);
    ASSERT_FALSE(frame) << body;
    EXPECT_EQ(frame.error().code, Code::invalid) << body;
    EXPECT_GT(frame.error().message.size(), 10u);
  }
}

TEST(AlertFrame, TextsArePrintableAndBounded) {
  const std::string long_text(10'000, 'x');
  const auto frame = read_alert_frame(
      R"({"version":"4","alerts":[{"status":"firing","startsAt":"2026-11-23T04:46:46Z","fingerprint":"1",)"
      R"("labels":{"a":"\u001b]0;x\u0007\n","b":")" +
      long_text + R"("},"annotations":{"summary":"\u001b[31m)" + long_text + R"("}}]})");
  ASSERT_TRUE(frame) << frame.error().message;
  const respond::Alert& alert = frame->alerts[0];
  EXPECT_EQ(alert.label("a").find('\x1b'), std::string_view::npos);
  EXPECT_EQ(alert.label("b"), "");
  EXPECT_LE(alert.summary.size(), 200u);
  EXPECT_EQ(alert.summary.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace spotter::wire
