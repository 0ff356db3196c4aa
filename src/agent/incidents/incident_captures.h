// Captures for incidents: whether one is paid for, which ranks, what it found and what it cost the job. Asked
// for by an incident that wants one; answers to the incidents. The loop's thread.
//
//   begin() -> budget -> investigation (one rank first, a canary) -> investigation -> (of a large job, where
//   it names no cause, one of the ranks that those traced wait for) -> conclusion
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/access.h"
#include "agent/incidents/investigation.h"
#include "agent/incidents/leading.h"
#include "agent/incidents/measuring.h"
#include "agent/incidents/report_folder.h"
#include "agent/jobs/room_questions.h"
#include "agent/respond_options.h"
#include "base/system/host.h"
#include "base/system/side_threads.h"
#include "capture/captures.h"
#include "kineto/registry.h"
#include "net/loop.h"
#include "respond/change.h"
#include "respond/incidents/conclusion.h"
#include "respond/incidents/incidents.h"
#include "respond/steps/job_pace.h"

namespace spotter::agent {

class IncidentCaptures {
 public:
  // Of Incidents; all of them outlive this. `apply`: what is to be done with what the incidents answer.
  struct Parts {
    net::Loop& loop;
    const Host& host;
    const std::string& host_name;
    const Access& access;
    const kineto::Registry& registry;
    collect::Identities& identities;
    const RespondOptions& options;
    respond::Rules& rules;
    const respond::JobPaces& paces;
    const Leading& leading;
    respond::Incidents& incidents;
    const std::shared_ptr<ReportFolder>& reports;  // nullptr: none are kept
    std::function<void(const Result<respond::Incidents::Changes>&)> apply;
    std::function<void(std::vector<respond::Change>)> learn;  // of other hosts
  };
  explicit IncidentCaptures(Parts parts);
  ~IncidentCaptures();

  // After a restart: what was spent before is not known.
  void begin_empty() { budget_.begin_empty(); }
  void begin(const respond::Incident& incident);
  void captured(const capture::Capture& capture);  // a listener of Captures
  void pass(Ns now);                               // each second or two
  // Since this process began, of each result that there was.
  const std::map<std::string_view, i64>& results() const { return results_; }

 private:
  struct Span {
    Ns from = 0, until = 0;  // Unix time: from a capture's warm-up to the end of its window
    size_t place = 0;        // among those of the incident
  };
  // A capture for an incident that is under way.
  struct Running {
    std::string job = {};
    respond::CapturePlan plan = {};
    respond::Chosen whom = {};
    Span span = {};
    bool is_canary = false;
    std::optional<respond::JobPace> before = {};  // how the job went on when it was begun
    std::set<i64> users = {};                     // whose processes here were traced meanwhile
    std::string id = {};                          // of this host's capture
    Ns asked = 0;                                 // when it was asked for
    std::unique_ptr<Investigation> investigation = {};
    std::vector<Span> earlier = {};  // captures of this plan, which it costs as well: a canary, a first one
    // Of a second one: what the first one said, and which ranks it has traced.
    std::optional<respond::Conclusion> first = {};
    std::set<i64> traced_before = {};

    std::vector<Span> all_spans() const;  // with its own, the last
  };

  void captured(const capture::Capture& capture, const std::string& job);
  void learn_of_before(const std::string& job);
  Result<respond::CapturePlan> plan(const respond::Incident& incident);
  std::string why_not_asked(const std::string& job) const;
  std::vector<i64> traceable(const std::string& job) const;  // its processes here
  std::string how_to_trace(const respond::Incident& incident) const;
  void begin_capture(const std::string& id, Running capture);  // if there is room for its traces
  std::string who_was_alone(const std::string& id, const Span& canary) const;
  void choose_canary(Running& running, respond::Chosen& whom, std::vector<i64>& pids) const;
  void begin_now(const std::string& id, Running capture);
  void not_begun(const std::string& id, const Running& capture, const std::string& why);
  void take(const std::string& id, const Running& running, Result<Investigated> investigated);
  std::optional<Running> second(const std::string& id, const Running& first, const Investigated& investigated,
                                respond::Conclusion& conclusion, Ns now);
  void keep_report(const std::string& id, std::string page);
  void go_on(const std::string& id, const Running& canary);
  void describe(const std::string& id, const Running& running, const Investigated& investigated);
  void settle_later(const std::string& id, const std::string& job, std::vector<Span> spans);
  void settle_cost(const std::string& job, const std::vector<Span>& spans, const std::string& id);
  void add_measured(const Investigated& investigated, const std::string& job,
                    respond::Conclusion& conclusion) const;
  void add_ruled_out(respond::Conclusion& conclusion, Ns now) const;
  // With what was measured of its ranks, where nothing is traced.
  void refuse_measured(const respond::Incident& incident, std::string why,
                       respond::Conclusion conclusion = {});
  // `conclusion`: what is known all the same.
  void refuse(const std::string& id, std::string why, respond::Conclusion conclusion = {});
  Ns slow_since(const std::string& id) const;
  std::optional<double> aftermath(const std::string& id, const Running& canary,
                                  const respond::CaptureCost& cost) const;
  bool stands_since(const std::string& job, Ns until, Ns now) const;

  Parts parts_;
  std::function<void(std::function<void()>)> post_;
  respond::Budget budget_;
  Measuring measuring_;
  RoomQuestions rooms_;
  std::map<std::string_view, i64> results_;                  // the names are constants
  std::map<std::string, std::unique_ptr<Running>> running_;  // by the incident's id
  std::map<std::string, Ns> by_people_;  // when a capture of a job that somebody asked for was under way last
  std::map<std::string, std::unique_ptr<net::Timer>> later_;  // by the incident's id
  const SideThreads aside_ = SideThreads(2);                  // for the reports' folder
  std::shared_ptr<const int> alive_ = std::make_shared<const int>();
};

}  // namespace spotter::agent
