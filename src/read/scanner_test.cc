#include "read/scanner.h"

#include <gtest/gtest.h>

#include "read/test_events.h"

namespace spotter::read {
namespace {

constexpr unsigned kSeeds = 60;

// What the row of an event without members would be, with these arguments.
std::string bare_row(const std::string& items = {}) { return "X [] '' pid 0 '' tid 0 '' ts 0 dur 0" + items; }

// Events in JSON text that `notes` had nothing to say about, or what it said.
struct Scan {
  explicit Scan(std::string_view text, const ArgSet& args = ArgSet::everything()) {
    TraceData data = scan_text(text, args);
    notes = notes_of(data.notes);
    rows = rows_of(std::move(data));
  }
  std::vector<std::string> rows;
  std::string notes;
};

TEST(Scanner, RandomEventsReadBack) {
  for (unsigned seed = 0; seed < kSeeds; seed++) {
    RandomEvents events(seed);
    std::vector<std::string> rows, lean_rows;
    const std::string text = events.text(1 + events.random.below(150), &rows, &lean_rows);
    ASSERT_EQ(difference(rows_of(scan_text(text, ArgSet::everything())), rows), "") << seed;
    ASSERT_EQ(difference(rows_of(scan_text(text, {}), false), lean_rows), "") << seed;
  }
}

// Arguments that are asked for are the same whether or not others are kept.
TEST(Scanner, AnyChoiceOfArguments) {
  for (unsigned seed = 0; seed < kSeeds; seed++) {
    RandomEvents events(seed);
    const std::string text = events.text(1 + events.random.below(80), nullptr);
    ArgSet some;
    for (size_t i = 0; i < kKnownArgs; i++) some.known[i] = events.random.one_in(3);
    const Trace lean(scan_text(text, some)), all(scan_text(text, ArgSet::everything()));
    ASSERT_EQ(lean.size(), all.size());
    for (EventId e = 0; e < all.size(); e++) {
      std::vector<std::string> expected, got;
      for (const Shape::Item& i : all.shape_of(e).items) {
        if (i.arg < kKnownArgs && some.known[i.arg])
          expected.push_back(as_item(all.arg_name(i.arg), i.type, all.arg_text(e, i)));
      }
      for (const Shape::Item& i : lean.shape_of(e).items)
        got.push_back(as_item(lean.arg_name(i.arg), i.type, lean.arg_text(e, i)));
      ASSERT_EQ(got, expected) << seed;
      ASSERT_EQ(row_of(lean, e, false), row_of(all, e, false)) << seed;
    }
  }
}

// What was learned on the first pass changes nothing on the next ones.
TEST(Scanner, WhatIsLearnedChangesNothing) {
  for (unsigned seed = 0; seed < kSeeds; seed++) {
    RandomEvents events(seed);
    std::vector<std::string> rows;
    const std::string text = events.text(1 + events.random.below(100), &rows);
    std::vector<std::string> thrice = rows;
    for (int pass = 1; pass < 3; pass++) thrice.insert(thrice.end(), rows.begin(), rows.end());
    ASSERT_EQ(difference(rows_of(scan_text(text, ArgSet::everything(), false, 3)), thrice), "") << seed;
  }
}

TEST(Scanner, TheBaselineGivesTheSameColumns) {
  for (unsigned seed = 0; seed < kSeeds; seed++) {
    RandomEvents events(seed);
    const std::string text = events.text(1 + events.random.below(100), nullptr);
    for (const ArgSet& args : {ArgSet::everything(), ArgSet{Arg::stream, Arg::correlation, Arg::name}}) {
      ASSERT_EQ(difference(scan_text(text, args, true), scan_text(text, args)), "") << seed;
    }
  }
}

// More forms at one place, and more edges in all, than are ever learned.
TEST(Scanner, MoreFormsThanAreLearned) {
  std::string text;
  std::vector<std::string> rows;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < 20'000; i++) {
      text += fmt::format(
          R"({{"ph":"X","cat":"c{}","name":"n","args":{{"k{}":{},"stream":{}}},"tid":{},"ts":1,"dur":2}},)",
          i % 200, i, i, i % 300, i);
      rows.push_back(fmt::format(
          "X [c{}] 'n' pid 0 '' tid {} '' ts 1000 dur 2000 span\n  k{} = int32 {}\n  stream = int32 {}",
          i % 200, i, i, i, i % 300));
    }
  }
  EXPECT_EQ(difference(Scan(text).rows, rows), "");
}

