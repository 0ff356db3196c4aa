#include "read/flight_recorder/flight_recorder.h"

#include <gtest/gtest.h>

#include "read/plain_data/json_data.h"
#include "read/plain_data/pickle.h"
#include "read/test_read.h"

namespace spotter::read {
namespace {

using State = FlightRecord::State;
constexpr const char* kDumps = "tests/fixtures/flight_recorder/lost_rank/nccl_trace_rank_";
constexpr Ns kStart = 1'767'189'312'000'000'000, kMs = 1'000'000;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

FlightRecord load_dump(const std::string& path, i64 rank) {
  Result<FlightRecord> record = load_flight_record({path, rank});
  EXPECT_TRUE(record) << record.error().message;
  return record ? std::move(*record) : FlightRecord();
}

Result<FlightRecord> of_json(std::string text) {
  TRY_ASSIGN(const PlainData data, parse_json_data(std::move(text)));
  return to_flight_record(data);
}

TEST(LoadFlightRecord, EverythingThatAPickleTells) {
  const FlightRecord r = load_dump(fmt::format("{}{}", kDumps, 1), 1);
  EXPECT_EQ(r.file.rank, 1);
  EXPECT_EQ(r.version, "2.10");
  EXPECT_EQ(r.library_version, "2.27.3");
  EXPECT_TRUE(r.notes.empty());
  ASSERT_EQ(r.groups.size(), 2u);
  EXPECT_EQ(r.groups[1].name, "1");
  EXPECT_EQ(r.groups[1].description, "tensor");
  EXPECT_EQ(r.groups[1].ranks, (std::vector<i64>{0, 1}));
  ASSERT_EQ(r.statuses.size(), 2u);
  EXPECT_EQ(r.statuses[0].group_id, 0);
  EXPECT_EQ(r.statuses[0].last_enqueued, 3);
  EXPECT_EQ(r.statuses[0].last_started, 3);
  EXPECT_EQ(r.statuses[0].last_completed, 2);
  ASSERT_EQ(r.calls.size(), 5u);
  const FlightRecord::Call &gather = r.calls[1], &last = r.calls[4];
  EXPECT_EQ(gather.record_id, 1);
  EXPECT_EQ(std::tie(gather.group_id, gather.group, gather.description), std::tuple(1, "1", "tensor"));
  EXPECT_EQ(std::tie(gather.collective_seq, gather.p2p_seq, gather.op_id), std::tuple(1, 0, 1));
  EXPECT_EQ(gather.name, "nccl:_all_gather_base");
  EXPECT_EQ(gather.input_sizes, (FlightRecord::Sizes{{64, 8}}));
  EXPECT_EQ(gather.output_sizes, (FlightRecord::Sizes{{128, 8}}));
  EXPECT_EQ(gather.input_types, std::vector<std::string>{"Float"});
  EXPECT_EQ(gather.state, State::completed);
  EXPECT_TRUE(gather.is_retired);
  EXPECT_TRUE(gather.has_ended());
  const Ns created = kStart + 100 * kMs + 1000;
  EXPECT_EQ(gather.created, created);
  EXPECT_EQ(gather.seen_started, created + kMs);
  EXPECT_EQ(gather.seen_completed, created + 2 * kMs);
  EXPECT_EQ(gather.duration, kMs / 2);
  EXPECT_EQ(gather.timeout, 600'000 * kMs);
  EXPECT_EQ(gather.thread, "python");
  EXPECT_EQ(last.state, State::started);
  EXPECT_EQ(last.seen_completed, std::nullopt);
  EXPECT_EQ(last.duration, std::nullopt);
  EXPECT_FALSE(last.has_ended());
  // Four calls from one place have its stack.
  ASSERT_EQ(r.stacks.size(), 2u);
  EXPECT_EQ(gather.stack, 1u);
  EXPECT_EQ(last.stack, 1u);
  EXPECT_EQ(r.stacks[1], (std::vector<FlightRecord::Frame>{{"train", "/job/train.py", 40},
                                                           {"<module>", "/job/train.py", 71}}));
}

// The forms differ in stacks alone.
TEST(LoadFlightRecord, JsonTellsTheSame) {
  const FlightRecord a = load_dump(fmt::format("{}{}", kDumps, 0), 0);
  const FlightRecord b = load_dump(fmt::format("{}{}.json", kDumps, 0), 0);
  EXPECT_TRUE(b.stacks.empty());
  ASSERT_EQ(a.calls.size(), b.calls.size());
  for (size_t i = 0; i < a.calls.size(); ++i) {
    const FlightRecord::Call &x = a.calls[i], &y = b.calls[i];
    EXPECT_EQ(
        std::tie(x.name, x.group, x.collective_seq, x.created, x.seen_started, x.seen_completed, x.duration),
        std::tie(y.name, y.group, y.collective_seq, y.created, y.seen_started, y.seen_completed, y.duration));
    EXPECT_EQ(std::tie(x.input_sizes, x.output_types, x.state, x.is_retired, x.timeout),
              std::tie(y.input_sizes, y.output_types, y.state, y.is_retired, y.timeout));
  }
  ASSERT_EQ(a.statuses.size(), b.statuses.size());
  EXPECT_EQ(b.statuses[0].last_completed, 2);
}

TEST(LoadFlightRecord, PackedOnesToo) {
  const std::string path = fmt::format("{}{}", kDumps, 2);
  const TemporaryFile file(read_file(path), "fr_trace_2");
  ASSERT_EQ(std::system(fmt::format("gzip -k {}", file.path()).c_str()), 0);
  EXPECT_EQ(load_dump(file.path() + ".gz", 2).calls.size(), 5u);
}

TEST(LoadFlightRecord, ErrorsNameTheFile) {
  const TemporaryFile other("\x80\x04}.", "fr_trace_0"), text("hello", "fr_trace_1"), empty("", "fr_trace_2"),
      object("\x80\x04)\x81.", "fr_trace_3");
  const auto error = [](const std::string& path) {
    const Result<FlightRecord> record = load_flight_record({path, 0});
    EXPECT_FALSE(record) << path;
    return record ? "" : fmt::format("{}: {}", code_name(record.error().code), record.error().message);
  };
  EXPECT_EQ(error(other.path()),
            fmt::format(
                "invalid: {}: it is no flight recorder dump: no \"entries\", \"pg_config\" or \"pg_status\" "
                "in it",
                other.path()));
  EXPECT_EQ(error(text.path()),
            fmt::format("invalid: {}: it is no flight recorder dump: neither a pickle nor a JSON object",
                        text.path()));
  EXPECT_NE(error(empty.path()).find("it is no flight recorder dump"), std::string::npos);
  EXPECT_EQ(error(object.path()),
            fmt::format("unsupported: {}: it is not plain data: NEWOBJ makes an object (at "
                        "byte 3)",
                        object.path()));
  EXPECT_NE(error(other.path() + "0").find("No such file"), std::string::npos);
}

// Cut off or changed anywhere: an error, or a record.
TEST(LoadFlightRecord, DamageAnywhere) {
  for (const std::string& path : {fmt::format("{}{}", kDumps, 3), fmt::format("{}{}.json", kDumps, 0)}) {
    const std::string bytes = read_file(path);
    const bool is_json = path.ends_with(".json");
    const auto parse = [&](std::string text) -> Result<FlightRecord> {
      if (is_json) return of_json(std::move(text));
      TRY_ASSIGN(const PlainData data, parse_pickle(std::move(text)));
      return to_flight_record(data);
    };
    for (size_t n = 0; n < bytes.size(); n += 7) EXPECT_FALSE(parse(bytes.substr(0, n))) << n;
    for (size_t at = 0; at < bytes.size(); at += 5) {
      for (const char wrong : {'\0', '\xFF', '.', '}', ']', '(', 'N', '9', '"'}) {
        std::string changed = bytes;
        changed[at] = wrong;
        const Result<FlightRecord> record = parse(changed);
        EXPECT_TRUE(!record || record->calls.size() <= 5);
      }
    }
  }
}

TEST(ToFlightRecord, UnknownVersionsAreReadAndNoted) {
  for (const std::string_view version : {"2.0", "2.9", "2.10"})
    EXPECT_TRUE(of_json(fmt::format(R"({{"version": "{}", "entries": []}})", version))->notes.empty())
        << version;
  for (const std::string_view version : {"2.11", "3.0", "1.5", "", "new"}) {
    const Result<FlightRecord> record =
        of_json(fmt::format(R"({{"version": "{}", "entries": [{{"op_id": 4, "new_key": [1]}}]}})", version));
    ASSERT_TRUE(record);
    EXPECT_EQ(record->notes.count("flight_recorder_version"), 1) << version;
    EXPECT_EQ(record->calls.at(0).op_id, 4);
  }
}

TEST(ToFlightRecord, OtherTypesAreLeftOutAndCounted) {
  const Result<FlightRecord> record = of_json(R"({"version": "2.10", "pg_config": [], "pg_status": {"x": {}},
      "entries": [7, {"record_id": null, "op_id": 99999999999999999999, "input_sizes": [[1, "a"], 3],
                      "process_group": "0", "state": 4, "time_created_ns": -5, "frames": 1, "name": {}}]})");
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_EQ(record->calls.size(), 1u);
  const FlightRecord::Call& call = record->calls[0];
  EXPECT_EQ(call.input_sizes, (FlightRecord::Sizes{{1, 0}, {}}));
  EXPECT_EQ(call.group, "");
  EXPECT_EQ(call.state, State::unknown);
  EXPECT_EQ(call.created, std::nullopt);
  EXPECT_EQ(call.stack, kNone);
  // pg_config, "x", 7, record_id, op_id, "a", 3, process_group, state, time_created_ns and frames.
  EXPECT_EQ(record->notes.count("flight_recorder_values"), 11);
}

TEST(ToFlightRecord, TextsThatAreCutOffAreCounted) {
  const Result<FlightRecord> record = of_json(fmt::format(
      R"({{"version": "2.10", "entries": [{{"profiling_name": "{}"}}]}})", std::string(5000, 'x')));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->calls.at(0).name.size(), 4096u);
  EXPECT_EQ(record->notes.count("flight_recorder_texts"), 1);
}

// Two thousand references to one list of a million numbers would be 16 GB.
TEST(ToFlightRecord, SharedPartsDoNotMultiply) {
  const auto text = [](std::string_view s) {
    const auto n = static_cast<char>(s.size());
    return "X" + std::string{n, '\0', '\0', '\0'} + std::string(s);
  };
  std::string bytes = "\x80\x02}" + text("entries") + "](}(" + text("input_sizes") + "](](" +
                      std::string(1'000'000, 'N') + "eeu" + std::string("q\0", 2);
  for (int i = 0; i < 2000; ++i) bytes += std::string("h\0", 2);
  bytes += "es.";
  const TemporaryFile file(bytes, "fr_trace_0");
  const Result<FlightRecord> record = load_flight_record({file.path(), 0});
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().message,
            file.path() + ": what it shares and repeats would take many times its size");
}

