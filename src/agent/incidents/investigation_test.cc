// What an agent makes of what `spotter investigate` says; here a script says it.
#include "agent/incidents/investigation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "capture/capture.h"
#include "render/list.h"

namespace spotter::agent {
namespace {

namespace fs = std::filesystem;

class InvestigationTest : public testing::Test {
 protected:
  InvestigationTest() {
    std::string pattern = fs::temp_directory_path() / "spotter_investigation_XXXXXX";
    CHECK(::mkdtemp(pattern.data()));
    folder_ = pattern;
  }
  ~InvestigationTest() override { fs::remove_all(folder_); }

  // Of a program that answers with receipts and these notes, and then does what `more` says.
  Result<Investigated> investigated(const Notes& notes, const std::string& more, bool wants_report = true) {
    const Table receipts("receipts", capture::receipt_columns());
    std::ofstream(folder_ / "answer") << render::render(render::kJson, {std::span(&receipts, 1), notes});
    const fs::path program = folder_ / "program";
    std::ofstream(program) << fmt::format("#!/bin/sh\n/bin/cat {}/answer\n{}\n", folder_.string(), more);
    fs::permissions(program, fs::perms::owner_all);
    std::optional<Result<Investigated>> got;
    auto begun = Investigation::start(
        loop_, {.program = program, .socket = "none", .job = "1", .wants_report = wants_report},
        [&](Result<Investigated> result) {
          got.emplace(std::move(result));
          loop_.stop();
        });
    CHECK(begun);
    loop_.run();
    return std::move(*got);
  }

  fs::path folder_;
  net::Loop loop_;
};

TEST_F(InvestigationTest, AReportComesBesideTheAnswer) {
  const auto got = investigated({}, "echo $3 $4 >&3");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->report, "none --report\n");
  EXPECT_EQ(got->why_no_report, "");
}

TEST_F(InvestigationTest, NoneIsMadeWhereNoneIsWanted) {
  const auto got = investigated({}, "[ $# = 3 ] && [ ! -e /proc/$$/fd/3 ]", false);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->report, "");
}

TEST_F(InvestigationTest, WhatIsFoundIsToldWithoutAReport) {
  Notes notes;
  notes.add("no_report", Severity::loss, "there is no report of it: no space is left");
  const auto got = investigated(notes, "");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->report, "");
  EXPECT_EQ(got->why_no_report, "there is no report of it: no space is left");
  EXPECT_EQ(got->receipts.name(), "receipts");
}

TEST_F(InvestigationTest, AReportOfAProgramThatFailsIsNone) {
  const auto got = investigated({}, "echo page >&3; exit 1");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::io);
}

}  // namespace
}  // namespace spotter::agent
