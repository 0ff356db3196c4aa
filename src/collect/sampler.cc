#include "collect/sampler.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "base/stable_sort.h"

namespace spotter::collect {
namespace {

constexpr Ns kOpenAgain = 60'000'000'000;
constexpr Ns kStopTime = 1'000'000'000;
constexpr i64 kLatePart = 10;  // of the period

Ns thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void Deadlines::begin(Ns steady_now, Ns unix_now) {
  next_ = steady_now;
  aligned_ = steady_now + period_ - (unix_now % period_ + period_) % period_;
}

bool Deadlines::is_late(Ns steady_now) const { return steady_now - next_ > period_ / kLatePart; }

i64 Deadlines::pass(Ns steady_now) {
  if (next_ < aligned_) {
    next_ = aligned_;
  } else {
    next_ += period_;
  }
  if (next_ > steady_now) return 0;
  const i64 skipped = (steady_now - next_) / period_ + 1;
  next_ += skipped * period_;
  return skipped;
}

// What the threads share with the sampler, and keep where it has gone before them.
struct Sampler::Shared {
  Shared(Surroundings s, Take t) : surroundings(std::move(s)), take(std::move(t)) {}

  Surroundings surroundings;
  std::mutex mutex;
  std::condition_variable changed;
  Take take;  // empty once the sampler has gone
  bool is_stopping = false;
  size_t running = 0;  // threads
  std::vector<CollectorState> states;
};

class Sampler::Thread {
 public:
  Thread(std::shared_ptr<Shared> shared, std::string name, std::vector<Wanted> wanted, size_t first_state)
      : shared_(std::move(shared)), name_(std::move(name)) {
    for (const Wanted& w : wanted) tasks_.push_back({w, first_state++, Deadlines(w.period), nullptr, 0});
  }

  void run() {
    const Host& host = shared_->surroundings.host;
    for (Task& task : tasks_) task.deadlines.begin(host.steady_now(), host.unix_now());
    while (wait(std::ranges::min_element(tasks_, {}, next_of)->deadlines.next())) turn();
    tasks_.clear();
    std::lock_guard lock(shared_->mutex);
    --shared_->running;
    shared_->changed.notify_all();
  }

 private:
  struct Task {
    Wanted wanted;
    size_t state;  // its place
    Deadlines deadlines;
    std::unique_ptr<Collector> collector;
    Ns open_again;
  };
  static Ns next_of(const Task& task) { return task.deadlines.next(); }

  // False: it is over.
  bool wait(Ns until) {
    std::unique_lock lock(shared_->mutex);
    const Ns left = until - shared_->surroundings.host.steady_now();
    shared_->changed.wait_for(lock, std::chrono::nanoseconds(std::max<Ns>(left, 0)),
                              [&] { return shared_->is_stopping; });
    return !shared_->is_stopping;
  }

  bool is_stopping() {
    std::lock_guard lock(shared_->mutex);
    return shared_->is_stopping;
  }

  void turn() {
    const Host& host = shared_->surroundings.host;
    const Ns due = host.steady_now();
    std::map<Ns, Batch> batches;  // by period
    for (Task& task : tasks_) {
      if (task.deadlines.next() > due) continue;
      if (is_stopping()) return;
      Batch& batch = batches[task.wanted.period];
      if (batch.unix_ns == 0) batch.unix_ns = host.unix_now();
      batch.period_ns = task.wanted.period;
      batch.by = name_;
      for (Table& table : sample(task)) batch.tables.push_back(std::move(table));
    }
    for (auto& [period, batch] : batches) {
      if (batch.tables.empty()) continue;
      const auto shared = std::make_shared<const Batch>(std::move(batch));
      std::lock_guard lock(shared_->mutex);
      if (shared_->take) shared_->take(shared);
    }
  }

  std::vector<Table> sample(Task& task) {
    const Host& host = shared_->surroundings.host;
    const bool is_late = task.deadlines.is_late(host.steady_now());
    const Ns begin = thread_time();
    Result<std::vector<Table>> tables = open_and_sample(task);
    const Ns busy = thread_time() - begin;
    const i64 skipped = task.deadlines.pass(host.steady_now());
    std::lock_guard lock(shared_->mutex);
    CollectorState& state = shared_->states[task.state];
    state.busy += busy;
    state.skipped += skipped;
    state.is_open = task.collector != nullptr;
    if (task.collector) {
      ++state.samples;
      state.late += is_late;
      state.failed += !tables;
    }
    const std::string error = tables ? std::string() : tables.error().message;
    const bool is_news = !error.empty() && error != state.last_error;
    state.last_error = error;
    if (is_news) log(task.collector ? Level::warning : Level::info, "{}: {}", state.name, error);
    return tables ? std::move(*tables) : std::vector<Table>();
  }

  Result<std::vector<Table>> open_and_sample(Task& task) {
    if (!task.collector) {
      const Ns now = shared_->surroundings.host.steady_now();
      if (now < task.open_again) return fail(Code::not_found, "{}", last_error(task));
      task.open_again = now + kOpenAgain;
      TRY_ASSIGN(task.collector, task.wanted.kind->open(shared_->surroundings));
    }
    return task.collector->sample();
  }

  std::string last_error(const Task& task) {
    std::lock_guard lock(shared_->mutex);
    return shared_->states[task.state].last_error;
  }

  std::shared_ptr<Shared> shared_;
  std::string name_;
  std::vector<Task> tasks_;
};

Sampler::Sampler(std::vector<Wanted> wanted, Surroundings surroundings, Take take)
    : shared_(std::make_shared<Shared>(std::move(surroundings), std::move(take))) {
  // Weak: a thread that is left behind keeps what is shared.
  shared_->surroundings.collectors = [weak = std::weak_ptr(shared_)]() -> std::vector<CollectorState> {
    const auto shared = weak.lock();
    if (!shared) return {};
    std::lock_guard lock(shared->mutex);
    return shared->states;
  };
  stable_sort(wanted, [](const Wanted& a, const Wanted& b) { return a.kind->may_block < b.kind->may_block; });
  std::vector<std::vector<Wanted>> threads;
  for (const Wanted& w : wanted) {
    CollectorState& state = shared_->states.emplace_back();
    state.name = w.kind->name;
    state.period = w.period;
    if (threads.empty() || w.kind->may_block) threads.emplace_back();
    threads.back().push_back(w);
  }
  size_t first = 0;
  for (std::vector<Wanted>& of_one : threads) {
    const size_t count = of_one.size();
    const char* name = count == 1 ? of_one[0].kind->name : "sampler";
    {
      std::lock_guard lock(shared_->mutex);
      ++shared_->running;
    }
    try {
      std::thread thread(
          [body = std::make_shared<Thread>(shared_, name, std::move(of_one), first)] { body->run(); });
      pthread_setname_np(thread.native_handle(), name);
      thread.detach();
    } catch (const std::system_error&) {
      std::lock_guard lock(shared_->mutex);
      --shared_->running;
      for (size_t i = first; i < first + count; ++i)
        shared_->states[i].last_error = "no thread can be had for it";
      log(Level::error, "{}: no thread can be had for it", name);
    }
    first += count;
  }
}

Sampler::~Sampler() {
  std::unique_lock lock(shared_->mutex);
  shared_->is_stopping = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, std::chrono::nanoseconds(kStopTime), [&] { return shared_->running == 0; });
  shared_->take = nullptr;
}

std::vector<CollectorState> Sampler::states() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->states;
}

}  // namespace spotter::collect