// A literal is what stands between two values; it may be of any length, and may end anywhere.
TEST(Scanner, LiteralsOfEveryLength) {
  std::string text;
  std::vector<std::string> rows;
  for (size_t spaces = 0; spaces < 300; spaces++) {
    for (const int tid : {7, 70, 700, 7, 75}) {
      text += fmt::format("{{\"name\":\"n\",{}\"tid\":{},\"args\":{{\"stream\":{},\"x\":1.5}}}},\n",
                          std::string(spaces, ' '), tid, tid);
      rows.push_back(fmt::format(
          "X [] 'n' pid 0 '' tid {} '' ts 0 dur 0\n  stream = int32 {}\n  x = real 1.5", tid, tid));
    }
  }
  const Scan s(text);
  EXPECT_EQ(difference(s.rows, rows), "");
  EXPECT_EQ(s.notes, "");
}

TEST(Scanner, LongTexts) {
  for (const size_t size : {65'534u, 65'535u, 65'536u, 300'000u}) {
    const std::string x(size, 'x');
    const std::string item = as_item("k", ArgType::text, x),
                      list = as_item("k", ArgType::json, "[" + x + "]");
    EXPECT_TRUE(Scan("{\"args\":{\"k\":\"" + x + "\"}}").rows == std::vector{bare_row(item)}) << size;
    EXPECT_TRUE(Scan("{\"args\":{\"k\":[" + x + "]}}").rows == std::vector{bare_row(list)}) << size;
    EXPECT_TRUE(Scan("{\"name\":\"" + x + "\"}").rows[0].find(x) != std::string::npos) << size;
  }
}

// Bare words are part of the text between values, and many of them may come in a row.
TEST(Scanner, ManyBareWordsInARow) {
  std::string args, items;
  for (char key = 'A'; key <= 'Z'; key++) {
    args += fmt::format("{}\"{}\":NaN", args.empty() ? "" : ",", key);
    items += as_item(std::string(1, key), ArgType::json, "NaN");
  }
  EXPECT_EQ(Scan("{\"args\":{" + args + "}}").rows, std::vector{bare_row(items)});
}

TEST(Scanner, ManyArguments) {
  std::string args, items;
  for (int i = 0; i < 400; i++) {
    args += fmt::format("{}\"k{}\":{}", args.empty() ? "" : ",", i, i % 2 ? "5000000000" : "-0.5");
    if (i < 250)
      items += as_item(fmt::format("k{}", i), i % 2 ? ArgType::int64 : ArgType::real,
                       i % 2 ? "5000000000" : "-0.5");
  }
  const Scan s(fmt::format("{{\"args\":{{{}}}}},{{\"args\":{{{}}}}}", args, args));
  EXPECT_EQ(s.rows, std::vector(2, bare_row(items)));
  EXPECT_EQ(s.notes.substr(0, s.notes.find(" events")), "arguments_left_out: 2");
}

// An id of an argument has 16 bits, and so has that of an argument list.
TEST(Scanner, MoreNamesOfArgumentsThanIds) {
  std::string text;
  std::vector<std::string> rows;
  int key = 0;
  for (int event = 0; event < 400; event++) {
    text += "{\"args\":{\"correlation\":7";
    std::string items = as_item("correlation", ArgType::int32, "7");
    for (int i = 0; i < 200; i++, key++) {
      text += fmt::format(",\"k{}\":{}", key, key);
      items += as_item(fmt::format("k{}", key), ArgType::int32, std::to_string(key));
    }
    text += "}},";
    rows.push_back(bare_row(items));
  }
  const Scan s(text);
  ASSERT_EQ(s.rows.size(), rows.size());
  // Whatever is kept is right, and what is not kept is told.
  size_t incomplete = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    if (s.rows[i] == rows[i]) continue;
    incomplete++;
    EXPECT_TRUE(rows[i].starts_with(s.rows[i])) << i << ": " << s.rows[i].substr(0, 300);
  }
  EXPECT_GT(incomplete, 0u);
  EXPECT_NE(s.notes.find("arguments_left_out"), std::string::npos) << s.notes;
}

