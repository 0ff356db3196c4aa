#include "agent/incidents/incident_words.h"

namespace spotter::agent {

std::optional<notify::Occasion> occasion_of(respond::Word word) {
  switch (word) {
    case respond::Word::none:
      return {};
    case respond::Word::opened:
      return notify::Occasion::opened;
    case respond::Word::verdict:
      return notify::Occasion::verdict;
    case respond::Word::changed:
    case respond::Word::renewed:
      return notify::Occasion::changed;
    case respond::Word::resolved:
      return notify::Occasion::resolved;
  }
  return {};
}

respond::Silence silence_of(const store::Silence& kept) {
  return {.rule = kept.rule,
          .job = kept.job,
          .host = kept.host,
          .user = kept.user,
          .until = kept.until,
          .reason = kept.reason,
          .by = kept.by};
}

store::Silence kept_of(const respond::Silence& silence, Ns made) {
  store::Silence kept;
  kept.rule = silence.rule;
  kept.job = silence.job;
  kept.host = silence.host;
  kept.user = silence.user;
  kept.made = made;
  kept.until = silence.until;
  kept.reason = silence.reason;
  kept.by = silence.by;
  return kept;
}

}  // namespace spotter::agent
