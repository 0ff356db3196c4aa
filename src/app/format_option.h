// --format, of every command that prints tables.
#pragma once
#include "app/cli.h"
#include "render/render.h"

namespace spotter::app {

// Sets `format`, which has to outlive the parse. Formats that can show some tables only (check_takes) are
// among them where these are asked for.
enum class Formats { for_all_tables, for_some_tables };
CLI::Option* add_format_option(CLI::App& app, const render::Format*& format,
                               Formats formats = Formats::for_all_tables);

}  // namespace spotter::app
