// Changes: what somebody says that he has made otherwise. The body of POST /v1/changes is a JSON object:
//
//   summary  text    what, at most 1,024 bytes
//   time     text    when, RFC 3339; now where it is not said
//   source   text    who or what did it; kind: "driver", "deployment" (which is meant where none is said) ...
//   link     text    where more is to be read
//   job      text    whose; hosts: texts: on which
//
// or a CloudEvent 1.0 (structured) with these in `data`, or an event as PagerDuty takes it for changes:
// {"payload": {"summary", "timestamp", "source"}, "links": [{"href"}]}.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "respond/change.h"
#include "table/table.h"

namespace spotter::wire {

// All texts are printable and bounded. Errors: invalid (also a time that is still to come, or more than 30
// days ago).
Result<respond::Change> read_change(std::string_view body, Ns unix_now);
std::string change_text(const respond::Change& change);  // of its own form

std::span<const Field> changes_columns();
Table changes_table(std::span<const respond::Change> changes);  // the newest first
// The other way round, as another agent has said it: texts are printable and bounded, what has no time is
// left out.
std::vector<respond::Change> read_changes(const Table& table);

}  // namespace spotter::wire
