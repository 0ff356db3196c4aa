#include "analyze/flight_recorder/group_findings.h"

#include <gtest/gtest.h>

#include "analyze/flight_recorder/flight_records.h"
#include "analyze/list.h"

namespace spotter::analyze {
namespace {

using Kind = GroupFinding::Kind;
using Ranks = std::set<i64>;

// One rank's record, call by call.
class Record {
 public:
  explicit Record(i64 rank, std::vector<i64> members = {0, 1, 2}) {
    record_.file = {fmt::format("dump_{}", rank), rank};
    record_.version = "2.10";
    if (!members.empty()) record_.groups.push_back({"0", "world", std::move(members)});
  }
  Record& call(i64 sequence, const std::string& operation, bool ended, std::vector<i64> in = {8},
               std::vector<i64> out = {8}) {
    FlightRecord::Call& c = add(operation, ended);
    c.collective_seq = sequence;
    c.input_sizes = {std::move(in)};
    c.output_sizes = {std::move(out)};
    c.input_types = c.output_types = {"Float"};
    return *this;
  }
  Record& p2p(i64 sequence, const std::string& operation, bool ended = false) {
    FlightRecord::Call& c = add(operation, ended);
    c.is_p2p = true;
    c.p2p_seq = sequence;
    return *this;
  }
  // The recorder has forgotten its first calls.
  Record& from(i64 record_id) {
    next_ = record_id;
    return *this;
  }
  Record& group(const std::string& name, std::vector<i64> members) {
    record_.groups.push_back({name, "part", std::move(members)});
    group_ = name;
    return *this;
  }
  FlightRecord::Call& last() { return record_.calls.back(); }
  operator FlightRecord() const { return record_; }

 private:
  FlightRecord::Call& add(const std::string& operation, bool ended) {
    FlightRecord::Call& c = record_.calls.emplace_back();
    c.record_id = next_++;
    c.group = group_;
    c.group_id = group_ == "0" ? 0 : 1;
    c.description = group_ == "0" ? "world" : "part";
    c.name = "nccl:" + operation;
    c.state = ended ? FlightRecord::State::completed : FlightRecord::State::scheduled;
    c.created = 1000 * c.record_id + record_.file.rank;
    return c;
  }

  FlightRecord record_;
  std::string group_ = "0";
  i64 next_ = 0;
};

struct Outcome {
  ProcessGroups groups;
  std::vector<GroupFinding> findings;

