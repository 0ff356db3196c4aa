// The machine formats behind render(): one file each. Notes are already those of the run and of all tables.
#pragma once
#include <span>
#include <string>

#include "table/table.h"

namespace spotter {

std::string render_json(std::span<const Table> tables, const Notes& notes);  // json.cc
std::string render_csv(std::span<const Table> tables);                       // csv.cc

}  // namespace spotter
