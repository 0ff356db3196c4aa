#include "base/notes.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(Notes, AddsUpEqualNotesAndKeepsTheFirstPosition) {
  Notes notes;
  EXPECT_TRUE(notes.empty());
  notes.add("damaged_event", Severity::loss, "events were damaged", -1);
  notes.add("damaged_event", Severity::loss, "events were damaged", 500);
  notes.add("damaged_event", Severity::loss, "events were damaged", 20, 3);
  notes.add("damaged_event", Severity::loss, "events were damaged", 90);
  ASSERT_EQ(notes.all().size(), 1u);
  EXPECT_EQ(notes.all()[0].count, 6);
  EXPECT_EQ(notes.all()[0].position, 20);
}

TEST(Notes, OrderIsBySeverityThenArrival) {
  Notes notes;
  notes.add("a", Severity::info, "info 1");
  notes.add("b", Severity::loss, "loss 1");
  notes.add("c", Severity::repair, "repair 1");
  notes.add("d", Severity::loss, "loss 2");
  notes.add("e", Severity::info, "info 2");
  std::string kinds;
  for (const Note& note : notes.all()) kinds += note.kind;
  EXPECT_EQ(kinds, "bdcae");
}

TEST(Notes, CountSumsOverSentences) {
  Notes notes;
  notes.add("lost", Severity::loss, "one way", -1, 2);
  notes.add("lost", Severity::loss, "another way", -1, 5);
  EXPECT_EQ(notes.all().size(), 2u);
  EXPECT_EQ(notes.count("lost"), 7);
  EXPECT_EQ(notes.count("found"), 0);
}

TEST(Notes, MergeJoinsScopes) {
  Notes all;
  for (const char* scope : {"rank0.json", "rank1.json", "rank2.json"}) {
    Notes one;
    one.add("damaged_event", Severity::loss, "events were damaged", 1234);
    all.merge(one, scope);
  }
  ASSERT_EQ(all.all().size(), 1u);
  const Note& note = all.all()[0];
  EXPECT_EQ(note.count, 3);
  EXPECT_EQ(note.scope, "rank0.json");
  EXPECT_EQ(note.scopes, 3);
  EXPECT_EQ(note.position, 1234);
}

TEST(Notes, MergeOfOneScopeTwiceCountsItOnce) {
  Notes part;
  part.add("k", Severity::repair, "s", 70);
  Notes other;
  other.add("k", Severity::repair, "s", 40);
  Notes all;
  all.merge(part, "f");
  all.merge(other, "f");
  EXPECT_EQ(all.all()[0].scopes, 1);
  EXPECT_EQ(all.all()[0].position, 40);
}

TEST(Notes, AnInnerScopeIsKept) {
  Notes inner, outer, run;
  inner.add("k", Severity::info, "s");
  outer.merge(inner, "rank 3");
  run.merge(outer, "job");
  EXPECT_EQ(run.all()[0].scope, "rank 3");
}

TEST(Notes, TheWholeRunCoversAFile) {
  Notes run, file;
  run.add("k", Severity::info, "s");
  file.add("k", Severity::info, "s", 9);
  Notes scoped;
  scoped.merge(file, "f");
  Notes run_first = run;
  run_first.merge(scoped);
  Notes file_first = scoped;
  file_first.merge(run);
  for (const Notes& notes : {run_first, file_first}) {
    EXPECT_EQ(notes.all()[0].scope, "");
    EXPECT_EQ(notes.all()[0].position, -1);
    EXPECT_EQ(notes.all()[0].count, 2);
  }
}

TEST(Notes, MergeWithItself) {
  Notes notes;
  notes.add("k", Severity::info, "s");
  notes.merge(notes);
  EXPECT_EQ(notes.count("k"), 2);
}

TEST(Notes, Text) {
  const auto text = [](i64 count, i64 position, const char* scope, i64 scopes, Severity severity) {
    return to_text(Note{"kind", severity, count, position, scope, scopes, "events were left out"});
  };
  EXPECT_EQ(text(3, 1234, "rank0.json", 3, Severity::loss),
            "3 events were left out (first at byte 1234, in rank0.json and 2 more)");
  EXPECT_EQ(text(1, 0, "rank0.json", 1, Severity::loss),
            "events were left out (once, at byte 0, in rank0.json)");
  EXPECT_EQ(text(1, -1, "", 1, Severity::loss), "events were left out (once)");
  EXPECT_EQ(text(1, -1, "", 1, Severity::info), "events were left out");
  EXPECT_EQ(text(5, -1, "", 1, Severity::info), "5 events were left out");

  Note one_thing{"kind", Severity::loss, 1, 9, "f", 1, "the gzip data is damaged"};
  EXPECT_EQ(to_text(one_thing), "the gzip data is damaged (at byte 9, in f)");
  one_thing.count = one_thing.scopes = 3;
  EXPECT_EQ(to_text(one_thing), "the gzip data is damaged (3 times, first at byte 9, in f and 2 more)");
}

}  // namespace
}  // namespace spotter