TEST(Scanner, MoreArgumentListsThanIds) {
  std::string text;
  for (int i = 0; i < 70'000; i++)
    text += fmt::format("{{\"args\":{{\"a{}\":1,\"b{}\":2}}}},", i / 300, i % 300);
  const Scan s(text);
  ASSERT_EQ(s.rows.size(), 70'000u);
  for (int i = 0; i < 70'000; i++) {
    const std::string items = as_item(fmt::format("a{}", i / 300), ArgType::int32, "1") +
                              as_item(fmt::format("b{}", i % 300), ArgType::int32, "2");
    const std::string& row = s.rows[static_cast<size_t>(i)];
    ASSERT_TRUE(row == bare_row(items) || (i >= 60'000 && row == bare_row())) << i << ": " << row;
  }
  EXPECT_NE(s.notes.find("arguments_left_out"), std::string::npos) << s.notes;
}

// A name before the phase is a value, one behind the phase of a mark is part of the literal.
TEST(Scanner, TwoNames) {
  const Scan s(R"({"name":"first","ph":"M","name":"second"},{"name":"third"})");
  ASSERT_EQ(s.rows.size(), 2u);
  EXPECT_EQ(s.rows[0], "M [] 'second' pid 0 '' tid 0 '' ts 0 dur 0");
  EXPECT_EQ(s.rows[1], "X [] 'third' pid 0 '' tid 0 '' ts 0 dur 0");
}

TEST(Scanner, MoreCategoriesThanIds) {
  std::string text;
  for (int i = 0; i < 400; i++) text += fmt::format("{{\"cat\":\"c{}\"}},", i);
  const Scan s(text);
  ASSERT_EQ(s.rows.size(), 400u);
  for (size_t i = 0; i < 200; i++)
    EXPECT_EQ(s.rows[i], fmt::format("X [c{}] '' pid 0 '' tid 0 '' ts 0 dur 0", i));
  EXPECT_NE(s.notes.find("kinds_left_out"), std::string::npos) << s.notes;
}

struct Case {
  const char *text, *row, *note;
};

TEST(Scanner, WhatWritersGetWrong) {
  const Case cases[] = {
      {R"({"args":{"a": ,"b":1,"c":}})", "\n  a = null null\n  b = int32 1\n  c = null null",
       "repaired_member"},
      {R"({,"args":{,"a":1,,"b":2,},})", "\n  a = int32 1\n  b = int32 2", "repaired_member"},
      {R"({"args":{"a":NaN,"b":-Infinity}})", "\n  a = json NaN\n  b = json -Infinity", "not_finite"},
      {R"({"args":{"stream":1,"stream":2}})", "\n  stream = int32 1\n  stream = int32 2", "duplicate_key"},
      {R"({"args":{"a":-0,"b":007,"c":1.,"d":-}})",
       "\n  a = int32 0\n  b = int32 7\n  c = real 1\n  d = json -", "not_finite"},
      {R"({"pid":,"tid":,"id":,"args":{}})", "\n  id = null null", "repaired_member"},
      {R"({"name":null,"cat":1,"ph":[],"args":7,"ts":null})",
       "\n  .name = null null\n  .cat = int32 1\n  .ph = json []\n  .args = int32 7", "bad_time"},
      {R"({"args":{"a":1},"args":{"b":2}})", "\n  a = int32 1\n  b = int32 2", "duplicate_key"},
      {"{\"args\":{\"a\":\"line\nend\\q\"}}", "\n  a = text line\nend\\q", ""},
      {R"({"args":{"a":"\ud83d"}})", "\n  a = text \xEF\xBF\xBD", ""},
      {"{\"args\":{\"\xFF\":\"\xC3(\"}}", "\n  \xEF\xBF\xBD = text \xEF\xBF\xBD(", "invalid_utf8"},
  };
  for (const Case& c : cases) {
    const Scan s(c.text);
    EXPECT_EQ(s.rows, std::vector{bare_row(c.row)}) << c.text;
    EXPECT_EQ(s.notes.substr(0, s.notes.find(':')), c.note) << c.text;
  }
}

// What has a category and is told as a span, but not when or for how long, is missing from every time.
TEST(Scanner, SpansWithoutATime) {
  const Case cases[] = {
      {R"({"ph":"X","cat":"c","ts":1})", "X [c] '' pid 0 '' tid 0 '' ts 1000 dur 0", "bad_time"},
      {R"({"ph":"X","cat":"c","dur":1})", "X [c] '' pid 0 '' tid 0 '' ts 0 dur 1000", "bad_time"},
      {R"({"cat":"c","ts":1})", "X [c] '' pid 0 '' tid 0 '' ts 1000 dur 0", "bad_time"},
      {R"({"ph":"X","ts":1})", "X [] '' pid 0 '' tid 0 '' ts 1000 dur 0", ""},
      {R"({"ph":"i","cat":"c","ts":1})", "i [c] '' pid 0 '' tid 0 '' ts 1000 dur 0", ""},
      {R"({"ph":"B","cat":"c","ts":1})", "B [c] '' pid 0 '' tid 0 '' ts 1000 dur 0", "half_spans"},
      {R"({"ph":"E","ts":1})", "E [] '' pid 0 '' tid 0 '' ts 1000 dur 0", "half_spans"},
  };
  for (const Case& c : cases) {
    const Scan s(c.text);
    EXPECT_EQ(s.rows, std::vector{std::string(c.row)}) << c.text;
    EXPECT_EQ(s.notes.substr(0, s.notes.find(':')), c.note) << c.text;
  }
  // Those of a form that is known already are counted as the first one is.
  const Scan many(R"({"ph":"i"},{"ph":"B","ts":1},{"ph":"B","ts":2},{"ph":"B","ts":3})");
  EXPECT_NE(many.notes.find("(first at byte 11)"), many.notes.npos) << many.notes;
}

// An event of an odd form changes nothing for those behind it.
TEST(Scanner, OddFormsInBetween) {
  const char* const values[] = {"1",  "-1.5",      "5000000000", "\"t\"", "\"\"", "[]", "[{}]",
                                "{}", "{\"a\":1}", "null",       "true",  "NaN",  "",   "\"7\""};
  const char* const keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "s", "x"};
  const std::string whole =
      R"({"ph":"X","cat":"c","name":"n","pid":1,"tid":2,"ts":3,"dur":4,"args":{"stream":7,"correlation":8,"x":9}})";
  const std::string row = Scan(whole).rows.at(0);
  for (const char* key : keys) {
    std::string text;
    std::vector<std::string> rows;
    for (const char* value : values) {
      // Everything that the whole event has before this key, then the odd value; alone, and among the others.
      const size_t at = std::min(whole.find(fmt::format("\"{}\":", key)), whole.size() - 1);
      const std::string odd =
          fmt::format("{}{}\"{}\":{}}}", whole.substr(0, at), at + 1 == whole.size() ? "," : "", key, value);
      const std::vector<std::string> alone = Scan(odd).rows;
      for (const std::string& event : {odd, whole, odd, whole}) text += (text.empty() ? "" : ",") + event;
      for (int i = 0; i < 2; i++) {
        rows.insert(rows.end(), alone.begin(), alone.end());
        rows.push_back(row);
      }
    }
    EXPECT_EQ(difference(Scan(text).rows, rows), "") << key;
  }
}

TEST(Scanner, Times) {
  const Case cases[] = {
      {R"("ts":1.5,"dur":2)", "ts 1500 dur 2000", ""},
      {R"("ts":"1.5","dur":"2")", "ts 1500 dur 2000", "repaired_member"},
      {R"("ts":-1.5,"dur":-2)", "ts -1500 dur 0", "negative_duration"},
      {R"("ts":1.0004,"dur":1.0005)", "ts 1000 dur 1001", "sub_ns"},
      {R"("ts":12e-1,"dur":1.5E3)", "ts 1200 dur 1500000", ""},
      {R"("ts":3000000000000000,"dur":2999999999999999.999)",
       "ts 3000000000000000000 dur 2999999999999999999", ""},
      {R"("ts":NaN,"dur":1)", "ts 0 dur 1000", "bad_time"},
      {R"("ts":,"dur":1)", "ts 0 dur 1000", "bad_time"},
  };
  for (const Case& c : cases) {
    const Scan s(fmt::format("{{{}}}", c.text));
    EXPECT_EQ(s.rows, std::vector{fmt::format("X [] '' pid 0 '' tid 0 '' {}", c.row)}) << c.text;
    EXPECT_EQ(s.notes.substr(0, s.notes.find(':')), c.note) << c.text;
  }
  // Base, start and duration must fit into 64 bits together.
  for (const char* no : {"3000000000000000.001", "9000000000000000", "-3000000000000000.001", "1e30",
                         "\"soon\"", "1.2.3", "[1]"}) {
    const Scan s(fmt::format(R"({{"name":"a","ts":{}}},{{"name":"b","dur":1}})", no));
    EXPECT_EQ(s.rows, std::vector{std::string("X [] 'b' pid 0 '' tid 0 '' ts 0 dur 1000")}) << no;
    EXPECT_EQ(s.notes, "damaged_event: events were damaged and left out (once, at byte 0)\n") << no;
  }
}

// ---- damage
// -------------------------------------------------------------------------------------------------------

struct Texts {
  explicit Texts(unsigned seed, size_t count) : events(seed) {
    for (size_t i = 0; i < count; i++) {
      const TestEvent e = events.next();
      begins.push_back(text.size());
      text += e.text;
      ends.push_back(text.size());
      text += i + 1 < count ? ",\n" : "";
      rows.push_back(e.row);
    }
  }
  RandomEvents events;
  std::string text;
  std::vector<size_t> begins, ends;
  std::vector<std::string> rows;
};

// A text that may go on: what is whole is read, and the scan says where the rest begins.
TEST(Scanner, EveryPrefix) {
  for (unsigned seed = 0; seed < 30; seed++) {
    const Texts t(seed, 4);
    if (t.text.size() > 2000) continue;
    for (size_t size = 0; size <= t.text.size(); size++) {
      std::string padded(kTextHeadroom, '\0');
      padded.append(t.text, 0, size).append(kTextPadding, '\0');
      const char* begin = padded.data() + kTextHeadroom;
      Block block;
      const Scanned s = make_scanner(ArgSet::everything())->scan(begin, begin + size, false, block);
      const auto whole =
          static_cast<size_t>(std::upper_bound(t.ends.begin(), t.ends.end(), size) - t.ends.begin());
      ASSERT_EQ(block.events, whole) << seed << " at " << size;
      ASSERT_EQ(block.damaged.count, 0);
      const bool inside = whole < t.begins.size() && size > t.begins[whole];
      ASSERT_EQ(s.why, inside ? ScanEnd::incomplete : ScanEnd::clean) << seed << " at " << size;
      if (!inside) continue;
      const std::string_view rest(s.stop, static_cast<size_t>(begin + size - s.stop));
      ASSERT_EQ(rest.substr(std::min(rest.size(), rest.find('{'))),
                t.text.substr(t.begins[whole], size - t.begins[whole]));
    }
  }
}

// One wrong byte costs its own event at most; the others are as they were.
TEST(Scanner, EveryWrongByte) {
  size_t lost = 0, kept = 0;
  for (unsigned seed = 0; seed < 30; seed++) {
    Texts t(seed, 4);
    if (t.text.size() > 3000 || t.text.find("\"ph\": ") != t.text.npos)
      continue;  // nested lists that look like events
    for (size_t at = 0; at < t.text.size(); at++) {
      std::string damaged = t.text;
      damaged[at] = std::string_view("\"\\{}[],:0x \0\xFF", 14)[t.events.random.below(14)];
      const Scan s(damaged);
      const size_t hit =
          static_cast<size_t>(std::lower_bound(t.ends.begin(), t.ends.end(), at + 1) - t.ends.begin());
      // Without the event that the byte is in or before.
      std::vector<std::string> others = t.rows;
      if (hit < t.rows.size()) others.erase(others.begin() + static_cast<std::ptrdiff_t>(hit));
      auto next = s.rows.begin();
      for (const std::string& row : others) {
        next = std::find(next, s.rows.end(), row);
        ASSERT_NE(next, s.rows.end()) << seed << " at " << at << "\n" << damaged << "\nlost " << row;
        ++next;
      }
      const bool is_lost = s.rows.size() < t.rows.size();
      if (is_lost) {
        ASSERT_NE(s.notes.find("damaged_event"), s.notes.npos) << damaged;
      }
      (is_lost ? lost : kept)++;
    }
  }
  EXPECT_GT(lost, 1000u);
  EXPECT_GT(kept, 1000u);
}

}  // namespace
}  // namespace spotter::read
