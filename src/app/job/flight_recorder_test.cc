// Flight recorder dumps of real jobs, and hostile ones, against what other tools found in them (../shared;
// skipped where that is absent). How the expected numbers were made: shared/golden/importers/README.md.
#include "read/flight_recorder/flight_recorder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "analyze/flight_recorder/group_findings.h"
#include "read/open.h"
#include "read/plain_data/json_data.h"
#include "read/plain_data/pickle.h"

namespace spotter::app {
namespace {

namespace fs = std::filesystem;
using analyze::GroupFinding;
using read::Datum;
using Kind = GroupFinding::Kind;
using Ranks = std::set<i64>;

fs::path shared() {
  const char* named = std::getenv("SPOTTER_SHARED");
  return named ? named : "../shared";
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The member of a dict; none where there is none.
Datum member(const Datum& dict, std::string_view key) {
  const std::span<const Datum> pairs = dict.elements();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i].text() == key) return pairs[i + 1];
  return {};
}

i64 integer(const Datum& dict, std::string_view key) { return member(dict, key).integer().value_or(-1); }

class Samples : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const fs::path folder = shared() / "imports/flight_recorder" / GetParam();
    if (!fs::is_directory(folder)) GTEST_SKIP() << "there is no " << folder;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (!read::begins_like_flight_record(path) || path.ends_with(".json")) continue;
      const i64 rank = read::rank_of_flight_record(path).value();
      Result<FlightRecord> record = read::load_flight_record({path, rank});
      ASSERT_TRUE(record) << record.error().message;
      records_.emplace(rank, std::move(*record));
    }
    for (const auto& [rank, record] : records_) groups_.add(record);
    findings_ = analyze::group_findings(groups_);
    const fs::path golden = shared() / "golden/importers" / fmt::format("fr_{}.json", GetParam());
    Result<read::PlainData> data = read::parse_json_data(read_file(golden));
    ASSERT_TRUE(data) << golden << ": " << data.error().message;
    golden_.emplace(std::move(*data));
  }

  const Datum& golden() const { return golden_->root(); }
  const GroupFinding* find(Kind kind, std::string_view group) const {
    for (const GroupFinding& f : findings_)
      if (f.kind == kind && groups_.groups()[f.group].name == group) return &f;
    return nullptr;
  }
  std::map<i64, FlightRecord> records_;
  analyze::ProcessGroups groups_;
  std::vector<GroupFinding> findings_;
  std::optional<read::PlainData> golden_;
};

INSTANTIATE_TEST_SUITE_P(All, Samples,
                         testing::Values("gloo_healthy", "gloo_desync", "nccl_gpu_error", "nccl_lock_gil"),
                         [](const auto& sample) { return std::string(sample.param); });

TEST_P(Samples, EachDumpAsOthersReadIt) {
  const Datum ranks = member(golden(), "ranks");
  ASSERT_EQ(ranks.elements().size(), records_.size());
  for (const Datum& expected : ranks.elements()) {
    const FlightRecord& record = records_.at(integer(expected, "rank"));
    SCOPED_TRACE(record.file.path);
    EXPECT_EQ(record.version, member(expected, "version").text());
    EXPECT_TRUE(record.notes.empty());
    EXPECT_EQ(std::ssize(record.calls), integer(expected, "entries"));
    std::map<std::string, i64> groups;
    i64 scheduled = 0, watched = 0;
    for (const FlightRecord::Call& call : record.calls) {
      scheduled += call.state == FlightRecord::State::scheduled;
      watched += !call.is_retired;
      ++groups[call.group + ":" + call.description];
    }
    EXPECT_EQ(scheduled, record.calls.empty() ? 0 : integer(member(expected, "states"), "scheduled"));
    EXPECT_EQ(watched, integer(expected, "not_retired"));
    EXPECT_EQ(2 * groups.size(), member(expected, "by_group").elements().size());
    for (const auto& [group, calls] : groups) EXPECT_EQ(calls, integer(member(expected, "by_group"), group));
    const Datum status = member(expected, "pg_status");
    EXPECT_EQ(2 * record.statuses.size(), status.elements().size());
    for (const FlightRecord::Status& s : record.statuses) {
      const Datum both = member(status, std::to_string(s.group_id));
      ASSERT_EQ(both.elements().size(), 2u);
      EXPECT_EQ(s.last_enqueued, both.elements()[0].integer());
      EXPECT_EQ(s.last_completed, both.elements()[1].integer());
    }
    if (record.calls.empty()) continue;
    const Datum last = member(expected, "last");
    const FlightRecord::Call& call = record.calls.back();
    EXPECT_EQ(call.name, member(last, "name").text());
    EXPECT_EQ(call.description, member(last, "group").text());
    EXPECT_EQ(call.collective_seq, integer(last, "seq"));
    EXPECT_EQ(call.p2p_seq, integer(last, "p2p_seq"));
    EXPECT_EQ(call.created, integer(last, "created_ns"));
  }
}

