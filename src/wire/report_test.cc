#include "wire/report.h"

#include <gtest/gtest.h>

namespace spotter::wire {
namespace {

using respond::Report;

Report report() {
  Report report{.host = "gpu02",
                .instance = "17",
                .version = "1.2",
                .sent = 1'795'000'000 * kSecond,
                .job = {.id = "4711",
                        .user = "alice",
                        .ranks = {8, 9},
                        .world_size = 16,
                        .age = kHour,
                        .steps = 400,
                        .step = kSecond / 4,
                        .wrote_ago = kMinute}};
  report.conditions.push_back({.rule = "step_time_up",
                               .family = "speed",
                               .job = "4711",
                               .host = "gpu02",
                               .rank = 8,
                               .since = report.sent - kSecond,
                               .at = report.sent,
                               .value = 4.42,
                               .shared_incident = "gpu02-speed-1-shared"});
  respond::Incident incident;
  incident.cluster = "a", incident.family = "speed", incident.n = 2, incident.job.id = "4711";
  report.incidents.push_back(incident);
  report.awaited.push_back({.key = "a/4711/speed",
                            .n = 1,
                            .sequence = 3,
                            .is_open = true,
                            .state = respond::IncidentState::recovering,
                            .opened = kMinute,
                            .told = kSecond});
  return report;
}

TEST(Report, IsReadAsWritten) {
  const Report read = read_report(report_text(report())).value();
  EXPECT_EQ(report_text(read), report_text(report()));
  EXPECT_EQ(read.job.wrote_ago, kMinute);
  EXPECT_EQ(read.conditions[0].rank, 8);
  EXPECT_EQ(read.conditions[0].shared_incident, "gpu02-speed-1-shared");
  EXPECT_EQ(read.incidents[0].id(), "4711-speed-2");
  EXPECT_EQ(read.awaited[0].sequence, 3);
  EXPECT_EQ(read.awaited[0].state, respond::IncidentState::recovering);
  EXPECT_EQ(read.awaited[0].opened, kMinute);
}

TEST(Report, AnswerIsReadAsWritten) {
  const respond::ReportAnswer answer{
      .host = "gpu01",
      .instance = "3",
      .version = "1.2",
      .incidents = {{.key = "a/4711/speed",
                     .n = 2,
                     .sequence = 5,
                     .is_open = true,
                     .silenced = kHour,
                     .acknowledged = respond::Acknowledgement{.by = "bob", .where = "command"}}}};
  const auto read = read_report_answer(report_answer_text(answer)).value();
  EXPECT_EQ(report_answer_text(read), report_answer_text(answer));
  EXPECT_TRUE(read.incidents[0].is_open);
  EXPECT_EQ(read.incidents[0].silenced, kHour);
  EXPECT_EQ(read.incidents[0].acknowledged->by, "bob");
}

TEST(Report, AnAnswerOfAnEarlierVersionSaysNothingOfWhatPeopleHaveDone) {
  const auto read = read_report_answer(
      R"({"host":"gpu01","instance":"3","version":"0.1","incidents":[{"key":"a/4711/speed","n":2,"sequence":5,)"
      R"("open":true,"told":null}],"mended":[]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->incidents[0].sequence, 5);
  EXPECT_FALSE(read->incidents[0].silenced);
  EXPECT_FALSE(read->incidents[0].acknowledged);
}

TEST(Report, MembersOfALaterVersionAreLeftAlone) {
  std::string text = report_text(report());
  text.insert(1, "\"weather\": [1, {\"rain\": true}], ");
  EXPECT_EQ(read_report(text).value().host, "gpu02");
}

TEST(Report, MembersThatAnEarlierVersionHasNotAreEmpty) {
  std::string text = report_text(report());
  for (const std::string member : {R"(,"shared_incident":"gpu02-speed-1-shared")", R"(,"shared_incident":"")",
                                   R"(,"shared_by":null)", R"(,"to_trace":"")"}) {
    const size_t at = text.find(member);
    ASSERT_NE(at, text.npos) << text;
    text.erase(at, member.size());
  }
  const auto read = read_report(text);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->conditions[0].shared_incident.empty());
  EXPECT_FALSE(read->incidents[0].shared_by);
}

TEST(Report, WhatIsNoneIsAnError) {
  Report nameless = report();
  nameless.host.clear();
  Report many = report();
  many.conditions.resize(1001, many.conditions[0]);
  for (const std::string& text : {std::string("{}"), std::string("[]"), std::string("{"),
                                  report_text(nameless), report_text(many), std::string("{\"host\": 3}")})
    EXPECT_EQ(read_report(text).error().code, Code::invalid) << text.substr(0, 80);
}

TEST(Report, NumbersThatAreCountedOnAreFarFromTheEnd) {
  Report large = report();
  large.incidents[0].sequence = i64{1} << 52;
  EXPECT_FALSE(read_report(report_text(large)));
  const respond::ReportAnswer answer{.host = "gpu01",
                                     .incidents = {{.key = "a/4711/speed", .n = i64{1} << 52}}};
  EXPECT_FALSE(read_report_answer(report_answer_text(answer)));
}

TEST(Report, TextsAreForPeoplesScreens) {
  Report hostile = report();
  hostile.host = "gpu\x1b[31m02\n";
  hostile.conditions[0].text = std::string(5000, 'x') + "\x07";
  hostile.incidents[0].verdict = respond::Verdict{.sentence = "rank 3\x1b[2J"};
  hostile.incidents[0].against = {"\u202e"};
  const respond::ReportAnswer answer{
      .host = "gpu01", .incidents = {{.acknowledged = respond::Acknowledgement{.by = "bob\x1b[2J"}}}};
  const auto read_answer = read_report_answer(report_answer_text(answer)).value();
  EXPECT_EQ(read_answer.incidents[0].acknowledged->by.find('\x1b'), std::string::npos);
  const Report read = read_report(report_text(hostile)).value();
  EXPECT_EQ(read.incidents[0].verdict->sentence.find('\x1b'), std::string::npos);
  EXPECT_EQ(read.incidents[0].against[0].find("\u202e"), std::string::npos);
  EXPECT_EQ(read.host.find('\x1b'), std::string::npos);
  EXPECT_EQ(read.host.find('\n'), std::string::npos);
  EXPECT_LE(read.conditions[0].text.size(), 1024u);
}

}  // namespace
}  // namespace spotter::wire
