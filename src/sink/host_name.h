// Who this host is, for those who hear of many.
#pragma once
#include <string>

#include "sink/list.h"

namespace spotter::sink {

std::string host_name(const Surroundings& surroundings);
std::string machine_id(const Host& host);  // /etc/machine-id; empty: there is none
Ns boot_time(const Host& host);            // Unix time, of /proc/stat; 0: not told

}  // namespace spotter::sink