TEST_P(Samples, StatusJoinsGroupsThroughCalls) {
  const Datum expected = member(golden(), "status_by_group");
  size_t joined = 0, wanted = 0;
  for (const Datum& of_group : expected.elements()) wanted += of_group.elements().size() / 2;
  for (const analyze::ProcessGroup& group : groups_.groups()) {
    for (const auto& [rank, place] : group.ranks) {
      if (!place.status) continue;
      const Datum both = member(member(expected, group.name), std::to_string(rank));
      ASSERT_EQ(both.elements().size(), 2u) << group.name << " " << rank;
      EXPECT_EQ(place.status->last_enqueued, both.elements()[0].integer());
      EXPECT_EQ(place.status->last_completed, both.elements()[1].integer());
      ++joined;
    }
  }
  EXPECT_EQ(joined, wanted);
}

// "Different" is there any difference in names or sizes. An all-to-all may give each rank another size, and
// that is the only one that the samples have.
TEST_P(Samples, DifferencesButForUnevenAllToAlls) {
  const Datum expected = member(golden(), "first_difference");
  for (size_t i = 0; i + 1 < expected.elements().size(); i += 2) {
    const Datum ranks = member(expected.elements()[i + 1], "ranks");
    for (size_t r = 1; r < ranks.elements().size(); r += 2)
      EXPECT_EQ(ranks.elements()[r].elements()[0].text(), "nccl:all_to_all");
  }
  for (const GroupFinding& f : findings_) EXPECT_NE(f.kind, Kind::differs) << f.detail;
}

// Who was made to fail, as the job's own log says; "Fault ranks: [12, 14]".
TEST_P(Samples, TheFaultyRanksAreTheFirstToLookAt) {
  const std::string name = GetParam();
  const analyze::FirstToLook first = analyze::first_to_look_at(findings_);
  if (name == "gloo_desync") {
    ASSERT_TRUE(find(Kind::not_joined, "0"));
    const GroupFinding& f = *find(Kind::not_joined, "0");
    EXPECT_EQ(f.sequence, 12);
    EXPECT_EQ(f.missing, Ranks{3});
    EXPECT_EQ(f.inside, (Ranks{0, 1, 2}));
    EXPECT_EQ(find(Kind::completed, "0")->sequence, 11);
    EXPECT_EQ(first.absent, Ranks{3});
    EXPECT_TRUE(first.left_behind.empty());
    return;
  }
  if (name == "gloo_healthy") {  // the last barrier: one rank wrote its dump just before it was through
    EXPECT_TRUE(first.absent.empty());
    ASSERT_TRUE(find(Kind::left_behind, "0"));
    EXPECT_EQ(find(Kind::left_behind, "0")->sequence, 12);
    EXPECT_EQ(find(Kind::left_behind, "0")->ranks, Ranks{2});
    EXPECT_EQ(find(Kind::completed, "1")->sequence, 3);
    return;
  }
  const std::string log = read_file(shared() / "imports/flight_recorder" / name / "fault_injection.log");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(log, match, std::regex(R"(Fault ranks: \[(\d+), (\d+)\])")));
  const Ranks faulty = {std::stoi(match[1]), std::stoi(match[2])};
  const bool is_on_host = name == "nccl_lock_gil";
  EXPECT_EQ(is_on_host ? first.absent : first.left_behind, faulty);
  EXPECT_TRUE((is_on_host ? first.left_behind : first.absent).empty());
}

