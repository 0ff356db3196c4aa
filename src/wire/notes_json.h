// Notes as JSON, with their places and scopes, and back.
#pragma once
#include <boost/json.hpp>

#include "base/notes.h"

namespace spotter::wire {

boost::json::array json_of(const Notes& notes);

// Throws std::invalid_argument or what boost::json throws where a value has another type or form. `count`: of
// notes that were read so far, of which there may be so many.
Notes notes_in(const boost::json::value& list, size_t& count);

}  // namespace spotter::wire
