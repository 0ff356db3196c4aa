// Where an answer goes.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "render/render.h"
#include "trace/job.h"

namespace spotter::app {

inline bool is_standard_output(std::string_view path) { return path.empty() || path == "-"; }

// What is no file (standard output, a pipe, a device) is written piece by piece, and whoever reads it may be
// slow, or not there: from now on a signal ends the process at once, and says so. Nothing happens for a file.
void watch_stream(const std::string& path);

// Whether a file that is to be written is one of those that are read. Errors: invalid.
Result<void> check_output(const std::string& path, const Job& job);

// Errors: invalid (bytes that are nothing for a terminal would go to one).
Result<void> check_output(const std::string& path, const render::Format& format);

// What is said of the file where work ends before write_output.
std::string untouched(const std::string& path);

// Writes to the file, whole or not at all, or to standard output by that path, or another stream.
Result<void> write_output(const std::string& path, std::string_view bytes);

// What the format does not show of the notes, on standard error.
void say_notes(const render::Format& format, const render::Document& document);

// The document in this format, on standard output. `choice`: as check_takes() has it.
Result<void> print(const render::Format& format, const render::Document& document,
                   std::string_view choice = {});

}  // namespace spotter::app
