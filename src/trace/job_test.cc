#include "trace/job.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace spotter::trace {
namespace {

TEST(RankInName, ReadsTheUsualForms) {
  const struct {
    const char* path;
    std::optional<i64> rank;
  } cases[] = {
      {"rank3.json", 3},
      {"/traces/run7/rank-34.Jul_15.pt.trace.json.gz", 34},
      {"inference_rank_1.json.gz", 1},
      {"trace_rank[12].json", 12},
      {"sampled_RANK-0.json", 0},
      {"host-rank007.json", 7},
      {"world_size8_rank3_step5.json", 3},
      {"rank_of_rank5.json", 5},
      {"local_rank0_rank9.json", 9},
      {"rank2_of_rank8.json", 2},
      {"rank4/trace.json", std::nullopt},  // a folder
      {"rank4/rank_7.json", 7},
      {"trace_rank=10.json", 10},
      {"trace-rank.10.json", 10},
      {"node_rank_0_local_rank_1.json", std::nullopt},
      {"dp_rank_0_tp_rank_1.json", std::nullopt},
      {"dp_rank_0_rank_5.json", 5},
      {"http_rank_3.json", 3},
      {"local_rank3.json", std::nullopt},
      {"localrank3.json", std::nullopt},
      {"crank3.json", std::nullopt},
      {"ranks3.json", std::nullopt},
      {"rank_unavailable.json", std::nullopt},
      {"rank--3.json", std::nullopt},
      {"rank[3.json", std::nullopt},
      {"rank99999999999999999999.json", std::nullopt},
      {"rank", std::nullopt},
      {"trace.json", std::nullopt},
      {"-", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(rank_in_name(c.path), c.rank) << c.path;
}

RankEvidence file(const char* path, std::optional<i64> contents, std::optional<i64> name,
                  bool has_events = true) {
  return {path, contents, name, has_events, 0, 0};
}

TEST(ResolveRanks, ContentsThenNameThenOrder) {
  Notes notes;
  const auto ranks = resolve_ranks(
      {file("c.json", std::nullopt, std::nullopt), file("a.json", 1, 5), file("b.json", std::nullopt, 0),
       file("d.json", std::nullopt, std::nullopt), file("0.json", std::nullopt, std::nullopt, false)},
      notes);
  ASSERT_TRUE(ranks.has_value());
  const std::vector<std::pair<std::optional<i64>, RankSource>> expected = {
      {2, RankSource::order},
      {1, RankSource::file_contents},
      {0, RankSource::file_name},
      {3, RankSource::order},
      {std::nullopt, RankSource::unknown}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*ranks)[i].rank, expected[i].first) << i;
    EXPECT_EQ((*ranks)[i].source, expected[i].second) << i;
  }
  EXPECT_EQ(notes.count("rank_from_file_name"), 1);
  EXPECT_EQ(notes.count("rank_by_order"), 2);
  EXPECT_EQ(notes.count("rank_disagrees"), 1);
}

TEST(ResolveRanks, ReceiptsComeBeforeNamesAndAfterContents) {
  const auto with_receipt = [](RankEvidence evidence, i64 rank) {
    evidence.receipt_rank = rank;
    return evidence;
  };
  Notes notes;
  const auto ranks = resolve_ranks(
      {with_receipt(file("a", 4, std::nullopt), 5), with_receipt(file("b", std::nullopt, 6), 7),
       with_receipt(file("c", std::nullopt, std::nullopt, false), 8), with_receipt(file("d", 9, 9), 9)},
      notes);
  ASSERT_TRUE(ranks.has_value());
  const std::vector<std::pair<std::optional<i64>, RankSource>> expected = {{4, RankSource::file_contents},
                                                                           {7, RankSource::receipts},
                                                                           {8, RankSource::receipts},
                                                                           {9, RankSource::file_contents}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*ranks)[i].rank, expected[i].first) << i;
    EXPECT_EQ((*ranks)[i].source, expected[i].second) << i;
  }
  EXPECT_EQ(notes.count("rank_from_receipts"), 2);
  EXPECT_EQ(notes.count("rank_disagrees"), 2);
  EXPECT_EQ(notes.all().size(), 3u);
}

TEST(ResolveRanks, OrderIsByPath) {
  Notes notes;
  const auto ranks =
      resolve_ranks({file("b", std::nullopt, std::nullopt), file("a", std::nullopt, std::nullopt)}, notes);
  ASSERT_TRUE(ranks.has_value());
  EXPECT_EQ((*ranks)[0].rank, 1);
  EXPECT_EQ((*ranks)[1].rank, 0);
}

