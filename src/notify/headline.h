// What a message says first: whose it is, what is wrong, since when, and who is suspected: as much of it as a
// lock screen has room for.
#pragma once
#include <string>

#include "notify/notifier.h"

namespace spotter::notify {

// Without mark and word. Where there is no room for all, the number of hosts goes first, then which GPU, the
// job's name and its user; never the suspect.
std::string what_of(const Telling& telling);

// It tells that what was resolved goes on.
bool is_again(const Telling& telling);
// It tells what was told already, since it stays.
bool is_still(const Telling& telling);
Ns began(const respond::Incident& incident);
Ns ended(const Telling& telling);
std::string spaced(std::string name);  // of a mechanism or a rule, as people read it

}  // namespace spotter::notify
