#include "collect/sampler.h"

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <ranges>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/saturated.h"
#include "base/stable_sort.h"
#include "base/system/descriptor.h"
#include "base/system/thread_name.h"
#include "base/time.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Ns kOpenAgain = kMinute;
constexpr Ns kStopTime = kSecond;
constexpr Ns kPatience =
    kSecond / 50;                // with one collector; at most a quarter of the shortest period in its thread
constexpr i64 kLatePart = 10;    // of the period
constexpr i64 kQuickAgain = 10;  // samples; twice as many each further time
constexpr i64 kMostAlone = 10;   // times that count for that
constexpr const char* kTogether = "sampler";

Ns thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

i64 left_out_of(const std::vector<Table>& tables) {
  i64 left_out = 0;
  for (const Table& table : tables) {
    for (const Note& note : table.notes.all()) {
      if (note.severity == Severity::loss) left_out = add_saturated(left_out, note.count);
    }
  }
  return left_out;
}

std::string silent_of(const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    for (const Note& note : table.notes.all()) {
      if (note.kind == kDoesNotAnswer) return fmt::format("{} {}", note.count, note.sentence);
    }
  }
  return {};
}

}  // namespace

void Deadlines::begin(Ns steady_now, Ns unix_now) {
  next_ = steady_now;
  aligned_ = steady_now + period_ - (unix_now % period_ + period_) % period_;
  if (aligned_ - steady_now < period_ / 2) aligned_ += period_;
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

namespace {

struct Task {
  Wanted wanted;
  size_t state;  // its place
  Deadlines deadlines;
  std::unique_ptr<Collector> collector;
  i64 quick = 0;       // samples in succession, the newest among them
  i64 left_alone = 0;  // how often it has hung

  bool may_block() const { return wanted.kind->may_block; }
  // Under which name its tables are handed on (Batch::by). What may block is alone under its own: two of them
  // may have tables of the same name.
  const char* by() const { return may_block() ? wanted.kind->name : kTogether; }
};
using Tasks = std::vector<std::unique_ptr<Task>>;

Ns next_of(const std::unique_ptr<Task>& task) { return task->deadlines.next(); }

// The collectors of one thread. Under the mutex of what is shared, but for what hangs on `asked`, which is
// the thread's own while it asks.
struct Group : std::enable_shared_from_this<Group> {
  Tasks tasks;
  pthread_t thread{};
  Task* asked = nullptr;
  Ns asked_since = 0;
  bool has_stand_by = false;
  Ns stand_by_again = 0;  // when one is tried to be had again
  bool has_more = false;  // somebody has come back, who may be due before all others

  Ns patience() const {
    const auto period = [](const auto& task) { return task->wanted.period; };
    return std::min(kPatience, std::ranges::min(tasks | std::views::transform(period)) / 4);
  }
};

}  // namespace

// What the threads share with the sampler, and keep where it has gone before them.
struct Sampler::Shared : std::enable_shared_from_this<Sampler::Shared> {
  Shared(Surroundings s, Take t) : surroundings(std::move(s)), take(std::move(t)) {}

  // A thread that runs `body`, which holds what is shared. False: none can be had.
  bool start(const char* name, std::function<void(Shared&)> body) {
    ++running;
    try {
      std::thread thread([self = shared_from_this(), body = std::move(body)] {
        body(*self);
        std::lock_guard lock(self->mutex);
        --self->running;
        self->changed.notify_all();
      });
      set_thread_name(thread.native_handle(), name);
      thread.detach();
    } catch (const std::system_error&) {
      --running;
      log(Level::error, "{}: no thread can be had", name);
      return false;
    }
    return true;
  }

  void run(Group& group) {
    {
      std::lock_guard lock(mutex);
      group.thread = pthread_self();
    }
    while (wait(group)) {
      turn(group);
      if (comes_back(group)) return;
    }
    // Collectors may hang when they close, too.
    std::unique_lock lock(mutex);
    Tasks ended = std::exchange(group.tasks, {});
    lock.unlock();
  }

  // Until somebody is due. Who stands by is woken a little later, unless the next wait puts that off. False:
  // it is over.
  bool wait(Group& group) {
    std::unique_lock lock(mutex);
    if (is_stopping) return false;
    const Ns now = surroundings.host.steady_now();
    const Ns left = std::max<Ns>(std::ranges::min(group.tasks | std::views::transform(next_of)) - now, 0);
    if (group.tasks.size() > 1) {
      if (!group.has_stand_by && now >= group.stand_by_again) start_stand_by(group);
      alarm(left + group.patience());
    }
    changed.wait_for(lock, std::chrono::nanoseconds(left), [&] { return is_stopping || group.has_more; });
    group.has_more = false;
    return !is_stopping;
  }

  // Who was left alone, and has been quick for a while, is asked with all others again: a thread that wakes
  // for one alone costs more than most samples.
  bool comes_back(Group& group) {
    std::lock_guard lock(mutex);
    const auto home = together.lock();
    if (is_stopping || !home || home.get() == &group || home->tasks.empty() || group.tasks.size() != 1)
      return false;
    const Task& task = *group.tasks.front();
    if (task.quick < kQuickAgain << std::min(task.left_alone, kMostAlone)) return false;
    home->tasks.push_back(std::move(group.tasks.front()));
    group.tasks.clear();
    home->has_more = true;
    changed.notify_all();
    return true;
  }

  static i64 looks_between(const CollectorKind& kind, const Table& table) {
    const auto it =
        std::ranges::find_if(kind.tables, [&](const TableKind& t) { return table.name() == t.name; });
    return it == kind.tables.end() ? 1 : it->every;
  }

  void turn(Group& group) {
    const Ns due = surroundings.host.steady_now();
    std::map<Ns, Batch> batches;  // by period; all by the same
    const char* by = kTogether;
    Ns used = thread_time();
    while (Task* const task = begin(group, due)) {
      if (std::exchange(by, task->by()) != task->by()) {
        hand_on(batches);
        used = thread_time();
      }
      const Ns now = surroundings.host.unix_now();
      for (Table& table : sample(*task, used)) {
        Batch& batch = batches[task->wanted.period * looks_between(*task->wanted.kind, table)];
        if (batch.unix_ns == 0) {
          batch.unix_ns = now;
          batch.by = by;
          batch.tables.reserve(states.size());  // about
        }
        batch.tables.push_back(std::move(table));
      }
    }
    hand_on(batches);
  }

  // The next one that is due, which is then asked; null: none.
  Task* begin(Group& group, Ns due) {
    std::lock_guard lock(mutex);
    group.asked = nullptr;
    const auto it = std::ranges::find_if(group.tasks, [&](const auto& task) { return next_of(task) <= due; });
    if (is_stopping || it == group.tasks.end()) return nullptr;
    group.asked = it->get();
    group.asked_since = surroundings.host.steady_now();
    return group.asked;
  }

  // `used`: the thread's processor time when the one before had ended; then, when this one has.
  std::vector<Table> sample(Task& task, Ns& used) {
    const Host& host = surroundings.host;
    const Ns began = host.steady_now();
    const bool is_late = task.deadlines.is_late(began);
    Result<std::vector<Table>> tables = open_and_sample(task);
    const Ns now_used = thread_time();
    const Ns busy = now_used - std::exchange(used, now_used);
    // Who cannot be opened is not asked again at each of its times.
    const Ns now = host.steady_now();
    std::lock_guard lock(mutex);
    const i64 passed = task.deadlines.pass(task.collector ? now : now + kOpenAgain);
    task.quick = now - began < kPatience / 2 ? task.quick + 1 : 0;
    CollectorState& state = states[task.state];
    state.busy += busy;
    state.is_open = task.collector != nullptr;
    if (task.collector) {
      state.skipped += passed;
      ++state.samples;
      state.late += is_late;
      state.failed += !tables;
    }
    if (tables) {
      state.left_out = left_out_of(*tables);
      state.silent = silent_of(*tables);
    }
    const std::string error = tables ? std::string() : tables.error().message;
    const bool is_news = !error.empty() && error != state.last_error;
    state.last_error = error;
    if (is_news) log(task.collector ? Level::warning : Level::info, "{}: {}", state.name, error);
    return tables ? std::move(*tables) : std::vector<Table>();
  }

  Result<std::vector<Table>> open_and_sample(Task& task) const {
    if (!task.collector) {
      TRY_ASSIGN(task.collector, task.wanted.kind->open(surroundings));
    }
    return ask(*task.wanted.kind, *task.collector);
  }

  void hand_on(std::map<Ns, Batch>& batches) {
    for (auto& [period, batch] : batches) {
      batch.period_ns = period;
      const auto whole = std::make_shared<const Batch>(std::move(batch));
      std::lock_guard lock(mutex);
      if (take) take(whole);
    }
    batches.clear();
  }

  // Wakes who stands by after this time; the last call counts.
  void alarm(Ns after) const {
    const itimerspec time{{}, {after / kSecond, after % kSecond}};
    timerfd_settime(timer.fd, 0, &time, nullptr);
  }

  // Where no thread can be had now, one is tried again: until then, one that hangs stops all in its thread.
  void start_stand_by(Group& group) {
    if (group.tasks.size() == 1 || timer.fd < 0) return;
    group.stand_by_again = surroundings.host.steady_now() + kOpenAgain;
    group.has_stand_by =
        start("sampler-standby", [of = group.shared_from_this()](Shared& shared) { shared.stand_by(of); });
  }

  // Sleeps until the group's thread hangs in a collector, and takes all the others over.
  void stand_by(const std::shared_ptr<Group>& group) {
    auto others = std::make_shared<Group>();
    while (others->tasks.empty()) {
      u64 alarms = 0;
      if (read(timer.fd, &alarms, sizeof alarms) < 0 && errno != EINTR) return;
      std::lock_guard lock(mutex);
      if (is_stopping) return;
      Task* const asked = group->asked;
      // Others took the time before, or the thread is late itself and asks nobody yet.
      const Ns since =
          asked ? group->asked_since : std::ranges::min(group->tasks | std::views::transform(next_of));
      const Ns left = group->patience() - (surroundings.host.steady_now() - since);
      if (left > 0 || !asked) {
        alarm(left > 0 ? left : group->patience());
        continue;
      }
      for (auto& task : group->tasks) {
        if (task.get() != asked) others->tasks.push_back(std::move(task));
      }
      std::erase(group->tasks, nullptr);
      ++asked->left_alone;
      together = others;
      set_thread_name(group->thread, asked->wanted.kind->name);
      set_thread_name(pthread_self(), kTogether);
      start_stand_by(*others);
    }
    run(*others);
  }

  Surroundings surroundings;
  std::mutex mutex;
  std::condition_variable changed;
  Take take;  // empty once the sampler has gone
  bool is_stopping = false;
  size_t running = 0;  // threads
  std::vector<CollectorState> states;
  Descriptor timer;
  std::weak_ptr<Group> together;  // those who were not left alone
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
  const Host& host = shared_->surroundings.host;
  const auto group = std::make_shared<Group>();
  for (const Wanted& w : wanted) {
    auto& task = group->tasks.emplace_back(new Task{w, shared_->states.size(), Deadlines(w.period), nullptr});
    task->deadlines.begin(host.steady_now(), host.unix_now());
    CollectorState& state = shared_->states.emplace_back();
    state.name = w.kind->name;
    state.period = w.period;
  }
  if (group->tasks.empty()) return;
  shared_->timer = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  std::lock_guard lock(shared_->mutex);
  shared_->together = group;
  if (!shared_->start(kTogether, [group](Shared& shared) { shared.run(*group); })) {
    for (CollectorState& state : shared_->states) state.last_error = "no thread can be had for it";
  }
}

Sampler::~Sampler() {
  std::unique_lock lock(shared_->mutex);
  shared_->is_stopping = true;
  shared_->changed.notify_all();
  shared_->alarm(1);
  shared_->changed.wait_for(lock, std::chrono::nanoseconds(kStopTime), [&] { return shared_->running == 0; });
  shared_->take = nullptr;
}

std::vector<CollectorState> Sampler::states() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->states;
}

}  // namespace spotter::collect