  const GroupFinding* find(Kind kind, std::string_view group = "0") const {
    for (const GroupFinding& f : findings)
      if (f.kind == kind && groups.groups()[f.group].name == group) return &f;
    return nullptr;
  }
  std::string kinds() const {
    std::string text;
    for (const GroupFinding& f : findings)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind_name(f.kind), f.sequence);
    return text;
  }
  std::string operation(const GroupFinding& f) const { return groups.form(f.form.value()).operation; }
};

Outcome outcome_of(const std::vector<FlightRecord>& records) {
  Outcome o;
  for (const FlightRecord& r : records) o.groups.add(r);
  o.findings = group_findings(o.groups);
  return o;
}

TEST(GroupFindings, NothingIsUnfinished) {
  const auto all = [](i64 rank) {
    return Record(rank).call(1, "broadcast", true).call(2, "all_reduce", true);
  };
  const Outcome o = outcome_of({all(0), all(1), all(2)});
  ASSERT_EQ(o.kinds(), "completed 2");
  const GroupFinding& f = o.findings[0];
  EXPECT_EQ(f.ranks, (Ranks{0, 1, 2}));
  EXPECT_EQ(f.ended, (Ranks{0, 1, 2}));
  EXPECT_EQ(o.operation(f), "all_reduce");
  EXPECT_EQ(f.since, 1000);
  EXPECT_TRUE(first_to_look_at(o.findings).absent.empty());
}

TEST(GroupFindings, OneRankHasNotCalledWhatTheOthersWaitIn) {
  const auto waits = [](i64 rank) {
    return Record(rank).call(1, "broadcast", true).call(2, "all_reduce", false);
  };
  const Outcome o = outcome_of({waits(0), waits(1), Record(2).call(1, "broadcast", true)});
  ASSERT_EQ(o.kinds(), "completed 1, not_joined 2");
  const GroupFinding& f = o.findings[1];
  EXPECT_EQ(f.ranks, Ranks{2});
  EXPECT_EQ(f.missing, Ranks{2});
  EXPECT_EQ(f.inside, (Ranks{0, 1}));
  EXPECT_TRUE(f.ended.empty() && f.silent.empty() && f.without_dump.empty());
  EXPECT_EQ(f.since, 1000);
  EXPECT_EQ(o.operation(f), "all_reduce");
  EXPECT_EQ(first_to_look_at(o.findings).absent, Ranks{2});
  EXPECT_TRUE(first_to_look_at(o.findings).left_behind.empty());
}

TEST(GroupFindings, AllAreIn) {
  const auto waits = [](i64 rank) {
    return Record(rank).call(1, "all_reduce", false).call(2, "barrier", false);
  };
  const Outcome o = outcome_of({waits(0), waits(1), waits(2)});
  ASSERT_EQ(o.kinds(), "unfinished 1");
  EXPECT_EQ(o.findings[0].ranks, (Ranks{0, 1, 2}));
  EXPECT_TRUE(first_to_look_at(o.findings).absent.empty());
}

// Rank 2's device hangs in what the others have ended; they have gone on, and wait for it later.
TEST(GroupFindings, OneRankIsLeftBehind) {
  const auto goes_on = [](i64 rank) {
    return Record(rank).call(1, "all_reduce", true).call(2, "all_reduce", true).call(3, "all_gather", false);
  };
  const Outcome o = outcome_of(
      {goes_on(0), goes_on(1), Record(2).call(1, "all_reduce", true).call(2, "all_reduce", false)});
  ASSERT_EQ(o.kinds(), "completed 1, left_behind 2, not_joined 3");
  EXPECT_EQ(o.findings[1].ranks, Ranks{2});
  EXPECT_EQ(o.findings[1].ended, (Ranks{0, 1}));
  EXPECT_EQ(o.findings[2].ranks, Ranks{2});
  EXPECT_EQ(first_to_look_at(o.findings).left_behind, Ranks{2});
}

// A dump may leave out what has ended: then a rank that is in nothing has none of the group.
TEST(GroupFindings, RanksThatSayNothingAndRanksWithoutADump) {
  const Record waits =
      Record(0, {0, 1, 2, 3}).from(70).call(9, "all_reduce", false).call(10, "all_reduce", false);
  FlightRecord nothing = Record(1, {0, 1, 2, 3});
  nothing.statuses = {{0, 8, 8, 8}};
  const Outcome o =
      outcome_of({waits, nothing, Record(2, {0, 1, 2, 3}).from(71).call(10, "all_reduce", false)});
  ASSERT_EQ(o.kinds(), "completed 8, not_joined 9");
  const GroupFinding& f = o.findings[1];
  EXPECT_EQ(f.inside, Ranks{0});
  EXPECT_EQ(f.ended, Ranks{2});
  EXPECT_EQ(f.silent, Ranks{1});
  EXPECT_EQ(f.without_dump, Ranks{3});
  EXPECT_EQ(f.ranks, Ranks{1});
  EXPECT_FALSE(o.findings[0].form);  // nobody remembers number 8
  EXPECT_EQ(first_to_look_at(o.findings).absent, Ranks{1});
  EXPECT_EQ(first_to_look_at(o.findings).unknown, Ranks{3});
}

// A record that forgets nothing and has no call of the group: its rank was never in it.
TEST(GroupFindings, ARankThatHasNotBegun) {
  const Outcome o = outcome_of({Record(0, {0, 1}).call(1, "barrier", false), Record(1, {0, 1})});
  ASSERT_EQ(o.kinds(), "not_joined 1");
  EXPECT_EQ(o.findings[0].missing, Ranks{1});
}

TEST(GroupFindings, CallsDiffer) {
  const auto reduces = [](i64 rank) {
    return Record(rank).call(1, "all_reduce", true).call(2, "all_reduce", false);
  };
  const auto difference = [&](const FlightRecord& third) {
    const Outcome o = outcome_of({reduces(0), reduces(1), third});
    const GroupFinding* f = o.find(Kind::differs);
    EXPECT_TRUE(!f || f->ranks == Ranks{2});
    return f ? fmt::format("{}: {}", f->sequence, f->detail) : "";
  };
  EXPECT_EQ(difference(reduces(2)), "");
  EXPECT_EQ(difference(Record(2).call(1, "all_reduce", true).call(2, "all_gather", false, {8}, {24})),
            "2: ranks 0-1: all_reduce [[8]] Float; rank 2: all_gather [[8]] -> [[24]] Float");
  EXPECT_EQ(difference(Record(2).call(1, "all_reduce", true, {9}, {9}).call(2, "all_reduce", false)),
            "1: ranks 0-1: all_reduce [[8]] Float; rank 2: all_reduce [[9]] Float");
  Record doubles = Record(2).call(1, "all_reduce", true).call(2, "all_reduce", false);
  doubles.last().input_types = doubles.last().output_types = {"Double"};
  EXPECT_EQ(difference(doubles), "2: ranks 0-1: all_reduce [[8]] Float; rank 2: all_reduce [[8]] Double");
  // Coalesced calls share a number: two are not one.
  EXPECT_EQ(
      difference(
          Record(2).call(1, "all_reduce", true).call(2, "all_reduce", false).call(2, "all_reduce", false)),
      "2: ranks 0-1: all_reduce [[8]] Float; rank 2: all_reduce [[8]] Float and 1 more calls");
}

TEST(GroupFindings, WhatIsForgottenInPartDoesNotDiffer) {
  const auto last_of_two = [](i64 record_id) {
    return Record(1, {0, 1}).from(record_id).call(1, "all_reduce", true, {9}, {9}).call(2, "barrier", true);
  };
  const Record both = Record(0, {0, 1})
                          .call(1, "all_reduce", true)
                          .call(1, "all_reduce", true, {9}, {9})
                          .call(2, "barrier", true);
  EXPECT_EQ(outcome_of({both, last_of_two(6)}).kinds(), "completed 2");
  EXPECT_EQ(outcome_of({both, last_of_two(0)}).kinds(), "completed 2, differs 1");
}

TEST(GroupFindings, SizesThatMayDifferDoNot) {
  const auto pair = [](const FlightRecord& a, const FlightRecord& b) {
    const Outcome o = outcome_of({a, b});
    const GroupFinding* f = o.find(Kind::differs);
    return f ? f->detail : "";
  };
  const auto call = [](i64 rank, const std::string& operation, i64 in, i64 out) {
    return Record(rank, {0, 1}).call(1, operation, true, {in}, {out});
  };
  EXPECT_EQ(pair(call(0, "all_to_all", 8, 6), call(1, "all_to_all", 8, 10)), "");
  EXPECT_EQ(pair(call(0, "all_to_all", 8, 6), call(1, "all_to_all", 8, 11)),
            "all ranks give 16 elements and take 17");
  EXPECT_EQ(pair(call(0, "gather", 8, 16), call(1, "gather", 8, 0)), "");
  EXPECT_NE(pair(call(0, "gather", 8, 16), call(1, "gather", 9, 0)), "");
  EXPECT_EQ(pair(call(0, "scatter", 16, 8), call(1, "scatter", 0, 8)), "");
  EXPECT_NE(pair(call(0, "scatter", 16, 8), call(1, "scatter", 0, 9)), "");
  EXPECT_EQ(pair(call(0, "all_gather_v", 8, 17), call(1, "all_gather_v", 9, 17)), "");
  EXPECT_NE(pair(call(0, "_all_gather_base", 8, 16), call(1, "_all_gather_base", 9, 16)), "");
  // Of an all-to-all of three ranks that two have called nobody knows.
  EXPECT_EQ(pair(Record(0).call(1, "all_to_all", false, {8}, {6}),
                 Record(1).call(1, "all_to_all", false, {8}, {11})),
            "");
}

// Ranks within the group {4, 7} are 0 and 1.
TEST(GroupFindings, ReceivesThatNobodyAnswers) {
  const auto rank = [](i64 r) { return Record(r, {4, 7}); };
  const Outcome answered = outcome_of({rank(4).p2p(1, "recv 0<-1"), rank(7).p2p(1, "send 1->0")});
  EXPECT_EQ(answered.kinds(), "");
  const Outcome o = outcome_of({rank(4).p2p(1, "recv 0<-1").p2p(2, "recv 0<-1").p2p(3, "send 0->1"),
                                rank(7).p2p(1, "send 1->0").p2p(2, "send 1->0", true)});
  ASSERT_EQ(o.kinds(), "unanswered 2");
  EXPECT_EQ(o.findings[0].ranks, Ranks{7});
  EXPECT_EQ(o.findings[0].inside, Ranks{4});
  EXPECT_EQ(o.findings[0].detail, "rank 4 from 7");
  EXPECT_EQ(o.operation(o.findings[0]), "recv 0<-1");
  EXPECT_EQ(first_to_look_at(o.findings).absent, Ranks{7});
}

// Ranks 0 and 1 wait for 2 in the world; 2 waits for 3 in a group of their own.
TEST(FirstToLookAt, WhoWaitsForNobody) {
  const std::vector<i64> world = {0, 1, 2, 3}, part = {2, 3};
  const auto waits = [&](i64 rank) {
    return Record(rank, world).call(1, "barrier", true).call(2, "barrier", false);
  };
  const Outcome o =
      outcome_of({waits(0), waits(1),
                  Record(2, world).call(1, "barrier", true).group("1", part).call(1, "all_gather", false),
                  Record(3, world).call(1, "barrier", true).group("1", part)});
  ASSERT_TRUE(o.find(Kind::not_joined) && o.find(Kind::not_joined, "1"));
  EXPECT_EQ(o.find(Kind::not_joined)->missing, (Ranks{2, 3}));
  EXPECT_EQ(first_to_look_at(o.findings).absent, Ranks{3});
}

// Rank 7 does not send since it waits itself, for one that left no dump: as one that was killed does.
TEST(FirstToLookAt, WhoWaitsForARankWithoutADump) {
  const Outcome o = outcome_of({Record(4, {4, 7}).p2p(1, "recv 0<-1"),
                                Record(7, {4, 7}).group("1", {7, 9}).call(1, "all_to_all", false)});
  ASSERT_TRUE(o.find(Kind::unanswered) && o.find(Kind::unfinished, "1"));
  EXPECT_EQ(first_to_look_at(o.findings).absent, Ranks());
  EXPECT_EQ(first_to_look_at(o.findings).unknown, Ranks{9});
}

// The host's backends say of a call only that it is retired, and nothing of a group's ranks.
TEST(GroupFindings, BackendsOnTheHost) {
  const auto record = [](i64 rank, bool retired) {
    Record r = Record(rank, {}).call(1, "all_reduce", false);
    r.last().name = "gloo:all_reduce";
    r.last().is_retired = retired;
    return r;
  };
  const Outcome o = outcome_of({record(0, true), record(1, false)});
  ASSERT_EQ(o.kinds(), "left_behind 1");
  EXPECT_EQ(o.findings[0].ranks, Ranks{1});
}

// Two groups of one name are two where their ranks differ.
TEST(ProcessGroups, AreTheSameWhereNameAndRanksAre) {
  const Outcome o =
      outcome_of({Record(0, {0, 1}).call(1, "barrier", true), Record(1, {1, 0}).call(1, "barrier", true),
                  Record(2, {2, 3}).call(5, "barrier", true)});
  ASSERT_EQ(o.groups.groups().size(), 2u);
  EXPECT_EQ(o.groups.groups()[0].members, (Ranks{0, 1}));
  EXPECT_EQ(o.groups.groups()[0].ranks.size(), 2u);
  EXPECT_EQ(o.kinds(), "completed 1, completed 5");
}

TEST(ProcessGroups, OfTwoRecordsOfARankTheFirstCounts) {
  const Outcome o =
      outcome_of({Record(0, {0}).call(1, "barrier", true), Record(0, {0}).call(2, "barrier", false)});
  EXPECT_EQ(o.kinds(), "completed 1");
  EXPECT_EQ(o.groups.notes().count("flight_record_twice"), 1);
}

TEST(FlightRecorder, TheTables) {
  const auto waits = [](i64 rank) {
    return Record(rank).call(1, "broadcast", true).call(2, "all_reduce", false);
  };
  FlightRecord first = waits(0);
  first.statuses = {{0, 2, -1, 1}, {17, 5, 5, 5}};
  const Outcome o = outcome_of({first, waits(1), Record(2).call(1, "broadcast", true)});
  const FlightRecords records = {.groups = o.groups, .findings = o.findings, .notes = {}, .count = 3};
  const Table table = kFlightRecorder.of_records(records);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.text(1, table.column("finding")), "not_joined");
  EXPECT_EQ(table.text(1, table.column("description")), "world");
  EXPECT_EQ(table.integer(1, table.column("sequence")), 2);
  EXPECT_EQ(table.text(1, table.column("operation")), "all_reduce");
  EXPECT_EQ(table.text(1, table.column("sizes")), "[[8]]");
  EXPECT_EQ(table.text(1, table.column("ranks")), "2");
  EXPECT_EQ(table.text(1, table.column("inside")), "0-1");
  EXPECT_TRUE(is_null(table.at(1, table.column("ended"))));
  EXPECT_EQ(table.integer(1, table.column("since_ns")), 1000);
  const Table ranks = kFlightRecorderRanks.of_records(records);
  ASSERT_EQ(ranks.rows(), 3u);
  EXPECT_EQ(ranks.integer(0, ranks.column("last_sequence")), 2);
  EXPECT_EQ(ranks.integer(0, ranks.column("first_open_sequence")), 2);
  EXPECT_EQ(ranks.text(0, ranks.column("open_operation")), "all_reduce");
  EXPECT_EQ(ranks.integer(0, ranks.column("status_enqueued")), 2);
  EXPECT_EQ(ranks.integer(0, ranks.column("status_started")), -1);
  EXPECT_EQ(ranks.integer(2, ranks.column("open_calls")), 0);
  EXPECT_TRUE(is_null(ranks.at(2, ranks.column("open_operation"))));
  EXPECT_TRUE(is_null(ranks.at(2, ranks.column("status_completed"))));
}

}  // namespace
}  // namespace spotter::analyze
