// Words and forms of incidents: what their store and their people have for what respond/ says.
#pragma once
#include <optional>

#include "notify/notifier.h"
#include "respond/incidents/incidents.h"
#include "store/silences.h"

namespace spotter::agent {

std::optional<notify::Occasion> occasion_of(respond::Word word);
respond::Silence silence_of(const store::Silence& kept);
store::Silence kept_of(const respond::Silence& silence, Ns made);

}  // namespace spotter::agent
