// Every kind of table that samples of this host come in, whoever makes them.
#pragma once
#include <span>
#include <string_view>

#include "table/table_kind.h"

namespace spotter::agent {

std::span<const table::TableKind* const> all_table_kinds();
const table::TableKind* find_table_kind(std::string_view name);  // nullptr if there is none

}  // namespace spotter::agent
