// Document: what is rendered. It points into what it is made of, for the time of a call.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "table/table.h"

namespace spotter::render {

struct Member {
  std::string_view name;
  Value value;
};

struct Document {
  std::span<const Table> tables;
  Notes notes;  // of the run; the tables' own are shown with them
  // What programs are told beside tables and notes, in this order: members of the JSON document. The other
  // formats leave them out.
  std::vector<Member> members = {};
};

}  // namespace spotter::render