// A process that is killed while it writes leaves half a pickle; what its job has written as JSON is whole.
TEST(LoadFlightRecord, TheJsonBesideADamagedPickle) {
  const TemporaryFile pickle("\x80\x02}(X\x07", "fr_trace_0");
  FlightRecordFile file{pickle.path(), 0, fmt::format("{}0.json", kDumps)};
  const Result<FlightRecord> record = load_flight_record(file);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_FALSE(record->calls.empty());
  EXPECT_EQ(record->file.path, pickle.path());
  EXPECT_EQ(record->notes.count("flight_record_damaged"), 1);
  file.beside = pickle.path();
  EXPECT_FALSE(load_flight_record(file));
}

TEST(RankOfFlightRecord, ByItsName) {
  for (const std::string_view name :
       {"nccl_trace_rank_3", "/tmp/7/_dump_3", "fr_trace_3", "fr_trace_3.json", "fr_trace_3.json.gz", "x3",
        "3", "trace.3.pickle", "rank3_attempt1", "node_rank_1_3"})
    EXPECT_EQ(rank_of_flight_record(name), 3) << name;
  EXPECT_EQ(rank_of_flight_record("dump"), std::nullopt);
  EXPECT_EQ(rank_of_flight_record("dump_99999999999"), std::nullopt);
}

