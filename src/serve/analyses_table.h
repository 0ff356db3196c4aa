// The records of all analyses, for forms and help.
#pragma once
#include "table/table.h"

namespace spotter::serve {

// Table `analyses`: name, summary, doc, on_request, params (JSON: a list of {name, fallback, help}).
Table analyses_table();

}  // namespace spotter::serve
