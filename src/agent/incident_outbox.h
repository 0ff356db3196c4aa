// The outbox of notifiers (notify/outbox.h), in the file of incidents.
#pragma once
#include <memory>

#include "notify/outbox.h"
#include "store/incident_store.h"

namespace spotter::agent {

std::shared_ptr<notify::Outbox> outbox_in(std::shared_ptr<store::IncidentStore> store);

}  // namespace spotter::agent
