// Silences: what nobody wants to be told for a while. The body of POST /v1/silences is a JSON object:
//
//   rule, job, host, user   texts   of what; one of them at least
//   for_ms                  number  how long, or until_ms, Unix time
//   reason                  text
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "respond/incidents/silences.h"
#include "table/table.h"

namespace spotter::wire {

// Errors: invalid.
Result<respond::Silence> read_silence(std::string_view body, Ns unix_now);
std::string silence_text(const respond::Silence& silence);

std::span<const Field> silences_columns();
Table silences_table(std::span<const respond::Silence> silences);

}  // namespace spotter::wire
