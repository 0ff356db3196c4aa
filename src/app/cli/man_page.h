// The manual page spotter(1), made from the records, in the macros of man(7).
#pragma once
#include <string>

#include "app/cli/command.h"

namespace spotter::app {

std::string man_page(const Program& program);

}  // namespace spotter::app
