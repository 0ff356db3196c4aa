// --format, of every command that prints tables.
#pragma once
#include "app/cli.h"
#include "render/render.h"

namespace spotter {

// Sets `format`, which has to outlive the parse.
void add_format_option(CLI::App& app, const Format*& format);

}  // namespace spotter
