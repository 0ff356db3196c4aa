// TableKind: what is declared of a table before there is one: its columns, and how its rows are to be taken.
#pragma once
#include <span>

#include "table/table.h"

namespace spotter::table {

// Each column of Role::value or Role::counter is a metric, the columns of Role::key tell rows apart, those of
// Role::detail say more about them. A table of events has a column of Role::time. It and all that it points
// to live as long as the program.
struct TableKind {
  const char* name;    // "disk"
  const char* source;  // where its numbers come from: "/proc/diskstats"
  const char* help;    // what a row is: "A block device."
  std::span<const Field> columns;
  bool is_unbounded =
      false;  // rows come and go with processes: not for systems that keep a series for each for ever
  bool is_events = false;  // Table::is_events
  i64 every = 1;           // looks between two of it; the other tables of its collector are there each time
};

}  // namespace spotter::table
