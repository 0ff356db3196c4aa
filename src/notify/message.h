// Message: what people are told of an incident, as data: every receiver's form is made of it. All texts are
// printable, on one line and of a bounded length.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "notify/notifier.h"

namespace spotter::notify {

inline constexpr size_t kMostHeadline = 150;  // characters, for a lock screen

struct EvidenceLine {
  std::string says;
  std::string quoted;  // a job's own words, such as a line of its log; empty: none
};

struct Message {
  std::string mark, word;  // "▲", "Warning": how bad it is by shape and by word
  std::string what;        // "Job 4711 pretrain (alice): steps 3.10 → 4.42 s (+43 %) since 04:46 UTC"
  std::string who;         // the cause and whom it comes from; that none was found, and what was tried
  std::string confidence;  // "high confidence"; empty: no cause is known
  std::vector<EvidenceLine> evidence;  // the most telling ones
  size_t more_evidence = 0;            // that there is beyond those
  std::string against, not_known;      // "network; code"; empty: nothing
  std::string doubts;                  // what speaks against `who`
  std::string cost;                    // "Costs 7,300 GPU-hours a day."; empty: not known
  std::string remedy;                  // "drain gpu05 …"; empty: none
  std::string acknowledged;            // "Acknowledged by carol."; empty: by nobody
  std::vector<std::string> commands;   // that show more
  std::string where;                   // the host on which they do; empty: not known
  std::string link;                    // to the incident; empty: none

  std::string headline() const;  // mark, word and what, at most kMostHeadline characters
};

Message message_of(const Telling& telling, const Surroundings& surroundings);

// For a terminal and logs: at most 9 lines, each with its end.
std::string text_of(const Message& message);
// One message for many: their headlines, at most so many, and how many more there are. A line each.
std::string digest_text(std::span<const Telling> tellings, const Surroundings& surroundings, size_t most);
// The lines below the headline, without ends.
std::vector<std::string> lines_of(const Message& message);

// Evidence, log lines, changes and captures, for where there is room: a line each, without ends, quoted text
// among them as it is; of very many the first, and how many more there are.
std::vector<std::string> details_of(const Telling& telling);

}  // namespace spotter::notify
