#include "base/text/suggestion.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

using Words = std::vector<std::string>;

TEST(Suggestion, AnEditIsALetterMoreLessChangedOrSwapped) {
  EXPECT_EQ(edit_distance("analyze", "analyze"), 0u);
  EXPECT_EQ(edit_distance("analyse", "analyze"), 1u);
  EXPECT_EQ(edit_distance("anayze", "analyze"), 1u);
  EXPECT_EQ(edit_distance("analyzee", "analyze"), 1u);
  EXPECT_EQ(edit_distance("anlayze", "analyze"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  // Each place is edited once: of "ca" the swap "ac" may not get a letter in between.
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

TEST(Suggestion, TheNearestWordsAreMeant) {
  const Words commands = {"analyze", "analyses", "diff", "simulate", "export", "trace", "ps", "status"};
  EXPECT_EQ(similar_words("analyse", commands), Words{"analyze"});  // "analyses" is as near, but longer
  EXPECT_EQ(similar_words("anlayze", commands), Words{"analyze"});
  EXPECT_EQ(similar_words("Diff", commands), Words{"diff"});
  EXPECT_EQ(similar_words("stauts", commands), Words{"status"});
  EXPECT_EQ(similar_words("frobnicate", commands), Words{});
  EXPECT_EQ(similar_words("", commands), Words{});
  EXPECT_EQ(similar_words("xy", commands), Words{});  // two letters of two are no mistake but another word
  EXPECT_EQ(similar_words(std::string(1000, 'a'), Words{std::string(1000, 'a') + "b"}), Words{});
}

TEST(Suggestion, ABeginningStandsForWhatItBegins) {
  const Words tables = {"queue_length", "queue_length_series", "queue_blocked", "queue_more", "steps"};
  EXPECT_EQ(similar_words("queue", tables), (Words{"queue_length", "queue_length_series", "queue_blocked"}));
  EXPECT_EQ(similar_words("step", tables), Words{"steps"});
}

TEST(Suggestion, IsTheEndOfASentence) {
  const Words words = {"analyze", "analyses", "steps"};
  EXPECT_EQ(did_you_mean("step", words), "; did you mean \"steps\"?");
  EXPECT_EQ(did_you_mean("stepx", Words{"steps", "stepy"}), "; did you mean \"steps\" or \"stepy\"?");
  EXPECT_EQ(did_you_mean("nothing", words), "");
  EXPECT_EQ(did_you_mean("nothing", words, "; there are three"), "; there are three");
  EXPECT_EQ(did_you_mean("ab", Words{"abc", "abd", "abe"}), "; did you mean \"abc\", \"abd\" or \"abe\"?");
}

}  // namespace
}  // namespace spotter
