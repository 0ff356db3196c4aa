// Notifier: somebody who is told of incidents: a channel, a pager, a server. It makes one message of an
// incident and sends it once; what is tried again, and when, is delivery.h's. To add one: a file here with a
// NotifierKind, its name in list.h, a test.
//
// What an incident holds of a job is untrusted text: names, log lines. Each kind escapes and cuts it for its
// receiver, and no text of a job can become a link, a mention or a line of a header.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/settings.h"
#include "base/time.h"
#include "respond/incidents/incident.h"

namespace spotter::notify {

enum class Occasion : u8 {
  opened,   // told before there is a verdict
  verdict,  // or that there is none
  changed,  // what was told is no longer all of it; repeated, too
  resolved,
  test,  // somebody asked for it: `spotter notify test`
};

struct Telling {
  respond::Incident incident;
  Occasion occasion = Occasion::verdict;
  Ns at = 0;  // of this attempt, Unix time
};

struct Outcome {
  enum class Kind : u8 {
    done,
    again,     // not now: no connection, the receiver is busy or broken
    for_good,  // it will never take this one
    gone,      // it asks to be told nothing more
  };
  Kind kind = Kind::done;
  std::string says = {};  // the receiver's answer, or why there is none: one line without secrets
  Ns pause = 0;           // how long it wants to be left alone; 0: it does not say
  // With `again`: it may have been taken, as the answer was lost behind a whole request.
  bool in_doubt = false;
};

class Notifier {
 public:
  virtual ~Notifier() = default;
  // Blocks; always on one thread. `kept` is what this notifier wants to know again at the next word of the
  // same incident (which message to amend), empty at first; it outlives the process.
  virtual Outcome tell(const Telling& telling, std::string& kept) = 0;
  // Where people read them, and would turn off what tells too much: whether one message may stand for what is
  // told of many incidents, and that message. Nothing of it is kept. Where each incident has an identity of
  // its own (a pager, a server) each is told.
  virtual bool has_digest() const { return false; }
  virtual Outcome tell_digest(std::span<const Telling> tellings);
  // For receivers that forget what is not said again: how often that has to be; 0: never.
  virtual Ns renewal() const { return 0; }
  // From another thread: tell() is to return soon, now and from now on.
  virtual void interrupt() {}
};

// Never called where has_digest() says no.
inline Outcome Notifier::tell_digest(std::span<const Telling>) {
  return {Outcome::Kind::for_good, "it has no digest", 0, false};
}

struct Surroundings {
  std::string version = {};    // of Spotter
  std::string host_name = {};  // of this agent
  // Where people read more of an incident: a URL with {id}, {job} and {host} in it, the host that tells;
  // empty: nowhere.
  std::string report_url = {};
};

struct NotifierKind {
  const char* name;  // "slack"
  const char* help;  // one sentence
  std::span<const Setting> settings;
  // The settings have their fallbacks. Errors: invalid, denied (a file of a secret that others may read), io.
  Result<std::unique_ptr<Notifier>> (*open)(const Settings& settings, const Surroundings& surroundings);
};

}  // namespace spotter::notify
