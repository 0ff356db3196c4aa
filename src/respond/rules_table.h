// The rules as a table: what each watches for, and with which settings.
#pragma once
#include "respond/rules.h"
#include "table/table.h"

namespace spotter::respond {

std::span<const Field> rules_columns();
Table rules_table(const RuleSettings& settings);
// The settings of such a table. Rules that this release does not know are left out. Errors: corrupt.
Result<RuleSettings> read_rules_table(const Table& table);

}  // namespace spotter::respond
