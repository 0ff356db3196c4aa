// Which modules the plugin's module view shows, and inside which: by the numbers that Python's calls have,
// not by time.
#pragma once
#include <string_view>
#include <vector>

#include "analyze/tb_plugin/events.h"

namespace spotter::analyze::tb_plugin {

struct ShownModule {
  std::string_view name;  // without "nn.Module: "
  i64 id = 0;             // among those of its class
  u32 parent = kNone;     // of these; an earlier one
  i64 depth = 0;
};

struct ShownModules {
  std::vector<ShownModule> all;  // each before those in it
  i64 too_deep = 0;              // left out, with what is in them
};

// A module that is called twice by one call is there twice. Of outermost modules whose calls have the same
// modules in them there is one; by name.
ShownModules module_tree(const Trace& trace, const Events& events);

// Of a call of a module.
std::string_view module_name(const Trace& trace, EventId e);
inline i64 module_id(const Trace& trace, EventId e) {
  return trace.integer(e, Arg::python_module_id).value_or(0);
}

inline const ArgSet kModuleArgs = {Arg::python_id, Arg::python_parent_id, Arg::python_module_id};

}  // namespace spotter::analyze::tb_plugin
