// The outbox of notifiers (notify/outbox.h) in the file of incidents (store/incident_store.h).
#pragma once
#include <memory>

#include "notify/outbox.h"
#include "store/incident_store.h"

namespace spotter::agent {

std::shared_ptr<notify::Outbox> outbox_in(std::shared_ptr<store::IncidentStore> store);

// What `notifier` is to be told of it.
store::OutboxRow outbox_row(const respond::Incident& incident, notify::Occasion occasion,
                            const std::string& notifier, std::string text, Ns now);

}  // namespace spotter::agent
