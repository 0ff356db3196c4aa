// Everything derived from a trace, against the plain definitions in quadratic loops, on random small traces
// whose times collide often.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "trace/builder.h"
#include "trace/device_work.h"
#include "trace/links.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::trace {
namespace {

constexpr int kRounds = 400;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  i64 below(i64 n) { return static_cast<i64>(engine_() % static_cast<u64>(n)); }
  template <size_t N>
  const char* pick(const char* const (&all)[N]) {
    return all[below(N)];
  }

 private:
  std::mt19937 engine_;
};

// Every event carries its own number as Arg::external_id.
TracePtr random_trace(unsigned seed) {
  static constexpr const char* kHost[] = {"cpu_op", "user_annotation", "python_function", "cuda_runtime",
                                          "cuda_driver"};
  static constexpr const char* kDevice[] = {"kernel",          "gpu_memcpy", "gpu_memset",
                                            "mtia_ccp_events", "cuda_sync",  "gpu_user_annotation"};
  static constexpr const char* kNames[] = {
      "a", "ncclKernel", "metrics: a", "dma", "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"};
  Random random(seed);
  TraceBuilder b;
  const i64 events = random.below(60), span = 1 + random.below(40);
  // A huge stride makes correlations sparse.
  const i64 correlations = 1 + random.below(20), stride = random.below(2) == 0 ? 1 : 1000003;
  for (i64 i = 0; i < events; ++i) {
    const char* name = random.pick(kNames);
    const Ns ts = random.below(span), dur = random.below(1 + span / 2);
    const i64 correlation = random.below(correlations) * stride - 1;
    switch (random.below(5)) {
      case 0:
        b.mark(random.below(2) == 0 ? 'M' : 'i', "", name, 1, 1, ts, {{Arg::external_id, i}});
        break;
      case 1:
        b.span(random.pick(kDevice), name, random.below(2), random.below(3), ts, dur,
               {{Arg::external_id, i}, {Arg::correlation, correlation}});
        break;
      case 2:
        b.span(random.pick(kDevice), name, 0, 0, ts, dur,
               {{Arg::external_id, i},
                {Arg::device, random.below(2)},
                {Arg::stream, random.below(3)},
                {Arg::correlation, correlation},
                {Arg::collective_name, "allreduce"}});
        break;
      default:
        b.span(random.pick(kHost), name, 1, random.below(2), ts, dur,
               {{Arg::external_id, i}, {Arg::correlation, correlation}});
    }
  }
  return b.build();
}

bool is_device_row(const Trace& t, EventId e) {
  const Category c = t.category(e);
  const bool is_work = c == Category::kernel || c == Category::gpu_memcpy || c == Category::gpu_memset ||
                       c == Category::mtia_device;
  return t.is_span(e) && is_work && !(c == Category::kernel && t.name_of(e).substr(0, 8) == "metrics:");
}

EventId launch_of(const Trace& t, EventId device) {
  EventId best = kNone;
  const i64 correlation = t.integer(device, Arg::correlation).value_or(0);
  for (EventId e = 0; e < t.size(); ++e) {
    const bool is_call = t.category(e) == Category::runtime || t.category(e) == Category::driver;
    if (!is_call || correlation <= 0 || t.integer(e, Arg::correlation) != correlation) continue;
    if (best == kNone || t.ts[e] < t.ts[best]) best = e;
  }
  return best;
}

TEST(Oracle, Links) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const TracePtr t = random_trace(seed);
    std::vector<EventId> device, launch;
    i64 duplicates = 0;
    for (EventId e = 0; e < t->size(); ++e) {
      if (is_device_row(*t, e)) {
        device.push_back(e);
        launch.push_back(launch_of(*t, e));
      }
      const i64 correlation = t->integer(e, Arg::correlation).value_or(0);
      bool repeated = false;
      for (EventId other = 0; other < e; ++other)
        repeated |= is_host_call(t->category(other)) && t->integer(other, Arg::correlation) == correlation;
      duplicates += is_host_call(t->category(e)) && correlation > 0 && repeated;
    }
    EXPECT_EQ(t->links().device, device) << seed;
    EXPECT_EQ(t->links().launch, launch) << seed;
    EXPECT_EQ(t->links().duplicate_correlations, duplicates) << seed;
    EXPECT_EQ(t->links().unlaunched, std::count(launch.begin(), launch.end(), kNone)) << seed;
  }
}

