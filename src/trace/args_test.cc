#include "trace/args.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

TEST(Args, EverySpellingIsOneArgumentAndEveryArgumentHasOne) {
  std::set<std::string_view> keys;
  std::set<Arg> args;
  for (const ArgSpelling& s : arg_spellings()) {
    EXPECT_TRUE(keys.insert(s.key).second) << s.key;
    args.insert(s.arg);
  }
  EXPECT_EQ(args.size(), kKnownArgs);
  EXPECT_FALSE(args.contains(Arg::count_));
}

TEST(Args, OldSpellingsMeanTodaysArguments) {
  std::map<std::string_view, Arg> by_key;
  for (const ArgSpelling& s : arg_spellings()) by_key[s.key] = s.arg;
  EXPECT_EQ(by_key.at("external id"), Arg::external_id);
  EXPECT_EQ(by_key.at("Profiler Event Index"), Arg::ev_idx);
  EXPECT_EQ(by_key.at("In msg size"), Arg::in_msg_nelems);
  EXPECT_EQ(by_key.at("Process Group ID"), Arg::group_name);
  EXPECT_EQ(by_key.at("cid"), Arg::cbid);
  EXPECT_EQ(by_key.at("bytes"), Arg::bytes);
  EXPECT_EQ(by_key.at("Bytes"), Arg::mem_bytes);
  EXPECT_FALSE(by_key.contains("Device"));     // the pid of an operator
  EXPECT_FALSE(by_key.contains("occupancy"));  // an object of the calculator's inputs
}

TEST(Args, AreShownInTodaysSpelling) {
  const TracePtr t = TraceBuilder().build();
  const auto name = [&](Arg arg) { return t->arg_name(static_cast<ArgId>(arg)); };
  EXPECT_EQ(name(Arg::external_id), "External id");
  EXPECT_EQ(name(Arg::ev_idx), "Ev Idx");
  EXPECT_EQ(name(Arg::group_name), "Process Group Name");
  EXPECT_EQ(name(Arg::in_msg_nelems), "In msg nelems");
  EXPECT_EQ(name(Arg::cbid), "cbid");
  for (ArgId id = 0; id < kKnownArgs; ++id) EXPECT_FALSE(t->arg_name(id).empty());
}

TEST(ArgSet, HoldsWhatItWasGiven) {
  ArgSet set{Arg::stream, Arg::device};
  EXPECT_TRUE(set.has(Arg::stream));
  EXPECT_FALSE(set.has(Arg::grid));
  EXPECT_FALSE(set.all);
  set |= {Arg::grid};
  EXPECT_TRUE(set.has(Arg::grid) && set.has(Arg::device));
  EXPECT_TRUE(ArgSet::everything().has(Arg::sort_index));
}

}  // namespace
}  // namespace spotter::trace
