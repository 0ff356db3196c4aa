// JSON of a bounded size: long texts and lists are cut, more and more until it fits.
#pragma once
#include "wire/json.h"

namespace spotter::notify {

// The same object, or with its texts and lists cut so that its text has at most so many bytes. Then its
// member "left_out" counts what was cut: texts, and elements of lists.
boost::json::object bounded(boost::json::object object, size_t most_bytes);

}  // namespace spotter::notify