TEST_P(Samples, JsonTellsTheSame) {
  for (const auto& [rank, record] : records_) {
    const std::string path = record.file.path + ".json";
    if (!fs::exists(path)) continue;
    const Result<FlightRecord> json = read::load_flight_record({path, rank});
    ASSERT_TRUE(json) << json.error().message;
    ASSERT_EQ(json->calls.size(), record.calls.size());
    for (size_t i = 0; i < record.calls.size(); ++i) {
      const FlightRecord::Call &a = record.calls[i], &b = json->calls[i];
      EXPECT_EQ(
          std::tie(a.name, a.group, a.collective_seq, a.created, a.input_sizes, a.output_types, a.is_retired),
          std::tie(b.name, b.group, b.collective_seq, b.created, b.input_sizes, b.output_types,
                   b.is_retired));
    }
  }
}

// What is expected of each: shared/imports/hostile/README.md.
TEST(HostilePickles, AreRefused) {
  const fs::path folder = shared() / "imports/hostile";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "there is no " << folder;
  const std::map<std::string, std::string> wanted = {
      {"global_reduce", "not plain data: GLOBAL"},
      {"stack_global", "not plain data: STACK_GLOBAL"},
      {"newobj_build", "not plain data: GLOBAL"},
      {"persistent_id", "not plain data: BINPERSID"},
      {"protocol0_text", "neither a pickle nor a JSON object"},
      {"memo_doubling_40", "ends with 41 values"},
      {"nested_200000", "nested deeper"},
      {"self_reference", "part of something else already, or of itself"},
      {"string_length_bomb", "cut off"},
      {"long_length_bomb", "not plain data: LONG4"},
      {"frame_lies", "cut off"},
      {"stack_underflow", "more values than there are"},
      {"truncated_snapshot", "cut off"}};
  for (const auto& [name, words] : wanted) {
    const std::string path = (folder / fmt::format("pickle_{}.pickle", name)).string();
    const Result<FlightRecord> record = read::load_flight_record({path, 0});
    ASSERT_FALSE(record) << name;
    EXPECT_NE(record.error().message.find(words), std::string::npos)
        << name << ": " << record.error().message;
  }
  const Result<FlightRecord> huge =
      read::load_flight_record({(folder / "pickle_huge_ints.pickle").string(), 0});
  EXPECT_TRUE(!huge || huge->notes.count("flight_recorder_values") > 0);
}

// Memory snapshots are plain data, too; the numbers are those of golden/importers/memory_*.json.
TEST(Pickles, OfMemorySnapshots) {
  const fs::path folder = shared() / "imports/memory_snapshot";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "there is no " << folder;
  const Result<read::PlainData> data =
      read::parse_pickle(read_file(folder / "transformer_step_torch2.pickle"));
  ASSERT_TRUE(data) << data.error().message;
  const Datum segments = member(data->root(), "segments");
  EXPECT_EQ(segments.elements().size(), 216u);
  i64 bytes = 0;
  for (const Datum& segment : segments.elements()) bytes += integer(segment, "total_size");
  EXPECT_EQ(bytes, 14'180'941'824);
  size_t traces = 0;
  for (const Datum& device : member(data->root(), "device_traces").elements())
    traces += device.elements().size();
  EXPECT_EQ(traces, 5'163u);
  const Result<read::PlainData> mosaic = read::parse_pickle(read_file(folder / "mosaic_annotations.pickle"));
  ASSERT_TRUE(mosaic) << mosaic.error().message;
  EXPECT_FALSE(member(mosaic->root(), "external_annotations").elements().empty());
}

}  // namespace
}  // namespace spotter::app
