// A directory of this host: where the traces go, if they go to this host, and the receipts.
#pragma once
#include <string>

#include "base/result.h"

namespace spotter::app {

struct TraceFolder {
  std::string path;  // empty: on hosts of their own, and none is needed here yet
  bool is_new = false;
};

// Other hosts may share the directory `wanted` with this one, or have one of that name. Errors: io, denied.
Result<TraceFolder> prepare_folder(const std::string& wanted, bool is_local);
// One that nobody can have made before.
Result<TraceFolder> make_new_folder();

}  // namespace spotter::app
