// Words and forms of incidents: what their store and their people have for what respond/ says.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "notify/notifier.h"
#include "respond/incidents.h"
#include "store/silences.h"
#include "table/table.h"

namespace spotter::agent {

std::string ranks_text(const std::vector<i64>& ranks);  // ascending: "0-3,7"
std::string folder_of(const Table& receipts);           // of the first file; empty: there is none
std::optional<notify::Occasion> occasion_of(respond::Word word);
respond::Silence silence_of(const store::Silence& kept);
store::Silence kept_of(const respond::Silence& silence, Ns made);

}  // namespace spotter::agent
