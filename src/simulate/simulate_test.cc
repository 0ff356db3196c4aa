#include "simulate/simulate.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/system/file.h"
#include "simulate/clock.h"

namespace spotter::simulate {
namespace {

namespace fs = std::filesystem;

class Simulate : public testing::Test {
 protected:
  Simulate()
      : folder_(fs::temp_directory_path() / fmt::format("spotter-simulate-{}-{}", getpid(), counter_++)) {}
  ~Simulate() override { fs::remove_all(folder_); }

  SimulateRequest request(const std::string& name) const {
    SimulateRequest r;
    r.folder = (folder_ / name).string();
    r.gzip = false;
    r.spec.ranks = 4;
    r.spec.steps = 2;
    r.spec.layers = 2;
    return r;
  }
  // name -> bytes
  static std::map<std::string, std::string> files(const SimulateRequest& r) {
    std::map<std::string, std::string> found;
    for (const std::string& name : names_in(r.folder)) {
      std::ostringstream text;
      text << std::ifstream(fs::path(r.folder) / name, std::ios::binary).rdbuf();
      found[name] = text.str();
    }
    return found;
  }
  static std::map<std::string, std::string> run(const SimulateRequest& r) {
    const auto done = simulate(r);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return files(r);
  }
  static bool is_json(const std::string& text) {
    simdjson::dom::parser parser;
    return parser.parse(simdjson::padded_string(text)).error() == simdjson::SUCCESS;
  }

  fs::path folder_;
  static inline int counter_ = 0;
};

TEST_F(Simulate, EveryFileIsJsonInEveryEra) {
  for (const Era& era : eras()) {
    SimulateRequest r = request(era.name);
    r.spec.era = &era;
    r.spec.tensor = 2;
    r.spec.memory_events = r.spec.python_stacks = true;
    r.spec.faults = {*parse_fault("hang:after_ms=20", r.spec.last_step())};
    const auto found = run(r);
    EXPECT_EQ(found.size(), 5u);
    for (const auto& [name, text] : found) EXPECT_TRUE(is_json(text)) << era.name << " " << name;
  }
}

TEST_F(Simulate, BytesDependOnTheSeedAlone) {
  SimulateRequest one = request("one"), many = request("many"), other = request("other");
  many.threads = 4;
  other.spec.seed = 2;
  const auto first = run(one);
  EXPECT_EQ(first, run(many));
  EXPECT_NE(first, run(other));
}

TEST_F(Simulate, ReceiptAndTruthCountTheEvents) {
  SimulateRequest r = request("count");
  r.spec.ranks = 1;
  r.spec.events = 20'000;
  const Result<SimulateReceipt> receipt = simulate(r);
  ASSERT_TRUE(receipt);
  EXPECT_NEAR(static_cast<double>(receipt->events), 20'000, 2'000);
  simdjson::dom::parser parser;
  const auto found = files(r);
  const simdjson::padded_string text(found.at("rank_0000.node000.pt.trace.json"));
  EXPECT_EQ(parser.parse(text)["traceEvents"].get_array().size(), static_cast<size_t>(receipt->events));
}

TEST_F(Simulate, WhatIsCancelledLeavesNoPartOfAFile) {
  SimulateRequest r = request("cancelled");
  std::atomic<bool> cancelled = true;
  r.cancelled = &cancelled;
  r.spec.events = 20'000;
  const auto refused = simulate(r);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::cancelled);
  EXPECT_TRUE(files(r).empty());
}

TEST_F(Simulate, AnOmittedRankHasNumbersButNoTrace) {
  SimulateRequest r = request("omitted");
  const auto all = run(r);
  r.folder = (folder_ / "some").string();
  r.spec.omitted = {{0, 0}, {2}};
  auto some = run(r);
  EXPECT_EQ(some.size(), 2u);  // rank 1's, and the truth
  EXPECT_EQ(some.at("rank_0001.node000.pt.trace.json"), all.at("rank_0001.node000.pt.trace.json"));
  const auto numbers = [](const std::string& truth) {
    return truth.substr(truth.find("\"by_rank_and_step\""));
  };
  EXPECT_EQ(numbers(some.at("truth.json")), numbers(all.at("truth.json")));
  r.spec.omitted = {{0}};
  EXPECT_FALSE(validate(r.spec));
  r.spec.omitted = {{4, 4}};
  EXPECT_FALSE(validate(r.spec));
}

TEST_F(Simulate, AClockThatIsOffMovesTimesOfItsHostAlone) {
  SimulateRequest r = request("right");
  r.spec.gpus_per_node = 2;
  const auto right = run(r);
  r.folder = (folder_ / "off").string();
  r.spec.clock_offset = 1'000'000;
  const auto off = run(r);
  const auto first_step = [](const std::string& trace) {
    simdjson::dom::parser parser;
    const simdjson::padded_string text(trace);
    for (const simdjson::dom::object event : parser.parse(text)["traceEvents"].get_array())
      if (std::string_view(event["name"]) == "ProfilerStep#3" &&
          event["cat"].get_string().value() == "user_annotation")
        return event["ts"].get_double().value();
    return 0.;
  };
  for (const auto& [name, trace] : off) {
    if (name == "truth.json") continue;
    const Clock clock = clock_of(r.spec, name.find("node000") != name.npos ? 0 : 1);
    EXPECT_NEAR(first_step(trace) - first_step(right.at(name)), static_cast<double>(clock.offset) / 1000,
                0.01);
  }
}

TEST_F(Simulate, AFolderWithTracesIsLeftAlone) {
  SimulateRequest r = request("again");
  const auto before = run(r);
  r.spec.seed = 5;
  r.spec.ranks = 1;
  const auto refused = simulate(r);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::busy);
  EXPECT_EQ(files(r), before);
  r.force = true;
  EXPECT_EQ(run(r).size(), 2u);  // those of the ranks that are no more are gone
}

TEST_F(Simulate, SomebodyElsesFilesStay) {
  SimulateRequest r = request("else");
  fs::create_directories(r.folder);
  std::ofstream(fs::path(r.folder) / "mine.json") << "{}";
  EXPECT_FALSE(simulate(r));
  r.force = true;
  EXPECT_EQ(run(r).at("mine.json"), "{}");
}

TEST_F(Simulate, AnErrorLeavesNothing) {
  SimulateRequest r = request("no/such");
  std::ofstream(folder_.string()) << "a file";
  const auto refused = simulate(r);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::io);
}

}  // namespace
}  // namespace spotter::simulate
