// The layout of a history's file: which tables it has. Its version is in the file (PRAGMA user_version).
//
// One list of steps leads from each version to the next, from an empty file on: so a file that was laid out
// by an older version and brought up to date is as a new one is.
#pragma once
#include <span>

#include "store/database.h"

namespace spotter::store {

// The SQL of step i leads from version i to i + 1. One that has been released is never changed: what is to be
// otherwise is a further step. A step neither begins nor ends a transaction, and sets no version.
using LayoutSteps = std::span<const char* const>;
LayoutSteps layout_steps();

// For who writes the file: takes all steps that are left, in one transaction. Where one fails the file is as
// it was. Errors: unsupported (a later version's), corrupt, those of SQLite.
Result<void> bring_up_to_date(Database& database, LayoutSteps steps = layout_steps());

// For who only reads it. Errors: not_found (not laid out yet), unsupported (another version's; what to do),
// corrupt, those of SQLite.
Result<void> check_layout(Database& database, LayoutSteps steps = layout_steps());

}  // namespace spotter::store
