// Words: numbers, times and names as messages have them: each number with its unit and what it is compared
// with, times in UTC, text of a job on one line and of a bounded length.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/types.h"
#include "respond/incidents/incident.h"

namespace spotter::notify {

// Printable, on one line, at most so many characters; of a longer one the beginning and "…".
std::string clean(std::string_view text, size_t most_characters);
// Valid UTF-8 as it is, at most so many characters or bytes; no character is cut in two.
std::string cut_characters(std::string_view text, size_t most);
std::string cut_bytes(std::string_view text, size_t most);

std::string number_text(double value, const std::string& unit);               // "4.42 s", "63 %"
std::string change_text(double before, double now, const std::string& unit);  // "3.10 → 4.42 s (+43 %)"
std::string count_text(i64 count, const char* one, const char* many);         // "1,024 ranks"

std::string length_text(Ns length);               // "95 s", "12 min", "3 h 20 min", "2 d 4 h"
std::string clock_text(Ns at, Ns now);            // "04:46 UTC"; of another day "22 Nov 04:46 UTC"
std::string clocks_text(Ns from, Ns to, Ns now);  // "04:46 to 04:58 UTC"

std::string without_domain(const std::string& host);  // an address as it is: it has none

std::string suspect_text(const respond::Suspect& suspect);                 // "rank 37 on gpu05 (GPU 5)"
std::string suspects_text(const std::vector<respond::Suspect>& suspects);  // of many the first two

// GPU-hours that are lost in `length`; nullopt: not known.
std::optional<double> gpu_hours_lost(const respond::Incident& incident, Ns length);

}  // namespace spotter::notify
