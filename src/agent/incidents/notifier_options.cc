#include "agent/incidents/notifier_options.h"

#include "notify/list.h"

namespace spotter::agent {

std::string name_of(const NotifierOptions& options) {
  return notify::name_of(options.type, options.settings);
}

Result<notify::Receiver> open_receiver(const NotifierOptions& options,
                                       const notify::Surroundings& surroundings) {
  TRY_ASSIGN(auto notifier, notify::open_notifier(options.type, options.settings, surroundings));
  return notify::Receiver{name_of(options), options.type, std::move(notifier),
                          notify::redaction_of(options.settings), notify::least_of(options.settings)};
}

}  // namespace spotter::agent
