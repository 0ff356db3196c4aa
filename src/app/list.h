// The program as its commands; a new one is a line in list.cc.
#pragma once
#include "app/cli/command.h"

namespace spotter::app {

Program program();

}  // namespace spotter::app
