#include "simulate/simulate.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/system/file.h"

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
