#include "read/boundary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace spotter::read {
namespace {

// The text, with '|' where the function says. A text without '|' stands for "nowhere".
template <class F>
std::string marked(std::string text, F&& where) {
  std::erase(text, '|');
  const char* begin = text.data();
  const char* at = where(begin, begin + text.size());
  if (at && at != begin + text.size()) text.insert(static_cast<size_t>(at - begin), "|");
  return text;
}

TEST(Boundary, LastBoundary) {
  const char* const texts[] = {
      R"({"ph":"X"}|,{"ph":"Y")",
      R"({"a":1}, {"ph":1}|,{"name":2)",
      "{\"a\":1}|\n ,\r\n\t{ \n\"ts\" : 5",
      R"({"a":{}}|, {"args":{)",
      R"({"ph":1}|,{"pid":1},{"other":1})",  // an unusual first key
      R"({"ph":1}|,{"pid":1},{"ph")",        // the last colon is not there yet
      R"({"ph":1}|,{"pid":1},{"p)",
      R"({"ph":1}|,{"pid":1},{)",
      R"({"ph":1}|,{"pid":1},)",
      R"({"ph":1}|,{"dur":1})",
      // nowhere
      "",
      ",",
      "{",
      R"({"ph":1})",
      R"(,{"ph":1)",
      R"([{"ph":1,{"ph":1)",
      R"("}, {\"ph\":1")",
      R"({"a":1}{"ph":1)",
      R"({"a":[{"ph":1)",
      R"({"a":1},[{"ph":1)",
  };
  for (const char* text : texts) EXPECT_EQ(marked(text, last_boundary), text);
}

TEST(Boundary, NextEvent) {
  const char* const texts[] = {
      R"(|{"ph":1})",
      R"(garbage } |{ "name" : "a")",
      R"(1}, |{"ph":1},{"ph":2})",
      R"(x{"other":1},|{"id":1)",
      // A value of a key and the first element of a list are part of something else.
      R"(x:{"ph":1},|{"ph":2})",
      R"(x : [ {"ph":1},|{"ph":2})",
      // nowhere
      "",
      "{",
      R"({"ph")",
      R"({"ph" 1})",
      R"({\"ph\":1})",
      R"(x:{"ph":1})",
      R"({"other":1})",
  };
  for (const char* text : texts) EXPECT_EQ(marked(text, next_event), text);
}

// '|' stands where the members behind the events begin; the text begins where the events may end.
TEST(Boundary, EventsEnd) {
  const auto final = [](const char* p, const char* end) { return events_end(p, end, true); };
  const auto more_follows = [](const char* p, const char* end) { return events_end(p, end, false); };
  const char* const ends[] = {
      R"(]|, "traceName": "x"})",
      R"(]|})",
      R"(]]|})",
      R"(]|, "a": [{"id": 0}, {"id": 1}], "b": 2})",
      R"(]|, "traceEvents": [{"ph": "X"}]})",
      R"(]|}{"traceEvents": [{"ph": "X"}]})",
      R"(] |"host_name": "n"})",
      R"(]|} junk)",
  };
  for (const char* text : ends) EXPECT_EQ(marked(text, final), text);
  // Without the bracket the events end in the final text only; `rest` is then the text itself.
  for (const char* text : {R"(})", R"("host_name": "n"})"}) {
    EXPECT_EQ(final(text, text + strlen(text)), text);
    EXPECT_EQ(more_follows(text, text + strlen(text)), nullptr) << text;
  }
  // A list that ends inside a damaged event.
  const char* const go_on[] = {
      R"(], "stream": 7}}, {"ph": "X"})",
      R"(] {"ph": "X"})",
      R"(]}, {"ph": "X"})",
      R"(], "y": [[1, 2}}, {"ph": "X"})",
  };
  for (const char* text : go_on) {
    EXPECT_EQ(marked(text, final), text);
    EXPECT_EQ(marked(text, more_follows), text);
  }
  // Where more text follows, an event does, and so the object cannot be over.
  for (const char* text : {R"(]})", R"(], "stream": 7}})"}) EXPECT_EQ(marked(text, more_follows), text);
  EXPECT_EQ(marked(R"(]|, "a": [{"id": 0})", more_follows), R"(]|, "a": [{"id": 0})");
}

}  // namespace
}  // namespace spotter::read
