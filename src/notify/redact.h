// Redaction: what is not to leave the site is taken out of an incident before anything is made of it.
#pragma once
#include <string>

#include "base/result.h"
#include "respond/incidents/incident.h"

namespace spotter::notify {

struct Redaction {
  bool names = false;  // of jobs, and what changed in the code
  bool hosts = false;  // host names become "host-1a2b3c4d", in all texts: a digest, so that they stay apart
  bool users = false;  // who runs, changes and acknowledges
  bool log_lines = false;  // lines of logs, also where other texts quote them
};

// "names, hosts". Errors: invalid.
Result<Redaction> parse_redaction(const std::string& words);

// ", without hosts, users"; empty where nothing is left out.
std::string what_is_left_out(const Redaction& redaction);

// What stands in the place of a host's name.
std::string redacted_host(const std::string& host);

// Whatever is left of an incident that redacts hosts has the same key for one host, whoever tells of it.
void redact(respond::Incident& incident, const Redaction& redaction);

}  // namespace spotter::notify
