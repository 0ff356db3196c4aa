// Incident: what went wrong with a job, from its first condition to its resolution, as data: what the API,
// the notifiers and the store hold of it. incidents.h has its states; one per cluster, job and family is
// open.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/types.h"
#include "respond/incidents/condition.h"

namespace spotter::respond {

enum class IncidentState : u8 {
  pending,        // gathers what fires together
  firing,         // something is to be done, and nothing is done yet
  investigating,  // captures were asked for
  verdict,        // a cause is known
  inconclusive,   // none was found, and it says what was tried
  recovering,     // all conditions are over
  resolved,
};
inline constexpr const char* kIncidentStateNames[] = {
    "pending", "firing", "investigating", "verdict", "inconclusive", "recovering", "resolved"};
inline const char* state_name(IncidentState state) { return kIncidentStateNames[static_cast<size_t>(state)]; }

// How it ends: its conditions are over, are what is usual now, or are said no more by hosts that went or
// began anew.
enum class Ending : u8 { over, new_normal, not_known };
inline constexpr const char* kEndingNames[] = {"over", "new_normal", "not_known"};

struct JobOfIncident {
  std::string id = {}, name = {}, user = {};
  i64 world_size = 0, hosts = 0;  // 0: not known
  std::optional<bool> has_gpus = {};
};

// What it began with: the most telling condition, and how many hosts say so.
struct Symptom {
  std::string rule = {}, source = {}, unit = {};
  std::optional<double> before = {}, now = {};  // in the unit
  std::optional<double> spreads = {};           // `z`: how many spreads away it is
  std::optional<i64> since_step = {};
  Ns since = 0;
  i64 hosts = 0;
};

struct Suspect {
  std::optional<i64> rank = {};
  std::string host = {};
  std::optional<i64> gpu = {};
};

enum class Confidence : u8 { low, medium, high };
inline constexpr const char* kConfidenceNames[] = {"low", "medium", "high"};
inline const char* confidence_name(Confidence value) { return kConfidenceNames[static_cast<size_t>(value)]; }

inline Confidence more_sure(Confidence value) {
  return value == Confidence::low ? Confidence::medium : Confidence::high;
}

struct Verdict {
  std::string cause = {};  // a mechanism of the table `findings`, or a rule where metrics alone say it
  Confidence confidence = Confidence::low;
  std::vector<Suspect> suspects = {};
  std::optional<double> at_stake_s_per_step = {};
  std::string sentence = {}, remedy = {};
};

struct Evidence {
  std::string says = {};
  std::string table = {};                                     // of an analysis; empty: of metrics
  std::vector<std::pair<std::string, std::string>> row = {};  // its keys
  std::string command = {};                                   // that shows it again
};

// What speaks against the verdict itself begins so, among what speaks against other causes.
inline constexpr const char* kDoubt = "but ";

struct ChangeBefore {
  Ns at = 0;
  std::string kind = {}, what = {}, before = {}, after = {}, by = {}, link = {};
};

struct LogLine {
  std::string text = {}, file = {};  // the text is a job's: untrusted
  i64 offset = 0;
  std::optional<i64> rank = {};
};

// Who was traced of a job whose ranks are not known: one process, whose number follows, or those of one host.
inline constexpr std::string_view kOneProcess = "process ", kOneHost = "one host";

struct CaptureOfIncident {
  std::string id = {};
  std::string ranks = {};  // "all", or ranges of them ("0,8-15"), or kOneProcess or kOneHost
  std::string path = {};
  i64 steps = 0;
  std::optional<double> overhead_ratio = {}, aftermath_ratio = {}, cost_s = {};
  std::string harm = {};  // why its job is not traced any more; mostly empty
};

// An HTML report of its newest capture.
struct ReportOfIncident {
  std::string host = {};        // whose agent has it
  std::optional<i64> uid = {};  // whose processes alone it is of; nothing: of several users, or not known
};

struct Acknowledgement {
  std::string by = {}, where = {};
  Ns at = 0;
};

// Of an incident that several jobs of a host share: whose it is. `jobs`: the first of them.
struct SharedBy {
  static constexpr size_t kMostNamed = 8;
  std::vector<std::string> jobs = {};
  i64 job_count = 0;
  std::vector<std::string> hosts = {};  // that all of them are known to have
};

struct Incident {
  std::string cluster = {}, family = {};
  i64 n = 0;              // how often there was one of this key: from 1
  i64 sequence = 0;       // grows with each word of it: of what was told last
  std::string host = {};  // of one without a job
  JobOfIncident job = {};
  IncidentState state = IncidentState::pending;
  Urgency urgency = Urgency::warning;
  Ns opened = 0, updated = 0, closed = 0;  // closed 0: it is open
  Ending ending = Ending::over;            // of one that recovers or is resolved
  bool has_job_ended = false;              // it is over since the job ended or began anew
  std::string resolved_by = {};            // who says so while something of it fires; mostly empty
  Ns over = 0;                             // since when it recovers, or did; 0: it goes on
  Ns fired_again = 0;                      // when it did so after it was resolved; 0: it did not
  Ns repeated = 0;                         // when it was told last because it stays; 0: never
  std::string led_by = {};
  Symptom symptom = {};
  std::optional<Verdict> verdict = {};
  std::vector<Evidence> evidence = {};
  std::vector<std::string> against = {};  // what was looked at and is not the cause, and doubts (kDoubt)
  std::vector<ChangeBefore> changes = {};
  std::vector<LogLine> logs = {};
  std::vector<CaptureOfIncident> captures = {};
  std::optional<ReportOfIncident> report = {};  // nothing: there is none
  std::vector<std::string> not_known = {};
  std::string to_trace = {};               // the command by which a person traces what was not; mostly empty
  std::vector<Condition> conditions = {};  // the worst ones that fire, or fired last
  i64 condition_count = 0;                 // of all that fire
  std::optional<Acknowledgement> acknowledged = {};
  std::optional<Ns> silenced_until = {};
  // For who goes on with it: when it began to fire, when something was told of it last (0: nothing yet), of
  // which incident it is a part and not told by itself, and where it was before it recovered (pending:
  // it does not).
  Ns fired = 0, told = 0;
  bool told_elsewhere = false;  // another host that led it has told of it
  std::string part_of = {};
  // Of a job's: the one that it shares with other jobs of a host, and is told beside.
  std::string shared_incident = {};
  std::optional<SharedBy> shared_by = {};  // nothing: it is of a job, or of a host
  IncidentState before = IncidentState::pending;

  // `<cluster>/<job>/<family>`, or `<cluster>/host/<host>/<family>`; of one that jobs share
  // `<cluster>/<host>/<family>/shared`: no name of a job makes another one's key.
  std::string key() const;
  // Of the host that is called as the job, or the job as the host: their ids are one text, so that they share
  // the numbers.
  std::string namesake_key() const;
  // What people are shown: `<job>-<family>-<n>`, or with the host in the place of the job; of one that jobs
  // share `<host>-<family>-<n>-shared`.
  std::string id() const;
  bool is_open() const { return state != IncidentState::resolved; }
};

// One that a condition begins, as far as that says of what it is.
Incident begun_by(const std::string& cluster, const Condition& condition);
// The key of the incident that a condition belongs to.
std::string incident_key(const std::string& cluster, const Condition& condition);

}  // namespace spotter::respond