TEST(ResolveRanks, NumbersInPathsCountAsNumbers) {
  Notes notes;
  std::vector<RankEvidence> files;
  const char* const paths[] = {"t10.json", "t9.json", "t010/b.json", "t0", "t1", "t10", "t"};
  for (const char* path : paths) files.push_back(file(path, std::nullopt, std::nullopt));
  const auto ranks = resolve_ranks(files, notes);
  ASSERT_TRUE(ranks.has_value());
  std::vector<i64> found;
  for (const ResolvedRank& rank : *ranks) found.push_back(*rank.rank);
  EXPECT_EQ(found, (std::vector<i64>{5, 3, 6, 1, 2, 4, 0}));
}

// "rank_2/trace.json" is before "rank_10/trace.json".
TEST(ResolveRanks, FoldersThatAreCalledByRanksAreInTheirOrder) {
  Notes notes;
  std::vector<std::string> paths;
  for (int rank = 0; rank < 12; ++rank) paths.push_back(fmt::format("rd/rank_{}/trace.json", rank));
  std::ranges::sort(paths);
  std::vector<RankEvidence> files;
  for (const std::string& path : paths) files.push_back(file(path.c_str(), std::nullopt, rank_in_name(path)));
  const auto ranks = resolve_ranks(files, notes);
  ASSERT_TRUE(ranks.has_value());
  for (size_t i = 0; i < paths.size(); ++i)
    EXPECT_EQ(fmt::format("rd/rank_{}/trace.json", *(*ranks)[i].rank), paths[i]);
}

TEST(ResolveRanks, SaysNothingWhereTheContentsDo) {
  Notes notes;
  EXPECT_TRUE(resolve_ranks({file("a", 4, std::nullopt), file("b", 2, 2)}, notes).has_value());
  EXPECT_TRUE(notes.empty());
}

TEST(ResolveRanks, TwoFilesOfOneRankAreAnErrorThatNamesBoth) {
  Notes notes;
  const auto ranks = resolve_ranks({file("a.json", 3, std::nullopt), file("b.json", std::nullopt, 3)}, notes);
  ASSERT_FALSE(ranks.has_value());
  EXPECT_EQ(ranks.error().code, Code::invalid);
  for (const char* part : {"a.json", "b.json", "rank 3"})
    EXPECT_NE(ranks.error().message.find(part), std::string::npos) << ranks.error().message;
}

TEST(ResolveRanks, TellsCapturesOneAfterTheOtherFromRanks) {
  const auto at = [](const char* path, Ns start, Ns end, std::optional<i64> rank = {}) {
    RankEvidence e = file(path, rank, std::nullopt);
    e.start = start;
    e.end = end;
    return e;
  };
  const auto told = [](const std::vector<RankEvidence>& files) {
    Notes notes;
    EXPECT_TRUE(resolve_ranks(files, notes).has_value());
    return notes.count("captures_at_different_times") > 0;
  };
  EXPECT_TRUE(told({at("a", 0, 10), at("b", 11, 20)}));
  EXPECT_TRUE(told({at("c", 50, 60), at("a", 0, 30), at("b", 11, 20)}));
  EXPECT_FALSE(told({at("a", 0, 30), at("b", 11, 20), at("c", 25, 60)}));
  EXPECT_FALSE(told({at("a", 0, 10), at("b", 11, 20, 1)}));  // says its rank
  EXPECT_FALSE(told({at("a", 0, 10), at("b", 20, 20)}));     // says no time
}

TEST(ResolveRanks, OneFileNeedsNoWordAboutItsNumber) {
  Notes notes;
  EXPECT_EQ(resolve_ranks({file("a", std::nullopt, std::nullopt)}, notes)->at(0).rank, 0);
  EXPECT_TRUE(notes.empty());
}

TEST(SourceUrl, OfReceiptsThatAgree) {
  const std::string commit(40, 'a'), github = "https://github.com/o/r@" + commit,
                                     web = "https://github.com/o/r/blob/" + commit;
  const auto url = [](std::vector<std::pair<std::string, std::string>> sources) {
    Job job;
    for (const auto& [source, root] : sources) {
      job.files.emplace_back();
      job.files.back().source = source;
      job.files.back().source_root = root;
    }
    return source_url_of(job);
  };
  EXPECT_EQ(url({{github, "/work"}, {github, "/work"}}), "/work=" + web + " " + web);
  EXPECT_EQ(url({{github, "/b"}, {github, "/a"}}), "/a=" + web + " /b=" + web + " " + web);
  EXPECT_EQ(url({}), "");
  EXPECT_EQ(url({{github, "/work"}, {"", ""}}), "") << "one does not tell";
  EXPECT_EQ(url({{github, "/work"}, {"https://github.com/o/r@" + std::string(40, 'b'), "/work"}}), "");
  EXPECT_EQ(url({{"javascript:alert(1)@" + commit, "/work"}}), "");
  for (const char* root : {"", "/", "work", "/wo rk", "/a=javascript:x", "/a\nb", "/{path}", "/*"})
    EXPECT_EQ(url({{github, root}}), web) << root;
}

}  // namespace
}  // namespace spotter::trace
