// Leading: what agents of several hosts tell one another of a job they share, so that one of them speaks for
// all. Conditions of jobs that another host leads go there (POST /v1/conditions); of those that this host
// leads the others' come in, with what their part of the job is. The loop's thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/respond_options.h"
#include "base/system/host.h"
#include "base/text/listed_ranks.h"
#include "client/credentials.h"
#include "collect/process/identities.h"
#include "net/http/http_client.h"
#include "net/loop.h"
#include "respond/incidents/incidents.h"
#include "respond/incidents/members.h"
#include "respond/incidents/relay.h"
#include "respond/steps/job_pace.h"

namespace spotter::agent {

class Leading {
 public:
  // Of Incidents; all of them outlive this. `apply`: what is to be done with what the incidents answer.
  struct Parts {
    net::Loop& loop;
    const Host& host;
    const std::string& host_name;
    collect::Identities& identities;
    const RespondOptions& options;
    const respond::JobPaces& paces;
    respond::Incidents& incidents;
    std::function<void(const respond::Incidents::Changes&)> apply;
    std::function<void(u64 condition)> mended;             // somebody says so, where it is led
    std::function<void(const respond::Condition&)> heard;  // one that fires on another host; after `apply`
  };
  explicit Leading(Parts parts);
  ~Leading();

  // Once. Errors: those of the credentials.
  Result<void> begin();

  void take(const respond::Condition& condition, Ns now);  // of this host
  respond::ReportAnswer receive(const respond::Report& report);
  void pass(Ns now);  // each second or two

  // Whether this host is the one to speak for a job, as far as the job says.
  bool leads(const std::string& job) const { return leaders(job, parts_.host.unix_now()).is_own(); }
  // Of a job, by whoever knows it.
  std::optional<respond::JobPace> pace(const std::string& job) const;
  // Whom a capture of its job takes: without credentials for other hosts its ranks here.
  respond::Chosen choose(const respond::Incident& incident) const;
  // See respond::Members.
  respond::Chosen choose_more(const std::string& job, const ListedRanks& group,
                              const std::vector<i64>& traced) const;
  respond::JobOfIncident job(const std::string& id) const;
  // The hosts that all of these jobs are known to have.
  std::vector<std::string> common_hosts(const std::vector<std::string>& jobs) const;
  // Whether it is for this host to tell what they share: of what each host of a job sees one tells.
  bool speaks_for(const std::string& family, const std::vector<std::string>& jobs) const;
  // By which name others know this host, as a job says; empty: none.
  std::string own_name(const std::string& job) const;
  // Where not all of a job's hosts are heard: why; a sentence for what is not known.
  std::string why_alone(const std::string& job) const;
  i64 left_out() const { return relay_.left_out(); }
  // Agents of other hosts that conditions were sent to in the last minutes, by host.
  struct Other {
    Ns at = 0;  // when it was asked last
    bool takes_them = false;
    std::string word = {};  // what is to be said of it: that it is older, why it takes none; mostly nothing
  };
  const std::map<std::string, Other>& others() const { return others_; }

 private:
  struct KnownLeaders {
    respond::Leaders leaders = {};
    Ns read = 0;
  };

  const respond::Leaders& leaders(const std::string& job, Ns now) const;
  respond::JobHere here(const std::string& job, Ns now) const;
  const respond::Members& askable() const;
  respond::Chosen with_addresses(respond::Chosen chosen, const std::string& job) const;
  void send(respond::Relay::Errand errand, Ns now);
  void take(const respond::Relay::Errand& errand, Result<net::HttpAnswer> http);
  void take_own(Ns now);
  void watch(Ns now);
  void introduce(Ns now);
  void say(const std::string& host, bool takes_them, std::string word);

  Parts parts_;
  const std::string instance_;
  std::optional<client::Credentials> credentials_;
  respond::Relay relay_;
  respond::Members members_;
  mutable std::map<std::string, KnownLeaders> leaders_;  // by job
  std::map<std::string, Other> others_;
  std::map<std::string, Ns> introductions_;  // by job that is here: when it is told of next
  std::map<std::string, Ns> refused_;        // by job: when its leader was there last, and would not listen
  std::map<std::string, std::vector<respond::LedIncident>> awaited_;  // by job, of the last pass
  std::map<i64, std::unique_ptr<net::HttpClient>> asked_;             // questions that are under way
  i64 next_ = 0;
};

}  // namespace spotter::agent
