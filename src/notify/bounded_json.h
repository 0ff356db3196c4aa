// JSON of a bounded size: of a larger one long texts and lists are cut, more and more until it fits.
#pragma once
#include <string>

#include "wire/json.h"

namespace spotter::notify {

// Of what is cut the member "left_out" of the object has the count: texts, and elements of lists.
std::string bounded_json(boost::json::object object, size_t most_bytes);

}  // namespace spotter::notify
