// What a receiver outside is not to read of an incident: names of hosts and users get stand-ins, everywhere
// in it; lines of logs and names of code are left out.
//
// A stand-in is the same each time, so that what is told later is known to be of the same: of a name that can
// be guessed, who guesses can tell.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "respond/incident.h"

namespace spotter::notify {

struct Redaction {
  bool names = false;  // of the job, of files, of what changed in code; commands, which have them
  bool hosts = false;
  bool users = false;
  bool log_lines = false;
};

inline constexpr const char* kRedacted[] = {"names", "hosts", "users", "log_lines"};

Result<Redaction> redaction_of(const std::vector<std::string>& words);  // errors: invalid
respond::Incident redacted(respond::Incident incident, const Redaction& redaction);

}  // namespace spotter::notify
