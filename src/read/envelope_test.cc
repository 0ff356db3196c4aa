#include "read/envelope.h"

#include <gtest/gtest.h>

namespace spotter::read {
namespace {

TEST(FindEvents, InWhatKinetoWrites) {
  const std::string_view text = R"({
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "\"traceEvents\": ["}
  ],
  "nested": {"traceEvents": [1, 2], "x": "]}"},
  "traceEvents": [
  {"ph": "X"})";
  const size_t at = text.rfind('[') + 1;
  // The more there is of the text, the more is known; nothing is said too early.
  for (size_t size = 0; size <= text.size(); size++) {
    const Result<EventsStart> start = find_events(text.substr(0, size), false, "a.json");
    ASSERT_TRUE(start) << size;
    ASSERT_EQ(start->found, size >= at) << size;
    if (!start->found) continue;
    EXPECT_EQ(start->at, at);
    EXPECT_EQ(start->members, std::string(text.substr(0, text.rfind("\"traceEvents\""))) + "}");
  }
}

size_t found_at(std::string_view text) {
  const Result<EventsStart> start = find_events(text, true, "a.json");
  return start && start->found ? start->at : std::string_view::npos;
}

TEST(FindEvents, InOtherForms) {
  EXPECT_EQ(found_at(R"({"traceEvents":[])"), 16u);
  EXPECT_EQ(found_at(R"({"traceEvents":[]})"), 16u);
  EXPECT_EQ(found_at("\xEF\xBB\xBF {\"traceEvents\" : [] }"), 22u);
  EXPECT_EQ(found_at(R"([{"ph":"X"}])"), 1u);
  EXPECT_EQ(found_at("\n [ ]"), 3u);
  EXPECT_EQ(found_at("["), 1u);
  EXPECT_EQ(found_at(R"({,"a":,"b":1,,"traceEvents":[)"), 29u);
  EXPECT_EQ(found_at(R"({"traceEvents":null,"traceEvents":[)"), 35u);
}

// The key itself is looked for where a member before it is damaged.
TEST(FindEvents, BehindDamage) {
  for (const char* before :
       {R"("a": oops!, )", R"("a" 1, )", R"(a: 1, )", R"("a": [1}, )", R"("a": [1, )", R"("a": "x, )"}) {
    const std::string text = std::string("{") + before + "\"traceEvents\": [{}]}";
    EXPECT_EQ(found_at(text), text.find("[{}") + 1) << before;
  }
}

std::string error_of(std::string_view text, Code code) {
  const Result<EventsStart> start = find_events(text, true, "a.json");
  if (start) return "no error";
  EXPECT_EQ(start.error().code, code) << text;
  EXPECT_EQ(start.error().message.rfind("a.json: ", 0), 0u) << text;
  return start.error().message;
}

TEST(FindEvents, SaysWhatElseItIs) {
  const std::tuple<const char*, Code, const char*> cases[] = {
      {"", Code::corrupt, "empty"},
      {" \n ", Code::corrupt, "empty"},
      {"<!DOCTYPE html>", Code::unsupported, "HTML"},
      {"hello", Code::unsupported, "0x68"},
      {"\xFF", Code::unsupported, "0xff"},
      {"\xFF\xFE{", Code::invalid, "UTF-16"},
      {"PK\x03\x04....", Code::invalid, "zip"},
      {"\x1F\x8B\x08", Code::invalid, "twice"},
      {"\x28\xB5\x2F\xFD", Code::invalid, "twice"},
      {R"({"schema":"1.1","pid":1,"nodes":[]})", Code::unsupported, "execution trace"},
      {R"({"one":1,"two":2})", Code::unsupported, R"("one", "two")"},
      {R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1})", Code::unsupported, R"("a", "b", "c", "d", "e")"},
      {R"({"traceEvents":{}})", Code::unsupported, "no list \"traceEvents\""},
      {"{}", Code::unsupported, "no list \"traceEvents\""},
      {"[1, 2]", Code::unsupported, "list"},
      {"[[1, 2]]", Code::unsupported, "memory timeline"},
      {"{", Code::corrupt, "before its trace events begin"},
      {R"({"a":1)", Code::corrupt, "before its trace events begin"},
      {R"({"a":1,"traceEvents")", Code::corrupt, "before its trace events begin"},
      {R"({"a":1,"traceEvents":)", Code::corrupt, "before its trace events begin"},
  };
  for (const auto& [text, code, words] : cases) {
    EXPECT_NE(error_of(text, code).find(words), std::string::npos) << text << ": " << error_of(text, code);
  }
}

struct Info : TraceInfo {
  Info(std::string_view before, std::string_view after) {
    Notes ledger;
    read_info(before, after, !after.empty(), *this, ledger);
    for (const Note& n : ledger.all()) notes += n.kind + " ";
  }
  std::string notes;
};

