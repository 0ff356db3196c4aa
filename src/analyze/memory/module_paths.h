// ModulePaths: the modules of a trace by the way to them, which tells apart those of one name.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze {

class ModulePaths {
 public:
  // The module of this name (of its span) inside another one; 0: inside none. From 1 on. What is too deep is
  // a part of what is around it.
  u32 at(u32 around, StringId name);

  // By module, that of 0 is empty: as users know it (Linear_0) or, where several modules have that name, with
  // those around it, as the table modules has its path.
  std::vector<std::string> names(const Trace& trace) const;

 private:
  struct Module {
    u32 around;
    StringId name;
    int depth;
  };
  int compare(u32 a, u32 b) const;
  bool ends_with(u32 path, u32 end) const;
  std::string path_of(const Trace& trace, u32 module) const;

  std::vector<Module> all_ = {{0, 0, 0}};
  std::map<std::pair<u32, StringId>, u32> ids_;
};

}  // namespace spotter::analyze
