#include "agent/incidents/leading.h"

#include <algorithm>
#include <random>
#include <utility>

#include "agent/jobs/job_leaders.h"
#include "base/log.h"
#include "base/same_host.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "client/client.h"
#include "net/address.h"
#include "net/http/http.h"
#include "respond/incidents/symptoms.h"
#include "wire/report.h"

namespace spotter::agent {
namespace {

constexpr Ns kLeadersLast = kMinute;  // a process that begins later may know more
constexpr size_t kMostBody = net::HttpServer::kMostRemoteBody;
constexpr size_t kMostJobs = 10'000, kMostOthers = 10'000;
constexpr Ns kOtherKept = 10 * kMinute;
constexpr Ns kIntroducedAgain = 10 * kMinute, kTakesOne = 30 * kMillisecond;

std::string new_instance() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

Leading::Leading(Parts parts) : parts_(std::move(parts)), instance_(new_instance()) {}
Leading::~Leading() = default;

Result<void> Leading::begin() {
  if (parts_.options.credentials.empty()) return {};
  TRY_ASSIGN(credentials_, client::read_credentials(parts_.options.credentials));
  return {};
}

const respond::Leaders& Leading::leaders(const std::string& job, Ns now) const {
  if (leaders_.size() >= kMostJobs) leaders_.clear();
  KnownLeaders& known = leaders_[job];
  if (known.read == 0 || now - known.read > kLeadersLast || now < known.read)
    known = {job_leaders(parts_.identities.job_facts(job), parts_.host_name), now};
  return known.leaders;
}

void Leading::take(const respond::Condition& condition, Ns now) {
  const bool is_shared = !condition.job.empty() && credentials_.has_value();
  // What was told to another host, which led it until now, is ended where it is kept.
  if (!is_shared || (leaders(condition.job, now).is_own() && !relay_.has(condition.job)))
    return parts_.apply(parts_.incidents.take(condition, now));
  relay_.put(condition, leaders(condition.job, now), now);
  take_own(now);
}

void Leading::take_own(Ns now) {
  for (const respond::Condition& condition : relay_.own())
    parts_.apply(parts_.incidents.take(condition, now, !leaders(condition.job, now).is_own()));
}

void Leading::pass(Ns now) {
  members_.pass(now);
  std::erase_if(others_, [&](const auto& other) { return now - other.second.at > kOtherKept; });
  if (!credentials_) return;
  std::map<std::string, respond::Leaders> standing;
  for (const std::string& job : parts_.incidents.open_jobs()) {
    if (const respond::Leaders& leading = leaders(job, now); !leading.is_own())
      standing.emplace(job, leading);
  }
  relay_.stand_in(standing, now);
  watch(now);
  introduce(now);
  for (const respond::Relay::Errand& errand : relay_.pass(now)) send(errand, now);
  take_own(now);
}

// What people wait for the end of is told of by whoever is next, where its leader is lost.
void Leading::watch(Ns now) {
  awaited_ = parts_.incidents.awaited(now);
  // One that is there and refuses to listen may tell of it all the same.
  std::erase_if(refused_, [&](const auto& refused) { return now - refused.second > kLeadersLast; });
  std::map<std::string, respond::Leaders> watched;
  for (const auto& [job, led] : awaited_) {
    if (const respond::Leaders& leading = leaders(job, now); !leading.is_own()) watched.emplace(job, leading);
  }
  relay_.watch(watched, now);
  for (const auto& [job, leading] : watched) {
    if (relay_.leads(job) && !refused_.contains(job)) parts_.incidents.inherit(job, awaited_.at(job), now);
  }
}

// Who leads a job knows of others by their conditions, and of those that have none by this. All hosts of a
// large job see its first step at the same time.
void Leading::introduce(Ns now) {
  const std::vector<std::string> going = parts_.paces.going();
  std::erase_if(introductions_,
                [&](const auto& each) { return std::ranges::find(going, each.first) == going.end(); });
  for (const std::string& job : going) {
    const auto [it, is_new] = introductions_.try_emplace(job);
    if (is_new) {
      const auto pace = parts_.paces.of(job);
      const Ns longest = std::clamp((pace ? pace->world_size : 0) * kTakesOne, kSecond, kMinute);
      it->second =
          now + static_cast<Ns>(std::hash<std::string>()(parts_.host_name + job) % static_cast<u64>(longest));
    }
    const bool is_set_back = it->second - now > kIntroducedAgain;  // the clock
    if (now < it->second && !is_set_back) continue;
    it->second = now + kIntroducedAgain;
    if (const respond::Leaders& leading = leaders(job, now); !leading.is_own())
      relay_.introduce(job, leading);
  }
}

respond::JobHere Leading::here(const std::string& job, Ns now) const {
  respond::JobHere here{.id = job};
  const auto pace = parts_.paces.of(job);
  if (!pace) return here;
  here.user = pace->user;
  here.ranks.assign(pace->ranks.begin(), pace->ranks.end());
  here.world_size = pace->world_size;
  here.age = pace->first == 0 ? 0 : std::max<Ns>(now - pace->first, 1);
  here.steps = pace->steps;
  here.step = pace->step;
  if (pace->last_writing != 0) here.wrote_ago = std::max<Ns>(now - pace->last_writing, 0);
  return here;
}

void Leading::send(respond::Relay::Errand errand, Ns now) {
  auto address = net::parse_address(errand.to, parts_.options.port);
  if (!address) {
    say(errand.to, false, address.error().message);
    return relay_.answered(errand, false, now);
  }
  // A job says where it is: no place for it to have this agent ask for.
  address->refuses_link_local = true;
  respond::Report report{.host = parts_.host_name,
                         .instance = instance_,
                         .version = kVersion,
                         .sent = now,
                         .job = here(errand.job, now),
                         .conditions = errand.conditions};
  if (errand.place == 0) report.incidents = parts_.incidents.to_hand_over(errand.job);
  if (const auto it = awaited_.find(errand.job);
      errand.place != 0 && it != awaited_.end() && !refused_.contains(errand.job))
    report.awaited = it->second;
  // What does not fit goes with the next one.
  std::string body = wire::report_text(report);
  while (body.size() > kMostBody && (report.conditions.size() > 1 || !report.incidents.empty())) {
    if (report.conditions.size() > 1)
      report.conditions.resize(report.conditions.size() / 2);
    else
      report.incidents.pop_back();
    body = wire::report_text(report);
  }
  errand.conditions = report.conditions;
  errand.incidents = report.incidents;
  const i64 number = next_++;
  auto& asked = asked_[number];
  asked = std::make_unique<net::HttpClient>(parts_.loop, std::move(*address), credentials_->tls);
  net::HttpQuestion question{.method = "POST",
                             .target = "/v1/conditions",
                             .body = std::move(body),
                             .authorization = credentials_->authorization,
                             .may_repeat = true};
  asked->ask(std::move(question), respond::Relay::kTurn - kSecond,
             [this, number, errand](Result<net::HttpAnswer> http) {
               const auto kept = asked_.extract(number);  // until this has returned
               take(errand, std::move(http));
             });
}

void Leading::take(const respond::Relay::Errand& errand, Result<net::HttpAnswer> http) {
  const Ns now = parts_.host.unix_now();
  const bool has_answered = http.has_value();
  auto answer = [&]() -> Result<respond::ReportAnswer> {
    if (!http) return tl::unexpected(http.error());
    TRY_ASSIGN(const std::string body, client::body_of(std::move(*http)));
    return wire::read_report_answer(body);
  }();
  if (!answer) {
    const bool is_older = has_answered && answer.error().code == Code::not_found;
    // Where no agent runs it is told once something is wrong.
    if (has_answered || !errand.is_introduction)
      say(errand.to, false,
          is_older ? "is older than this one and takes no conditions of other hosts"
                   : "takes no conditions: " + to_printable(answer.error().message));
    if (errand.is_introduction) introductions_[errand.job] = now + kMinute;
    if (has_answered && !is_older && errand.place == 0 && refused_.size() < kMostJobs)
      refused_[errand.job] = now;
    relay_.answered(errand, false, now);
    return take_own(now);
  }
  if (answer->instance == instance_) {
    relay_.answered(errand, false, now);
    relay_.is_this_host(errand.job, errand.place);
    others_.erase(errand.to);
    leaders_[errand.job].leaders.own = errand.place;
    leaders_[errand.job].read = now;
    return take_own(now);
  }
  say(errand.to, true,
      answer->version == kVersion ? std::string()
                                  : fmt::format("has version {}, this one {}", answer->version, kVersion));
  relay_.answered(errand, true, now);
  parts_.incidents.learn(errand.job, answer->incidents, now, errand.place == 0);
  if (errand.place == 0)
    parts_.apply(parts_.incidents.hand_over(errand.incidents, answer->incidents, answer->host, now));
  for (const respond::Condition& condition : errand.conditions) {
    const u64 key = respond::fingerprint(condition);
    if (std::ranges::find(answer->mended, key) != answer->mended.end()) parts_.mended(key);
  }
  take_own(now);
}

// Once as long as it is so.
void Leading::say(const std::string& host, bool takes_them, std::string word) {
  if (others_.size() >= kMostOthers) others_.clear();
  Other& other = others_[host];
  other.at = parts_.host.unix_now();
  other.takes_them = takes_them;
  if (other.word == word) return;
  if (word.empty())
    log(Level::info, "the agent of {} takes conditions again", to_printable(host));
  else
    log(Level::warning, "the agent of {} {}", to_printable(host), word);
  other.word = std::move(word);
}

respond::ReportAnswer Leading::receive(const respond::Report& report) {
  const Ns now = parts_.host.unix_now();
  respond::ReportAnswer answer{.host = parts_.host_name, .instance = instance_, .version = kVersion};
  if (report.instance == instance_) return answer;
  members_.see(report, now);
  // Who leads a job knows what is open of it.
  const bool leads_it = leads(report.job.id);
  respond::Report heard = report;
  if (leads_it) heard.awaited.clear();
  parts_.apply(parts_.incidents.receive(heard, now, &answer.mended, !leads_it));
  for (respond::Condition& condition : heard.conditions) {
    condition.host = heard.host;
    if (condition.is_firing && condition.job == heard.job.id) parts_.heard(condition);
  }
  answer.incidents = parts_.incidents.led(report.job.id, now);
  return answer;
}

std::optional<respond::JobPace> Leading::pace(const std::string& job) const {
  const auto own = parts_.paces.of(job);
  return own && own->step != 0 ? own : members_.pace(job);
}

respond::JobOfIncident Leading::job(const std::string& id) const {
  respond::JobOfIncident job{.id = id, .name = parts_.identities.job_facts(id).name};
  job.world_size = members_.world_size(id);
  const auto own = parts_.paces.of(id);
  if (const auto known = pace(id)) job.user = known->user;
  if (own) job.world_size = std::max(job.world_size, own->world_size);
  const std::vector<std::string> others = members_.hosts(id);
  job.hosts =
      std::ssize(others) + (own && std::ranges::find(others, parts_.host_name) == others.end() ? 1 : 0);
  return job;
}

// Who can be asked to trace.
const respond::Members& Leading::askable() const {
  static const respond::Members kNobody;
  return credentials_ ? members_ : kNobody;
}

respond::Chosen Leading::choose(const respond::Incident& incident) const {
  const std::string& job = incident.job.id;
  const Ns now = parts_.host.unix_now();
  std::vector<i64> own;
  if (const auto pace = parts_.paces.of(job)) own.assign(pace->ranks.begin(), pace->ranks.end());
  const std::vector<i64> suspects = parts_.incidents.suspects(incident.id(), now);
  const respond::Leaders& leading = leaders(job, now);
  // Those of a scheduler's list that have told nothing yet may have ranks as well.
  std::vector<std::string> known = members_.hosts(job), others;
  known.push_back(parts_.host_name);
  for (const std::string& host : leading.hosts) {
    if (credentials_ && !is_this_host(host, parts_.host_name) &&
        std::ranges::none_of(known, [&](const std::string& name) { return is_same_host(name, host); }))
      others.push_back(host);
  }
  return with_addresses(askable().choose(job, parts_.host_name, own, others, suspects), job);
}

respond::Chosen Leading::choose_more(const std::string& job, const ListedRanks& group,
                                     const std::vector<i64>& traced) const {
  std::vector<i64> own;
  if (const auto pace = parts_.paces.of(job)) own.assign(pace->ranks.begin(), pace->ranks.end());
  return with_addresses(askable().choose_more(job, parts_.host_name, own, group, traced), job);
}

// By the names that others know hosts by: their certificates have those.
respond::Chosen Leading::with_addresses(respond::Chosen chosen, const std::string& job) const {
  const respond::Leaders& leading = leaders(job, parts_.host.unix_now());
  for (std::string& host : chosen.hosts) {
    if (host == parts_.host_name && leading.own < leading.hosts.size()) host = leading.hosts[leading.own];
    host += fmt::format(":{}", parts_.options.port);
  }
  return chosen;
}

std::vector<std::string> Leading::common_hosts(const std::vector<std::string>& jobs) const {
  std::vector<respond::Leaders> all;
  for (const std::string& job : jobs) all.push_back(leaders(job, parts_.host.unix_now()));
  return agent::common_hosts(all, parts_.host_name);
}

bool Leading::speaks_for(const std::string& family, const std::vector<std::string>& jobs) const {
  if (!credentials_ || !respond::is_symptom_family(family)) return true;
  return common_hosts(jobs).front() == parts_.host_name;
}

std::string Leading::own_name(const std::string& job) const {
  const respond::Leaders& leading = leaders(job, parts_.host.unix_now());
  return leading.own < leading.hosts.size() ? leading.hosts[leading.own] : std::string();
}

std::string Leading::why_alone(const std::string& job) const {
  const respond::Leaders& leading = leaders(job, parts_.host.unix_now());
  if (leading.is_own() && leading.hosts.size() < 2) return {};
  if (!credentials_)
    return fmt::format(
        "this is what {} alone has seen: it has no credentials for the job's other hosts "
        "(respond: credentials)",
        parts_.host_name);
  if (leading.is_own()) return {};
  return fmt::format("{}, which leads this job, did not answer {}", to_printable(leading.hosts.front()),
                     parts_.host_name);
}

}  // namespace spotter::agent
