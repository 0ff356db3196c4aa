// --format and -o: as what tables are printed, and where.
#pragma once
#include "app/cli/command.h"
#include "render/render.h"

namespace spotter::app {

// Formats that can show some tables only (check_takes) are among them where these are asked for; of a job
// there is a page, too (report/html/format.h).
enum class Formats { for_all_tables, for_jobs };

// Sets `format`, which has to outlive the parse.
Option format_option(const render::Format*& format, Formats formats = Formats::for_all_tables);

// -o FILE: its ending may choose the format.
Option output_option(std::string& path);

// The format of a command with both: the one that was named, else that of the file's ending, else the first.
// `named`: nullptr where --format was not given. Errors: invalid (they contradict each other; an ending that
// no format has).
Result<const render::Format*> choose_format(const render::Format* named, const std::string& output,
                                            Formats formats = Formats::for_all_tables);

}  // namespace spotter::app
