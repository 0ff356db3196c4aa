// Who listens at a UNIX socket that nobody named: in a folder where everybody may make names, anybody can
// have been there first.
#pragma once
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace spotter::net {

// The listener has to be root, this process's user, or the user that the socket's folder belongs to, where
// only root or this user can have made the folder: /run/spotter is a service's, /tmp/spotter-1000 may be
// anybody's. `uid`: of the listener, as the kernel knows it; `own`: this process's. Errors: denied.
Result<void> check_listener(const std::string& socket, i64 uid, i64 own);

}  // namespace spotter::net
