#include "serve/job_list.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analyze/range_text.h"
#include "base/text/shell_word.h"
#include "base/version.h"

namespace spotter::serve {
namespace {

constexpr Field kJobColumns[] = {
    {"id", Type::text, Unit::none, Role::key, "Its name in addresses: a digest of its place below the root."},
    {"folder", Type::text, Unit::none, Role::key,
     "Its place below the root, \".\" of the root itself; of a span of recordings with # and its number."},
    {"title", Type::text, Unit::none, Role::detail,
     "What people call it: its place, but of the root itself the root's own name."},
    {"ranks", Type::text, Unit::none, Role::detail, "Its ranks, as far as they are known: 0-7, 9."},
    {"host", Type::text, Unit::none, Role::detail, "The hosts that its traces name."},
    {"files", Type::integer, Unit::count, Role::value, "Trace files."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Size of the files as they are stored."},
    {"state", Type::text, Unit::none, Role::detail,
     "new: a file is perhaps still written; loading: it is read for the first time; ready; failed: it cannot be read."},
    {"changed_ns", Type::integer, Unit::ns, Role::time, "When the last of its files was changed, Unix time."},
    {"worst", Type::text, Unit::none, Role::detail,
     "Kind of its worst finding: fault, opportunity or caveat; none: nothing stands out; null: nobody has looked yet."},
    whole({"finding", Type::text, Unit::none, Role::detail,
           "What its worst finding says; of a job that cannot be read, why."}),
    {"share", Type::real, Unit::ratio, Role::value,
     "What that finding costs, as a share of the job's mean step; null where it is not about time, or nobody has looked yet."},
};
constexpr Field kFactColumns[] = {
    {"name", Type::text, Unit::none, Role::key, "What is told."},
    whole({"value", Type::text, Unit::none, Role::value, "What it is."}),
};
constexpr Field kRankColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key,
     "Rank; null of a file that has none, or of which it is not known yet."},
    whole({"path", Type::text, Unit::none, Role::key, "Its trace file."}),
    {"host", Type::text, Unit::none, Role::detail, "The host that the trace names."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Size of the file as it is stored."},
};

std::string joined(const std::set<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

const std::string& host_of(const Learned* learned, const JobFile& file) {
  if (!learned) return file.host;
  const auto host = learned->hosts.find(file.path);
  return host == learned->hosts.end() ? file.host : host->second;
}

}  // namespace

void JobList::set(std::vector<JobPtr> jobs) {
  std::map<std::string, Entry> next;
  std::vector<std::string> order;
  bool any = jobs.size() != order_.size();
  for (JobPtr& job : jobs) {
    if (next.contains(job->id)) continue;
    Entry& made = next[job->id];
    const auto old = entries_.find(job->id);
    if (old != entries_.end() && *old->second.job == *job) {
      made = std::move(old->second);
    } else {
      const bool is_same = old != entries_.end() && old->second.job->version == job->version;
      if (is_same) made = std::move(old->second);
      made.job = job;
      made.revision = revision_ + 1;
      any = true;
    }
    order.push_back(job->id);
  }
  any |= order != order_;
  entries_ = std::move(next);
  order_ = std::move(order);
  if (!any) return;
  ++revision_;
  tell();
}

JobPtr JobList::find(const std::string& id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : it->second.job;
}

JobList::Entry* JobList::entry(const FoundJob& job) {
  const auto it = entries_.find(job.id);
  return it == entries_.end() || it->second.job->version != job.version ? nullptr : &it->second;
}
const JobList::Entry* JobList::entry(const FoundJob& job) const {
  return const_cast<JobList*>(this)->entry(job);
}

const Learned* JobList::learned(const FoundJob& job) const {
  const Entry* const e = entry(job);
  return e && e->learned ? &*e->learned : nullptr;
}

void JobList::learn(const FoundJob& job, Learned learned) {
  Entry* const e = entry(job);
  if (!e || e->learned) return;
  e->learned = std::move(learned);
  changed(*e);
}

void JobList::is_read(const FoundJob& job, bool now) {
  Entry* const e = entry(job);
  if (!e) return;
  e->readers += now ? 1 : e->readers > 0 ? -1 : 0;
  if (!e->learned && e->readers == (now ? 1 : 0)) changed(*e);
}

void JobList::changed(Entry& entry) {
  entry.revision = ++revision_;
  tell();
}

i64 JobList::revision(const std::string& id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? 0 : it->second.revision;
}

std::function<void()> JobList::wait(const std::string& id, i64 seen, Ns wait, std::function<void()> act) {
  auto waiter = std::make_shared<Waiter>(id, seen, std::move(act), net::Timer(loop_));
  waiters_.push_back(waiter);
  const std::weak_ptr<Waiter> weak(waiter);
  const auto forget = [this, weak] { waiters_.remove(weak.lock()); };
  waiter->timer.set(wait, [weak, forget] {
    const auto strong = weak.lock();
    forget();
    if (strong) strong->act();
  });
  tell();
  return forget;
}

void JobList::tell() {
  std::vector<std::shared_ptr<Waiter>> told;
  for (const auto& waiter : waiters_)
    if ((waiter->id.empty() ? revision_ : revision(waiter->id)) != waiter->seen) told.push_back(waiter);
  for (const auto& waiter : told) {
    waiters_.remove(waiter);
    waiter->act();
  }
}

const char* JobList::state(const Entry& entry) const {
  if (entry.job->is_written) return "new";
  if (entry.learned) return entry.learned->failure ? "failed" : "ready";
  return entry.readers > 0 ? "loading" : "ready";
}

std::vector<std::optional<i64>> JobList::rank_of_files(const FoundJob& job) const {
  std::vector<std::optional<i64>> ranks;
  const Learned* const known = learned(job);
  std::vector<RankEvidence> evidence;
  for (const JobFile& file : job.files) {
    const bool is_learned = known && known->ranks.contains(file.path);
    ranks.push_back(is_learned ? known->ranks.at(file.path) : file.rank);
    evidence.push_back({file.path, file.rank, {}, file.is_trace, 0, 0});
  }
  if (known && !known->failure) return ranks;
  Notes unused;
  const auto resolved = resolve_ranks(evidence, unused);
  for (size_t i = 0; resolved && i < ranks.size(); ++i) ranks[i] = (*resolved)[i].rank;
  return ranks;
}

const JobFile* JobList::file_of(const FoundJob& job, std::optional<i64> rank) const {
  const std::vector<std::optional<i64>> ranks = rank_of_files(job);
  const auto is_trace = [](const JobFile& file) { return file.is_trace; };
  const bool is_only = std::ranges::count_if(job.files, is_trace) == 1;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (job.files[i].is_trace && (ranks[i] == rank || (!rank && is_only))) return &job.files[i];
  return nullptr;
}

Table JobList::jobs(const FoundJob* only) const {
  Table table("jobs", kJobColumns);
  for (const std::string& id : order_) {
    const Entry& entry = entries_.at(id);
    const FoundJob& job = *entry.job;
    if (only && only->id != id) continue;
    std::set<i64> ranks;
    for (const auto& rank : rank_of_files(job))
      if (rank) ranks.insert(*rank);
    std::set<std::string> hosts;
    i64 bytes = 0, files = 0;
    Ns changed = 0;
    for (const JobFile& file : job.files) {
      changed = std::max(changed, file.found.changed);
      if (!file.is_trace) continue;
      const std::string& name = host_of(learned(job), file);
      if (!name.empty()) hosts.insert(name);
      bytes += file.found.bytes;
      ++files;
    }
    static const Learned nothing;
    const Learned& known = entry.learned ? *entry.learned : nothing;
    table.append({job.id, job.folder, job.title, or_null(analyze::range_text(ranks)), or_null(joined(hosts)),
                  files, bytes, state(entry), changed, or_null(known.worst),
                  or_null(known.failure ? known.failure->message : known.finding), or_null(known.share)});
  }
  return table;
}

Table JobList::facts(const FoundJob& job) const {
  Table table("facts", kFactColumns);
  const Learned* const known = learned(job);
  const auto add = [&](std::string_view name, std::string_view value) { table.append({name, value}); };
  if (known && known->start) add("start_ns", std::to_string(*known->start));
  if (known && !known->source_url.empty()) add("source_url", known->source_url);
  if (known && known->failure) add("failure", known->failure->message);
  add("title", job.title);
  add("command", "spotter analyze " + shell_paths(job.paths));
  add("version", kVersion);
  add("paths", shell_paths(job.paths));
  if (!perfetto_url_.empty()) add("perfetto_url", perfetto_url_);
  return table;
}

Table JobList::ranks(const FoundJob& job) const {
  Table table("ranks", kRankColumns);
  const Learned* const known = learned(job);
  const std::vector<std::optional<i64>> ranks = rank_of_files(job);
  std::vector<size_t> places;
  for (size_t i = 0; i < job.files.size(); ++i)
    if (job.files[i].is_trace) places.push_back(i);
  std::ranges::sort(places, {}, [&](size_t i) { return std::tuple(!ranks[i], ranks[i].value_or(0), i); });
  for (const size_t i : places) {
    const JobFile& file = job.files[i];
    table.append({or_null(ranks[i]), file.path, or_null(host_of(known, file)), file.found.bytes});
  }
  return table;
}

}  // namespace spotter::serve