TEST(BeginsLikeFlightRecord, ByNameAndContent) {
  EXPECT_TRUE(begins_like_flight_record(fmt::format("{}{}", kDumps, 0)));
  EXPECT_TRUE(begins_like_flight_record(fmt::format("{}{}.json", kDumps, 0)));
  const std::string bytes = read_file(fmt::format("{}{}", kDumps, 0));
  EXPECT_FALSE(begins_like_flight_record(TemporaryFile(bytes, "dump").path()));
  EXPECT_FALSE(begins_like_flight_record(TemporaryFile("\x80\x04}.", "snapshot_0").path()));
  EXPECT_FALSE(begins_like_flight_record(TemporaryFile(R"({"traceEvents": []})", "rank0.json").path()));
  EXPECT_FALSE(begins_like_flight_record("tests/fixtures/flight_recorder0"));
  // Traces tell of process groups, too.
  EXPECT_FALSE(begins_like_flight_record("tests/fixtures/traces/gpu_training/rank0.json.gz"));
  const auto of_json = [](std::string_view text) {
    return begins_like_flight_record(TemporaryFile(text, "r0.json").path());
  };
  EXPECT_FALSE(of_json(
      R"({"schemaVersion": 1, "distributedInfo": {"pg_config": [{"pg_name": "0"}]}, "traceEvents": []})"));
  EXPECT_FALSE(of_json(R"({"version": 1, "traceEvents": []})"));
  EXPECT_TRUE(of_json(R"({ "version": "2.5", "pg_config": {}, "pg_status": {}})"));
}

}  // namespace
}  // namespace spotter::read
