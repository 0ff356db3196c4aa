// Files of metrics that come, change and go.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "collect/list.h"
#include "collect/test_machine.h"
#include "table/named_samples.h"

namespace spotter::collect {
namespace {

class TextFiles : public testing::Test {
 protected:
  void SetUp() override {
    machine_.write("texts/a.prom", "a 1\n");
    auto opened = kTextFile.open({.textfile_directory = machine_.path("texts")});
    ASSERT_TRUE(opened) << opened.error().message;
    collector_ = std::move(*opened);
  }
  // "a=1 b=2 | a.prom b.prom:WHY".
  std::string sample() {
    const auto tables = collector_->sample();
    if (!tables) return tables.error().message;
    std::string out;
    const Table& samples = tables->at(1);
    EXPECT_TRUE(table::has_named_samples(samples));
    for (size_t row = 0; row < samples.rows(); ++row)
      out += fmt::format("{}={} ", samples.text(row, table::kMetric), samples.real(row, table::kValue));
    out += "|";
    const Table& files = tables->front();
    for (size_t row = 0; row < files.rows(); ++row) {
      const Value error = files.at(row, files.column("error"));
      out += fmt::format(" {}", files.text(row, 0));
      if (!is_null(error)) out += fmt::format(":{}", std::get<std::string_view>(error));
    }
    return out;
  }

  TestMachine machine_;
  std::unique_ptr<Collector> collector_;
};

TEST_F(TextFiles, ComeChangeAndGo) {
  EXPECT_EQ(sample(), "a=1 | a.prom");
  machine_.write("texts/b.prom", "b 2\n");
  EXPECT_EQ(sample(), "a=1 b=2 | a.prom b.prom");
  machine_.write("texts/a.prom", "a 77\n");
  EXPECT_EQ(sample(), "a=77 b=2 | a.prom b.prom");
  machine_.write("texts/a.prom", "a 7");
  EXPECT_EQ(sample(), "b=2 | a.prom:the last line has no end: somebody still writes it b.prom");
  machine_.remove("texts/a.prom");
  EXPECT_EQ(sample(), "b=2 | b.prom");
  machine_.remove("texts/b.prom");
  EXPECT_EQ(sample(), "|");
}

// By renaming, as programs should: another file of the same size and time.
TEST_F(TextFiles, AreReadAgainWhenTheyAreReplaced) {
  EXPECT_EQ(sample(), "a=1 | a.prom");
  machine_.write("texts/new", "a 2\n");
  const auto time = std::filesystem::last_write_time(machine_.path("texts/a.prom"));
  std::filesystem::last_write_time(machine_.path("texts/new"), time);
  sample();
  std::filesystem::rename(machine_.path("texts/new"), machine_.path("texts/a.prom"));
  EXPECT_EQ(sample(), "a=2 | a.prom");
}

TEST_F(TextFiles, AFolderThatGoesIsAnError) {
  std::filesystem::rename(machine_.path("texts"), machine_.path("away"));
  EXPECT_NE(sample().find("cannot be read"), std::string::npos);
  std::filesystem::rename(machine_.path("away"), machine_.path("texts"));
  EXPECT_EQ(sample(), "a=1 | a.prom");
}

TEST_F(TextFiles, WhatIsNoFileIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(machine_.path("texts/p.prom").c_str(), 0600), 0);
  machine_.write("texts/d.prom/x", "");
  EXPECT_EQ(sample(), "a=1 | a.prom d.prom:it is no file p.prom:it is no file");
}

// What is in a file that is no text of metrics may be a secret.
TEST_F(TextFiles, ErrorsDoNotTellWhatIsInTheFile) {
  machine_.write("texts/s.prom", "root:$6$secret:19000\n");
  EXPECT_EQ(sample(), "a=1 | a.prom s.prom:line 1: root: has no number");
}

TEST_F(TextFiles, TooMuchIsLeftOutAndCounted) {
  std::string many;
  for (int i = 0; i < 10'005; ++i) many += fmt::format("z{} 1\n", i);
  machine_.write("texts/b.prom", many);
  machine_.write("texts/c.prom", std::string((size_t{4} << 20) + 1, '\n'));
  const auto tables = collector_->sample();
  ASSERT_TRUE(tables);
  EXPECT_EQ(tables->at(1).rows(), 10'000U);
  EXPECT_EQ(tables->front().notes.count("samples_left_out"), 6);
  EXPECT_EQ(tables->front().notes.count("files_left_out"), 1);
  EXPECT_EQ(tables->front().text(2, tables->front().column("error")), "it is longer than 4 MiB");
}

}  // namespace
}  // namespace spotter::collect
