#include "trace/trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <thread>

#include "trace/builder.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::trace {
namespace {

// A trace of events that differ in one argument only: its type and cells.
class OneArg {
 public:
  OneArg() {
    data_.kinds = {Kind{}};
    data_.tracks = {Track{}};
    data_.loaded = ArgSet::everything();
  }

  template <class... Cells>
  EventId add(ArgType type, Cells... cells) {
    data_.shapes.push_back({{{static_cast<ArgId>(Arg::stream), type, 0}}, cells_of(type)});
    return add_event(static_cast<u16>(data_.shapes.size() - 1), {static_cast<u32>(cells)...});
  }
  EventId add_real(double value) {
    u32 cells[2];
    std::memcpy(cells, &value, sizeof value);
    return add(ArgType::real, cells[0], cells[1]);
  }
  EventId add_int64(i64 value) {
    u32 cells[2];
    std::memcpy(cells, &value, sizeof value);
    return add(ArgType::int64, cells[0], cells[1]);
  }
  EventId add_text(ArgType type, std::string_view text) { return add(type, data_.strings.intern(text)); }
  EventId add_event(u16 shape, std::initializer_list<u32> cells) {
    data_.ts.push_back(0);
    data_.dur.push_back(0);
    data_.name.push_back(0);
    data_.track.push_back(0);
    data_.kind.push_back(0);
    data_.first_cell.push_back(static_cast<u32>(data_.cells.size()));
    for (const u32 cell : cells) data_.cells.push_back(cell);
    data_.shape.push_back(shape);
    return static_cast<EventId>(data_.ts.size() - 1);
  }
  TraceData& data() { return data_; }
  Trace build() { return Trace(std::move(data_)); }

