#include "read/pipeline.h"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <thread>

#include "read/test_events.h"

namespace spotter::read {
namespace {

constexpr int kThreads[] = {1, 2, 3, 8};

// Stretches of a few bytes, so that a short text is cut at every place where it can be.
Cuts tiny(size_t stretch) { return {.stretch = stretch, .alone = 1}; }

std::string in_file(std::string_view events, std::string_view behind = "]}") {
  return fmt::format("{{\"schemaVersion\": 1, \"traceEvents\": [{}{}", events, behind);
}

struct Read {
  Read(std::string_view text, const ReadOptions& options) {
    Result<TraceData> data = read_text(text, options);
    if (!data) {
      error = data.error().message;
      return;
    }
    notes = notes_of(data->notes);
    rows = rows_of(std::move(*data));
  }
  std::vector<std::string> rows;
  std::string notes, error;
};

// Reads with each number of threads: the columns and ids are the same, and `check` says what else they must
// be.
template <class Check>
void with_all_threads(std::string_view text, const Cuts& cuts, Check&& check) {
  const Result<TraceData> one = read_text(text, {.cuts = cuts});
  for (const int threads : kThreads) {
    Result<TraceData> data = read_text(text, {.threads = threads, .cuts = cuts});
    ASSERT_EQ(data.has_value(), one.has_value());
    if (!data) continue;
    ASSERT_EQ(difference(*data, *one), "") << threads << " threads, stretches of " << cuts.stretch;
    check(*std::move(data));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Pipeline, EveryCut) {
  for (unsigned seed = 0; seed < 30; seed++) {
    RandomEvents events(seed);
    std::vector<std::string> rows;
    const std::string text = in_file(events.text(2 + events.random.below(25), &rows));
    for (const size_t stretch : {1u, 40u, 100u, 257u, 1000u}) {
      with_all_threads(text, tiny(stretch), [&](TraceData data) {
        ASSERT_EQ(notes_of(data.notes).find("damaged"), std::string::npos) << seed;
        ASSERT_EQ(difference(rows_of(std::move(data)), rows), "") << seed << ", stretches of " << stretch;
      });
    }
  }
}

TEST(Pipeline, SeveralStretches) {
  RandomEvents events(0);
  std::vector<std::string> rows;
  std::string text;
  while (text.size() < (size_t{3} << 20)) text += events.text(100, &rows) + ",\n";
  text.resize(text.size() - 2);
  with_all_threads(in_file(text), {}, [&](TraceData data) {
    ASSERT_EQ(notes_of(data.notes).find("damaged"), std::string::npos);
    ASSERT_EQ(difference(rows_of(std::move(data)), rows), "");
  });
}

std::string simple_event(int i) {
  return fmt::format(R"({{"ph":"X","cat":"c","name":"n{}","pid":1,"tid":2,"ts":{},"dur":1}})", i, i);
}
std::string simple_row(int i) {
  return fmt::format("X [c] 'n{}' pid 1 '' tid 2 '' ts {} dur 1000 span", i, i * 1000);
}

std::string simple_events(int first, int last) {
  std::string text;
  for (int i = first; i < last; i++) text += (i > first ? "," : "") + simple_event(i);
  return text;
}
std::vector<std::string> simple_rows(int count) {
  std::vector<std::string> rows;
  for (int i = 0; i < count; i++) rows.push_back(simple_row(i));
  return rows;
}

// A list of objects that look like events.
std::string decoys(size_t bytes) {
  std::string list = "[";
  for (int i = 0; list.size() < bytes; i++) list += (i ? ", " : "") + simple_event(1'000'000 + i);
  return list + "]";
}

// An event with such a list, as argument or as member, last or not, between others.
TEST(Pipeline, DecoysInsideAnEvent) {
  for (const size_t bytes : {300u, 300'000u, 1'000'000u, 3'000'000u}) {
    const std::string list = decoys(bytes), item = as_item("k", ArgType::json, list),
                      member = as_item(".k", ArgType::json, list);
    const std::string last_argument = fmt::format(R"({{"args":{{"k":{}}}}})", list),
                      last_member = fmt::format(R"({{"args":{{}},"k":{}}})", list),
                      argument = fmt::format(R"({{"args":{{"k":{},"x":1}}}})", list),
                      first = fmt::format(R"({{"k":{},"name":"a"}})", list);
    const std::string bare = "X [] '' pid 0 '' tid 0 '' ts 0 dur 0",
                      named = "X [] 'a' pid 0 '' tid 0 '' ts 0 dur 0";
    const std::string text = in_file(simple_events(0, 3000) + "," + last_argument + "," + last_member + "," +
                                     argument + "," + first + "," + simple_events(3000, 9000));
    std::vector<std::string> rows = simple_rows(9000);
    const std::string with_list[] = {bare + item, bare + member,
                                     bare + item + as_item("x", ArgType::int32, "1"), named + member};
    rows.insert(rows.begin() + 3000, std::begin(with_list), std::end(with_list));
    with_all_threads(text, bytes < 1000 ? tiny(100) : Cuts{}, [&](TraceData data) {
      ASSERT_EQ(notes_of(data.notes), "") << bytes;
      ASSERT_EQ(difference(rows_of(std::move(data)), rows), "") << bytes;
    });
  }
}

// Without decoys an event may be of any size.
TEST(Pipeline, LargeEvents) {
  const std::string list = "[" + std::string(9'000'000, '1') + "]", x(5'000'000, 'x');
  const std::string text =
      in_file(simple_events(0, 100) + fmt::format(R"(,{{"name":"a","args":{{"k":{},"t":"{}"}}}},)", list, x) +
              simple_events(100, 200));
  std::vector<std::string> rows = simple_rows(200);
  rows.insert(rows.begin() + 100, "X [] 'a' pid 0 '' tid 0 '' ts 0 dur 0" +
                                      as_item("k", ArgType::json, list) + as_item("t", ArgType::text, x));
  with_all_threads(text, {}, [&](TraceData data) {
    ASSERT_EQ(notes_of(data.notes), "");
    ASSERT_TRUE(rows_of(std::move(data)) == rows);
  });
}

// An event with decoys that is larger than what is put together again is lost, and its decoys may be taken
// for events; nothing else is lost.
TEST(Pipeline, MoreDecoysThanAreCarried) {
  const std::string text =
      in_file(simple_events(0, 100) + fmt::format(R"(,{{"args":{{"k":{},"x":1}}}},)", decoys(20'000)) +
              simple_events(100, 200));
  with_all_threads(text, {.stretch = 1000, .alone = 1, .most_carry = 5000}, [&](TraceData data) {
    EXPECT_NE(notes_of(data.notes).find("damaged_event"), std::string::npos);
    std::vector<std::string> rows = rows_of(std::move(data));
    std::erase_if(rows, [](const std::string& row) { return row.find("'n1000") != row.npos; });
    ASSERT_EQ(difference(rows, simple_rows(200)), "");
  });
}

// ---- damage
// -------------------------------------------------------------------------------------------------------

// Whether `rows` has all of `wanted`, in order.
void expect_in_order(const std::vector<std::string>& rows, const std::vector<std::string>& wanted,
                     const std::string& what) {
  auto next = rows.begin();
  for (const std::string& row : wanted) {
    next = std::find(next, rows.end(), row);
    ASSERT_NE(next, rows.end()) << "lost " << row << "\n" << what;
    ++next;
  }
}

TEST(Pipeline, EveryWrongByte) {
  Random random(3);
  std::string event =
      R"({"ph":"X","cat":"c","name":"a\"b","args":{"k":[{"id":1},{"id":2}],"l":[1,[2]]},"tid":)";
  std::vector<size_t> begins;
  std::vector<std::string> rows;
  std::string text = in_file("", "");
  for (int i = 0; i < 4; i++) {
    begins.push_back(text.size());
    text += event + std::to_string(i) + "}, \n";
    rows.push_back(
        fmt::format("X [c] 'a\"b' pid 0 '' tid {} '' ts 0 dur 0\n  k = json [{{\"id\":1}},{{\"id\":2}}]\n  l "
                    "= json [1,[2]]",
                    i));
  }
  text.resize(text.size() - 3);
  text += "], \"traceName\": \"x\"}";
  const size_t end = text.rfind(']');
  for (size_t at = begins[0]; at < end; at++) {
    const size_t hit =
        static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), at) - begins.begin()) - 1;
    if (hit + 1 < begins.size() && at + 3 >= begins[hit + 1]) continue;  // between two events
    std::vector<std::string> others = rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(hit));
    for (int round = 0; round < 3; round++) {
      std::string damaged = text;
      damaged[at] = "\"\\{}[],:0x "[random.below(11)];
      for (const size_t stretch : {30u, 150u}) {
        Result<TraceData> one = read_text(damaged, {.cuts = tiny(stretch)});
        const Result<TraceData> two = read_text(damaged, {.threads = 2, .cuts = tiny(stretch)});
        ASSERT_TRUE(one && two);
        ASSERT_EQ(difference(*two, *one), "") << damaged;
        expect_in_order(rows_of(std::move(*one)), others,
                        fmt::format("stretches of {}\n{}", stretch, damaged));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Damage of every sort beside the border between two stretches.
TEST(Pipeline, DamageAtTheBorder) {
  const char* const damages[] = {
      R"({"ph":"X","name":"bad","args":{"k":[1,2})",                   // an unclosed bracket
      R"({"ph":"X","name":"bad","args":{"k":"abc})",                   // an unclosed text
      R"({"ph":"X","name":"bad","args":{"k":1)",                       // cut off
      R"({"ph":"X","name":"bad","args":{"k":1}}})",                    // a bracket too many
      R"({"ph":"X","name":"bad","args":{"k":1}]})",                    //
      R"({"ph":"X",,"name" "bad","args":{"k":[{"id":1},{"id":2}]}})",  //
      R"({"ph":"X","name" "bad","args":{"k":[{"id":1},{"id":2}],"x":1}})",
      R"({"ph":"X","name" "bad","k":[{"id":1},{"id":2}],"x":1})",
      R"({"ph":"X","name" "bad","k":[{"id":1},{"id":2}]})",
      "garbage",
      "]",
      "}",
      "\\",
      "[",
      "\"",
  };
  for (const char* damage : damages) {
    for (int before = 0; before < 4; before++) {
      const std::string text =
          in_file(simple_events(0, before) + (before ? "," : "") + damage + "," + simple_events(before, 40));
      for (const size_t stretch : {100u, 173u, 260u, 331u, 100'000u}) {
        for (const size_t most_carry : {500u, 4'000'000u}) {
          with_all_threads(
              text, {.stretch = stretch, .alone = 1, .most_carry = most_carry}, [&](TraceData data) {
                ASSERT_GT(data.notes.count("damaged_event") + data.notes.count("repaired_member"), 0);
                ASSERT_EQ(data.notes.count("truncated"), 0) << damage;
                expect_in_order(rows_of(std::move(data)), simple_rows(40),
                                fmt::format("{}, stretches of {}, {} before, carry {}", damage, stretch,
                                            before, most_carry));
              });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Pipeline, PositionsInNotes) {
  std::string text = in_file(simple_events(0, 20'000) + ",");
  const size_t at = text.size() - 2;
  text.resize(at);
  text += "{\"ph\" 1}," + simple_events(20'000, 30'000) + "]}";
  ASSERT_GT(at, size_t{1} << 20);
  const size_t place = text.find("{\"ph\" 1}");
  for (const int threads : kThreads) {
    const Result<TraceData> data = read_text(text, {.threads = threads});
    ASSERT_TRUE(data);
    ASSERT_EQ(data->notes.all().size(), 1u) << notes_of(data->notes);
    const i64 position = data->notes.all()[0].position;
    EXPECT_EQ(data->notes.all()[0].kind, "damaged_event");
    // The damage begins behind the event before.
    EXPECT_GE(position, static_cast<i64>(place) - 2);
    EXPECT_LE(position, static_cast<i64>(place));
  }
}

TEST(Pipeline, CutOff) {
  const std::string text = in_file(simple_events(0, 20));
  const size_t first = text.find('[') + 1, end = text.rfind(']');
  for (size_t size = first; size < text.size(); size += size < 300 || size > end - 10 ? 1 : 7) {
    int whole = 0;
    while (whole < 20 && text.find(simple_event(whole)) + simple_event(whole).size() <= size) whole++;
    for (const size_t stretch : {60u, 200u, 100'000u}) {
      with_all_threads(std::string_view(text).substr(0, size), tiny(stretch), [&](TraceData data) {
        ASSERT_EQ(data.notes.count("truncated"), size <= end ? 1 : 0) << size;
        ASSERT_EQ(difference(rows_of(std::move(data)), simple_rows(whole)), "") << size;
      });
    }
  }
}

// ---- around the events
// --------------------------------------------------------------------------------------------

// Members behind the events may be of any size and may look like events.
TEST(Pipeline, MembersBehindTheEvents) {
  for (const size_t bytes : {10u, 300u, 2000u, 700'000u}) {
    for (const std::string& list :
         {decoys(bytes), "[" + decoys(bytes) + ", {\"id\": 7, \"name\": \"]}\"}, {\"id\": 8}]"}) {
      const std::string text =
          in_file(simple_events(0, 5), fmt::format("], \"extra\": {}, \"traceName\": \"t\"\n}}\n", list));
      for (const size_t stretch : {100u, 300u, 1000u, 262'144u}) {
        if (bytes > 2000 && stretch < 262'144u) continue;
        with_all_threads(text, tiny(stretch), [&](TraceData data) {
          ASSERT_EQ(notes_of(data.notes), "") << bytes << ", stretches of " << stretch;
          ASSERT_EQ(data.info.trace_name, "t");
          ASSERT_EQ(data.info.metadata.size(), 3u);
          ASSERT_TRUE(data.info.metadata[1].second == list);
          ASSERT_EQ(difference(rows_of(std::move(data)), simple_rows(5)), "")
              << bytes << ", stretches of " << stretch;
        });
      }
    }
  }
}

// What comes behind the events, and what only looks as if the events had ended.
TEST(Pipeline, WhereTheEventsEnd) {
  for (const char* end : {"]}", " ] } \n", "],}", "], \"a\": [1, {\"id\": 2}, {\"id\": 3}], \"b\": {} } "}) {
    const Read r(in_file(simple_events(0, 3), end), {});
    EXPECT_EQ(difference(r.rows, simple_rows(3)), "") << end;
    EXPECT_EQ(r.notes, "") << end;
  }
  for (const char* end : {"], \"a\" 5}", "], \"a\": [5}", "], \"a\": \"x", "], \"a\"", "]"}) {
    const Read r(in_file(simple_events(0, 3), end), {});
    EXPECT_EQ(difference(r.rows, simple_rows(3)), "") << end;
    EXPECT_EQ(r.notes.substr(0, r.notes.find(':')), "damaged_metadata") << end;
  }
  for (const char* no_end :
       {"]]", "] 1", "]}", "]", "],", "], 5", "], \"x\": 1}", "], \"x\": [1], \"y\": {\"ph\": 1}}"}) {
    const Read r(in_file(simple_event(0) + no_end + "," + simple_events(1, 3)), {});
    EXPECT_EQ(difference(r.rows, simple_rows(3)), "") << no_end;
    // Stray characters are mended; text with members was an event.
    const bool stray = std::string_view(no_end).find('"') == std::string_view::npos;
    EXPECT_EQ(r.notes.substr(0, r.notes.find(':')), stray ? "repaired_member" : "damaged_event") << no_end;
  }
}

TEST(Pipeline, NoEvents) {
  for (const char* text : {R"({"traceEvents":[]})", R"({"traceEvents":[ ],"a":1})", "[]", " [ ] \n",
                           R"({"traceEvents":[)", "["}) {
    for (const size_t stretch : {1u, 5u, 100u}) {
      const Read r(text, {.threads = 2, .cuts = tiny(stretch)});
      EXPECT_EQ(r.error, "") << text;
      EXPECT_TRUE(r.rows.empty()) << text;
      EXPECT_EQ(r.notes.substr(0, r.notes.find(':')),
                std::string_view(text).find(']') == std::string_view::npos ? "truncated" : "")
          << text;
    }
  }
}

TEST(Pipeline, NoTrace) {
  for (const char* text : {"", "  ", "<html>", "{}", R"({"nodes":[],"schema":"1"})", "[1]", "hello"}) {
    for (const int threads : kThreads)
      EXPECT_NE(Read(text, {.threads = threads, .cuts = tiny(2)}).error, "") << text;
  }
}

// Each scanner meets the bad text anew; it is told once.
TEST(Pipeline, BadUtf8IsCountedOnce) {
  std::string text;
  for (int i = 0; i < 300; i++) text += fmt::format("{}{{\"name\":\"a\xFF{}\"}}", i ? "," : "", i % 3);
  with_all_threads(in_file(text), tiny(100), [&](TraceData data) {
    EXPECT_EQ(data.notes.count("invalid_utf8"), 3);
    EXPECT_EQ(data.ts.size(), 300u);
  });
}

// More names and lists of arguments and more categories than there are ids for: what is kept is right.
TEST(Pipeline, MoreThanIds) {
  std::string text;
  std::vector<std::string> rows;
  for (int i = 0; i < 70'000; i++) {
    text +=
        fmt::format("{}{{\"cat\":\"c\",\"args\":{{\"k{}\":{},\"stream\":{}}}}}", i ? "," : "", i, i, i % 5);
    rows.push_back(fmt::format("X [c] '' pid 0 '' tid 0 '' ts 0 dur 0\n  k{} = int32 {}\n  stream = int32 {}",
                               i, i, i % 5));
  }
  for (const int threads : kThreads) {
    const Read r(in_file(text), {.threads = threads, .cuts = {.stretch = 10'000, .alone = 1}});
    ASSERT_EQ(r.rows.size(), rows.size());
    EXPECT_NE(r.notes.find("arguments_left_out"), std::string::npos) << r.notes;
    for (size_t i = 0; i < rows.size(); i++) {
      const std::string lean = rows[i].substr(0, rows[i].find('\n'));
      const std::string_view stream = std::string_view(rows[i]).substr(rows[i].rfind('\n'));
      ASSERT_TRUE(r.rows[i] == rows[i] ||
                  (i > 60'000 && (r.rows[i] == lean || r.rows[i] == lean + std::string(stream))))
          << r.rows[i];
    }
  }
}

// ---- control
// ------------------------------------------------------------------------------------------------------

TEST(Pipeline, Cancel) {
  const std::string text = in_file(simple_events(0, 50'000));
  for (const int threads : kThreads) {
    const TemporaryFile file(text);
    std::atomic<bool> cancelled = false;
    std::atomic<int> calls = 0;
    LoadRequest request;
    request.threads = threads;
    request.cancelled = &cancelled;
    request.on_bytes = [&](i64) { cancelled = ++calls >= 3; };
    const Result<TracePtr> trace = load({file.path(), 0, 0, {}, {}, {}, {}}, request);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, Code::cancelled);
  }
}

TEST(Pipeline, ProgressAddsUpToTheFile) {
  const std::string text = in_file(simple_events(0, 50'000));
  std::string packed(text.size(), '\0');
  libdeflate_compressor* c = libdeflate_alloc_compressor(1);
  packed.resize(libdeflate_gzip_compress(c, text.data(), text.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(c);
  for (const std::string& bytes : {text, packed}) {
    const TemporaryFile file(bytes);
    for (const int threads : kThreads) {
      std::atomic<i64> sum = 0;
      LoadRequest request;
      request.threads = threads;
      request.on_bytes = [&](i64 n) { sum += n; };
      const Result<TracePtr> trace = load({file.path(), 0, 0, {}, {}, {}, {}}, request);
      ASSERT_TRUE(trace);
      EXPECT_EQ(sum, static_cast<i64>(bytes.size()));
      EXPECT_EQ((*trace)->info().file_bytes, static_cast<i64>(bytes.size()));
      EXPECT_EQ((*trace)->info().json_bytes, static_cast<i64>(text.size()));
      EXPECT_EQ((*trace)->size(), 50'000u);
    }
  }
}

// What stands between two values is compared as one literal; it may be of any length.
TEST(Pipeline, AnyLengthOfWhatRepeats) {
  for (const size_t n : {100u, 65'400u, 65'536u, 70'000u, 200'000u}) {
    const std::string blanks(n, ' '), letters(n, 'a');
    const std::string odd[] = {
        R"({)" + blanks + R"("ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1,"dur":2})",
        R"({"ph":"X",)" + blanks + R"("cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1,"dur":2})",
        R"({"ph":"X","cat":")" + letters + R"(","name":"b","pid":1,"tid":1,"ts":1,"dur":2})",
        R"({"ph":")" + letters + R"(","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1,"dur":2})",
        R"({"ph":"M","name":")" + letters + R"(","pid":1,"tid":1})",
        R"({"ph":"X","cat":"cpu_op","name":"b","pid":")" + letters + R"(","tid":1,"ts":1,"dur":2})",
        R"({"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1,"dur":2,"args":{")" + letters +
            R"(":1}})",
    };
    for (const std::string& event : odd) {
      const std::string text = in_file(simple_events(0, 3) + "," + event + "," + simple_events(3, 5));
      with_all_threads(text, {}, [&](TraceData data) {
        EXPECT_EQ(data.ts.size(), 6u) << event.substr(0, 100);
        EXPECT_EQ(data.notes.count("damaged_event"), 0);
      });
    }
  }
}

// A source that fails after some of the text.
class FailingSource final : public Source {
 public:
  explicit FailingSource(std::string_view text) : text_(text) {}
  Result<size_t> read(std::span<char> out, Notes& notes) override {
    if (++reads_ == 6) return fail(Code::io, "the disk is gone");
    return text_.read(out, notes);
  }

 private:
  TextSource text_;
  int reads_ = 0;
};

TEST(Pipeline, ReadError) {
  const std::string text = in_file(simple_events(0, 80'000));
  for (const int threads : kThreads) {
    const Result<std::unique_ptr<RawInput>> nothing = RawInput::open("/dev/null");
    FailingSource source(text);
    LoadRequest request;
    request.threads = threads;
    const Result<TraceData> data = read_events(**nothing, source, request);
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().message, "the disk is gone");
  }
}

}  // namespace
}  // namespace spotter::read