TEST(Oracle, DeviceWork) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const TracePtr t = random_trace(seed);
    using Row = std::tuple<i64, i64, Ns, Ns, EventId, EventId, WorkKind>;
    std::vector<Row> expected, found;
    for (EventId e = 0; e < t->size(); ++e) {
      if (!is_device_row(*t, e)) continue;
      const Track& track = t->tracks()[t->track[e]];
      expected.push_back({t->integer(e, Arg::device).value_or(track.pid),
                          t->integer(e, Arg::stream).value_or(track.tid), t->ts[e], t->end(e), e,
                          launch_of(*t, e),
                          classify(t->category(e), t->name_of(e), t->has(e, Arg::collective_name))});
    }
    std::sort(expected.begin(), expected.end());
    const DeviceWork& work = t->device_work();
    u32 next = 0;
    for (const Stream& s : work.streams) {
      EXPECT_EQ(s.begin, next) << seed;
      EXPECT_LT(s.begin, s.end) << seed;
      next = s.end;
      for (u32 i = s.begin; i < s.end; ++i)
        found.push_back(
            {s.device, s.stream, work.start[i], work.end[i], work.event[i], work.launch[i], work.kind[i]});
    }
    EXPECT_EQ(found, expected) << seed;
  }
}

TEST(Oracle, Nesting) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const TracePtr t = random_trace(seed);
    const auto rank = [&](EventId e) {
      const Category c = t->category(e);
      return c == Category::user_annotation   ? 0
             : c == Category::python_function ? 1
             : c == Category::cpu_op          ? 2
                                              : 3;
    };
    std::vector<EventId> order;
    for (EventId e = 0; e < t->size(); ++e)
      if (t->is_span(e) && is_host_span(t->category(e))) order.push_back(e);
    std::sort(order.begin(), order.end(), [&](EventId a, EventId b) {
      return std::tuple(t->track[a], t->ts[a], -t->end(a), rank(a), a) <
             std::tuple(t->track[b], t->ts[b], -t->end(b), rank(b), b);
    });
    std::vector<u32> parent(order.size(), kNone);
    i64 overlaps = 0;
    for (u32 i = 0; i < order.size(); ++i) {
      const auto is_earlier_on_track = [&](u32 j) { return t->track[order[j]] == t->track[order[i]]; };
      for (u32 j = 0; j < i; ++j)
        if (is_earlier_on_track(j) && t->end(order[j]) >= t->end(order[i])) parent[i] = j;
      bool overlapped = false;
      for (u32 j = 0; j < i; ++j)
        overlapped |= is_earlier_on_track(j) && parent[j] == parent[i] &&
                      t->end(order[j]) > t->ts[order[i]] && t->end(order[j]) < t->end(order[i]);
      overlaps += overlapped;
    }
    const Nesting& n = t->nesting();
    EXPECT_EQ(n.order, order) << seed;
    EXPECT_EQ(n.parent, parent) << seed;
    EXPECT_EQ(n.partial_overlaps, overlaps) << seed;
    u32 next = 0;
    for (const Nesting::Thread& thread : n.threads) {
      EXPECT_EQ(thread.begin, next) << seed;
      for (u32 i = thread.begin; i < thread.end; ++i) EXPECT_EQ(t->track[n.order[i]], thread.track) << seed;
      next = thread.end;
    }
    EXPECT_EQ(next, order.size()) << seed;
  }
}

TEST(Oracle, SelectSteps) {
  i64 selected = 0;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const TracePtr t = random_trace(seed);
    const i64 first = 1 + seed % 3, last = first + seed % 2;
    std::vector<i64> expected, found;
    for (EventId e = 0; e < t->size(); ++e) {
      const EventId launch = is_device_row(*t, e) ? launch_of(*t, e) : kNone;
      const Ns ts = t->ts[launch == kNone ? e : launch];
      bool wanted = t->kind_of(e).phase == 'M';
      for (const Step& s : t->steps().steps)
        wanted |= s.number >= first && s.number <= last && s.start <= ts && ts < s.end;
      if (wanted) expected.push_back(e);
    }
    const auto some = select_steps(*t, first, last);
    for (EventId e = 0; e < some->size(); ++e) found.push_back(*some->integer(e, Arg::external_id));
    EXPECT_EQ(found, expected) << seed;
    for (EventId e = 0; e < some->size(); ++e) {
      const auto original = static_cast<EventId>(found[e]);
      EXPECT_EQ(some->ts[e], t->ts[original]) << seed;
      EXPECT_EQ(some->integer(e, Arg::correlation), t->integer(original, Arg::correlation)) << seed;
    }
    selected += some->size();
  }
  EXPECT_GT(selected, kRounds);  // the test does test something
}

}  // namespace
}  // namespace spotter::trace