 private:
  TraceData data_;
};

TEST(Trace, IntegerReadsEveryWholeNumber) {
  constexpr i64 kMost = std::numeric_limits<i64>::max();
  OneArg b;
  const EventId negative = b.add(ArgType::int32, static_cast<u32>(-7)), big = b.add_int64(kMost),
                whole = b.add_real(12.0), part = b.add_real(12.5), huge = b.add_real(9223372036854775808.0),
                text = b.add_text(ArgType::text, "42"), minus = b.add_text(ArgType::text, "-1"),
                hex = b.add_text(ArgType::text, "0x0"), word = b.add_text(ArgType::text, "Default"),
                empty = b.add_text(ArgType::text, ""),
                beyond = b.add_text(ArgType::json, "18446744073709551615"), yes = b.add(ArgType::yes),
                no = b.add(ArgType::no), null = b.add(ArgType::null);
  const Trace t = b.build();
  const auto read = [&](EventId e) { return t.integer(e, Arg::stream); };
  EXPECT_EQ(read(negative), -7);
  EXPECT_EQ(read(big), kMost);
  EXPECT_EQ(read(whole), 12);
  EXPECT_EQ(read(text), 42);
  EXPECT_EQ(read(minus), -1);
  EXPECT_EQ(read(yes), 1);
  EXPECT_EQ(read(no), 0);
  for (const EventId e : {part, huge, hex, word, empty, beyond, null}) EXPECT_EQ(read(e), std::nullopt) << e;
  EXPECT_EQ(t.integer(big, Arg::device), std::nullopt);
}

TEST(Trace, RealReadsEveryFiniteNumber) {
  OneArg b;
  const EventId real = b.add_real(0.125), integer = b.add(ArgType::int32, 3),
                large = b.add_int64(i64{1} << 40), text = b.add_text(ArgType::text, "2.5"),
                beyond = b.add_text(ArgType::json, "18446744073709551616"),
                inf = b.add_text(ArgType::text, "inf"), bare = b.add_text(ArgType::json, "inf"),
                na = b.add_text(ArgType::text, "N/A"), list = b.add_text(ArgType::json, "[1,2]"),
                infinite = b.add_real(std::numeric_limits<double>::infinity()), null = b.add(ArgType::null);
  const Trace t = b.build();
  const auto read = [&](EventId e) { return t.real(e, Arg::stream); };
  EXPECT_EQ(read(real), 0.125);
  EXPECT_EQ(read(integer), 3.0);
  EXPECT_EQ(read(large), 1099511627776.0);
  EXPECT_EQ(read(text), 2.5);
  EXPECT_EQ(read(beyond), 18446744073709551616.0);
  for (const EventId e : {inf, bare, na, list, infinite, null}) EXPECT_EQ(read(e), std::nullopt) << e;
}

TEST(Trace, TextGivesTextAndJsonAsStored) {
  OneArg b;
  const EventId text = b.add_text(ArgType::text, "a \"b\""), json = b.add_text(ArgType::json, "[[1, 2], []]"),
                number = b.add(ArgType::int32, 1), yes = b.add(ArgType::yes), null = b.add(ArgType::null);
  const Trace t = b.build();
  EXPECT_EQ(t.text(text, Arg::stream), "a \"b\"");
  EXPECT_EQ(t.text(json, Arg::stream), "[[1, 2], []]");
  EXPECT_EQ(t.text(number, Arg::stream), std::nullopt);
  EXPECT_EQ(t.text(null, Arg::stream), std::nullopt);
  EXPECT_TRUE(t.has(null, Arg::stream));
  EXPECT_FALSE(t.has(null, Arg::device));
  const auto shown = [&](EventId e) { return t.arg_text(e, t.shape_of(e).items[0]); };
  EXPECT_EQ(shown(text), "a \"b\"");
  EXPECT_EQ(shown(number), "1");
  EXPECT_EQ(shown(yes), "true");
  EXPECT_EQ(shown(null), "null");
}

TEST(Trace, OfAnArgumentGivenTwiceTheLastCounts) {
  OneArg b;
  const auto stream = static_cast<ArgId>(Arg::stream);
  b.data().shapes.push_back({{{stream, ArgType::int32, 0}, {stream, ArgType::int32, 1}}, 2});
  const EventId e = b.add_event(0, {7, 8});
  EXPECT_EQ(b.build().integer(e, Arg::stream), 8);
}

TEST(Trace, FindsAKnownArgumentBehindHundredsOfOthers) {
  OneArg b;
  Shape shape;
  for (u16 i = 0; i < 400; ++i) {
    b.data().other_args.push_back("metric " + std::to_string(i));
    shape.items.push_back({static_cast<ArgId>(kKnownArgs + i), ArgType::null, 0});
  }
  shape.items.push_back({static_cast<ArgId>(Arg::stream), ArgType::int32, 0});
  shape.cells = 1;
  b.data().shapes.push_back(shape);
  const EventId e = b.add_event(0, {5});
  const Trace t = b.build();
  EXPECT_EQ(t.integer(e, Arg::stream), 5);
  EXPECT_EQ(t.arg_name(static_cast<ArgId>(kKnownArgs + 399)), "metric 399");
}

TEST(TraceDeathTest, AnArgumentThatWasNotLoadedIsOurMistake) {
  OneArg b;
  const EventId e = b.add(ArgType::int32, 1);
  b.data().loaded = {Arg::device};
  const Trace t = b.build();
  EXPECT_EQ(t.integer(e, Arg::device), std::nullopt);
  EXPECT_DEATH(static_cast<void>(t.integer(e, Arg::stream)), "loaded");
}

TEST(Trace, BuilderFillsEveryColumn) {
  TraceBuilder b;
  b.info().rank = 3;
  const EventId op = b.span("cpu_op", "aten::add", 10, 11, 1000, 50,
                            {{Arg::external_id, i64{1} << 33}, {Arg::call_stack, "a.py"}});
  const EventId kernel = b.span("kernel", "add", 0, 7, 1100, 20, {{Arg::blocks_per_sm, 0.5}});
  const EventId flow = b.mark('s', "ac2g", "ac2g", 10, 11, 1000, {{Arg::flow_id, 5}});
  const TracePtr t = b.build();
  ASSERT_EQ(t->size(), 3u);
  EXPECT_EQ(t->info().rank, 3);
  EXPECT_EQ(t->name_of(op), "aten::add");
  EXPECT_EQ(t->category(op), Category::cpu_op);
  EXPECT_EQ(t->end(op), 1050);
  EXPECT_TRUE(t->is_span(op));
  EXPECT_EQ(t->integer(op, Arg::external_id), i64{1} << 33);
  EXPECT_EQ(t->text(op, Arg::call_stack), "a.py");
  EXPECT_EQ(t->real(kernel, Arg::blocks_per_sm), 0.5);
  EXPECT_EQ(t->tracks()[t->track[kernel]].tid, 7);
  EXPECT_EQ(t->track[op], t->track[flow]);
  EXPECT_NE(t->track[op], t->track[kernel]);
  EXPECT_FALSE(t->is_span(flow));
  EXPECT_EQ(t->kind_of(flow).phase, 's');
  EXPECT_EQ(t->integer(flow, Arg::flow_id), 5);
  EXPECT_GT(t->memory_bytes(), 0u);
  EXPECT_EQ(b.build()->size(), 0u);
}

TEST(Trace, RowsKeepsTheChosenRowsWhole) {
  TraceBuilder b;
  b.info().trace_name = "x";
  for (i64 i = 0; i < 6; ++i)
    b.span("cpu_op", "op" + std::to_string(i), 1, i % 2, i * 10, i,
           {{Arg::correlation, i}, {Arg::dtype, "Float" + std::to_string(i)}});
  const TracePtr all = b.build();
  const std::vector<EventId> keep = {1, 2, 5};
  const auto some = all->rows(keep, {});
  ASSERT_EQ(some->size(), keep.size());
  EXPECT_EQ(some->info().trace_name, "x");
  for (EventId e = 0; e < keep.size(); ++e) {
    EXPECT_EQ(some->name_of(e), all->name_of(keep[e]));
    EXPECT_EQ(some->name[e], all->name[keep[e]]);
    EXPECT_EQ(some->ts[e], all->ts[keep[e]]);
    EXPECT_EQ(some->dur[e], all->dur[keep[e]]);
    EXPECT_EQ(some->track[e], all->track[keep[e]]);
    EXPECT_EQ(some->integer(e, Arg::correlation), keep[e]);
    EXPECT_EQ(some->text(e, Arg::dtype), "Float" + std::to_string(keep[e]));
  }
  EXPECT_EQ(all->rows({}, {})->size(), 0u);
}

TEST(Trace, WhatIsDerivedIsComputedOnceForAllThreads) {
  TraceBuilder b;
  for (i64 i = 0; i < 1000; ++i) b.span("cpu_op", "op", 1, i % 7, i, 5);
  const TracePtr t = b.build();
  std::vector<const Nesting*> seen(4);
  {
    std::vector<std::jthread> threads;
    for (const Nesting*& mine : seen) threads.emplace_back([&] { mine = &t->nesting(); });
  }
  for (const Nesting* nesting : seen) EXPECT_EQ(nesting, seen[0]);
  EXPECT_EQ(seen[0]->order.size(), 1000u);
}

}  // namespace
}  // namespace spotter::trace
