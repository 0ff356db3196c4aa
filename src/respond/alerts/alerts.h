// Alerts: those of others that came in, and the conditions that they are: each goes on until who sent it says
// that it is over. The same alert twice is one; an alert of ours is none. One thread; no clock of its own.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "respond/alerts/alert_target.h"
#include "respond/incidents/condition.h"

namespace spotter::respond {

struct AlertsOptions {
  std::string host = {};
  size_t most = 4096;         // that are known, over ones among them
  int most_a_minute = 10;     // new ones of a caller
  Ns refresh = 30 * kSecond;  // a condition is said again
  Ns forget = 25 * kHour;     // one that nobody repeats: longer than senders usually wait
};

enum class AlertOutcome : u8 { begins, goes_on, over, linked, left_alone, not_taken, not_now };
inline constexpr const char* kAlertOutcomeNames[] = {"begins",     "goes_on",   "over",   "linked",
                                                     "left_alone", "not_taken", "not_now"};

struct AlertAnswer {
  AlertOutcome outcome = AlertOutcome::not_taken;
  std::string name = {}, job = {};
  std::string why = {};  // a clause; empty where the outcome says all
};

class Alerts {
 public:
  // `may`: whether who asks may have something done about a job.
  struct Caller {
    std::string name = {};
    bool is_limited = false;  // to its own jobs: no alert of others is its to tell of
    std::function<Result<void>(const std::string& job)> may = {};
  };
  explicit Alerts(AlertsOptions options) : options_(std::move(options)) {}

  // An answer for each alert, in their order; conditions that begin or end are added. Errors: busy (so many
  // fire already that there is no room).
  Result<std::vector<AlertAnswer>> take(const AlertFrame& frame, const Caller& caller,
                                        std::span<const Resident> residents, Ns at,
                                        std::vector<Condition>& conditions);
  // What is to be said again, and what is over since nobody repeats it or its job has left this host.
  std::vector<Condition> pass(Ns at, const std::function<bool(const std::string& job)>& is_here);
  // One that fired before this process. Others are not looked at.
  void adopt(const Condition& condition, Ns at);
  // Somebody says that it is mended: those of the job do not fire before they begin anew.
  void resolve(const std::string& job);
  void resolve(u64 condition);  // the one of that fingerprint

 private:
  struct Kept {
    Ns starts = 0, heard = 0;
    Condition condition = {};   // it fires, or is over
    bool was_job_here = false;  // not before this host has been looked at, after a restart
  };
  AlertAnswer take(const AlertFrame& frame, const Alert& alert, const Caller& caller,
                   std::span<const Resident> residents, Ns at, std::vector<Condition>& conditions);
  bool has_room_for(const std::string& caller, Ns at);
  bool make_room();
  static void end_with_job(Kept& kept, Ns at, std::vector<Condition>& conditions);

  AlertsOptions options_;
  std::map<std::string, Kept> kept_;  // by fingerprint, behind the caller where that is limited
  struct Minute {
    Ns began = 0;
    int count = 0;
  };
  std::map<std::string, Minute> minutes_;  // by caller
};

}  // namespace spotter::respond