TEST(ReadInfo, Everything) {
  const Info i(
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100", "totalGlobalMem": 85899345920, "numSms": 132},
                  {"id": 3, "name": "MI300", "maxComputeUnits": 304}], "distributedInfo": {"backend": "nccl", "rank": 5, "world_size": 8},
                  "host_name": "n\u006fde", "baseTimeNanoseconds": 1712345678123456789})",
      R"(, "traceName": "a/b.json", "trace_id": "77" })");
  EXPECT_EQ(i.base_ns, 1712345678123456789);
  EXPECT_EQ(i.rank, 5);
  EXPECT_EQ(i.world_size, 8);
  EXPECT_EQ(i.backend, "nccl");
  EXPECT_EQ(i.host_name, "node");
  EXPECT_EQ(i.trace_name, "a/b.json");
  EXPECT_EQ(i.trace_id, "77");
  ASSERT_EQ(i.devices.size(), 2u);
  EXPECT_EQ(i.devices[0].memory_bytes, 85899345920);
  EXPECT_EQ(i.devices[0].sm_count, 132);
  EXPECT_EQ(i.devices[1].id, 3);
  EXPECT_EQ(i.devices[1].name, "MI300");
  EXPECT_EQ(i.devices[1].sm_count, 304);
  ASSERT_EQ(i.metadata.size(), 7u);
  EXPECT_EQ(i.metadata[0], (std::pair<std::string, std::string>("schemaVersion", "1")));
  EXPECT_EQ(i.metadata[6], (std::pair<std::string, std::string>("trace_id", "\"77\"")));
  EXPECT_EQ(i.notes, "");
}

TEST(ReadInfo, NumbersInQuotes) {
  const Info i(R"({"baseTimeNanoseconds": "5", "distributedInfo": {"rank": "3", "world_size": "4"}})", "}");
  EXPECT_EQ(i.base_ns, 5);
  EXPECT_EQ(i.rank, 3);
  EXPECT_EQ(i.world_size, 4);
  EXPECT_EQ(i.notes, "");
}

TEST(ReadInfo, WhatIsWrongIsNoted) {
  for (const char* base : {"-1", "3000000000000000001", "1.5", "\"now\"", "null", "99999999999999999999"}) {
    const Info i(fmt::format("{{\"baseTimeNanoseconds\": {}}}", base), "}");
    EXPECT_EQ(i.base_ns, 0) << base;
    EXPECT_EQ(i.notes, "bad_base_time ") << base;
  }
  EXPECT_EQ(Info(R"({"distributedInfo": {"rank": "first"}})", "").notes, "no_rank ");
  EXPECT_EQ(Info("{}", R"(, "traceEvents": [1], "traceName": "x"})").notes, "second_events ");
  EXPECT_EQ(Info("{}", R"(, "traceEvents": [1], "traceName": "x"})").trace_name, "x");
  EXPECT_EQ(Info(R"({"host_name": "a", "x": oops!, "trace_id": "b"})", "}").notes, "damaged_metadata ");
  EXPECT_EQ(Info(R"({"host_name": "a", "x": oops!, "trace_id": "b"})", "}").host_name, "a");
  EXPECT_EQ(Info("{}", R"(, "traceName": "x", "cut)").notes, "damaged_metadata ");
  EXPECT_EQ(Info("{}", R"(, "traceName": "x", "cut)").trace_name, "x");
}

TEST(ReadInfo, NothingBehindTheEvents) {
  for (const char* after : {"", "}", " \n}\n", ",}", ", }"}) EXPECT_EQ(Info("{}", after).notes, "") << after;
}

TEST(ReadInfo, WhatStandsBehindTheEndIsALoss) {
  for (const char* after : {"} trailing", "}\n{\"traceEvents\": []}", "}}", ", \"traceName\": \"x\"} []"})
    EXPECT_EQ(Info("{}", after).notes, "text_behind_the_end ") << after;
  EXPECT_EQ(Info("{}", ", \"traceName\": \"x\"} {\"traceName\": \"y\"}").trace_name, "x");
}

TEST(ReadInfo, TextIsMadeValid) {
  const Info i("{\"host_name\": \"a\xFF\", \"k\xFE\": \"\xFD\"}", "}");
  EXPECT_EQ(i.host_name, "a\uFFFD");
  EXPECT_EQ(i.metadata[1], (std::pair<std::string, std::string>("k\uFFFD", "\"\uFFFD\"")));
}

// What a file says about itself is read whatever stands before it.
TEST(ReadInfo, BehindAByteOrderMark) {
  const std::string_view text = "\xEF\xBB\xBF{\"baseTimeNanoseconds\": 7, \"traceEvents\": []}";
  const Result<EventsStart> start = find_events(text, true, "a.json");
  ASSERT_TRUE(start && start->found);
  EXPECT_EQ(Info(start->members, "").base_ns, 7);
}

}  // namespace
}  // namespace spotter::read
