#include "app/cli/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "app/cli/interruption.h"
#include "app/cli/terminal.h"
#include "base/system/file.h"
#include "base/text/utf8.h"

namespace spotter::app {

Result<void> check_output(const std::string& path, const Job& job) {
  struct stat output;
  if (is_standard_output(path) || stat(path.c_str(), &output) != 0) return {};
  const auto is_output = [&](const std::string& name) {
    struct stat input;
    return stat(name.c_str(), &input) == 0 && S_ISREG(input.st_mode) && input.st_dev == output.st_dev &&
           input.st_ino == output.st_ino;
  };
  if (std::ranges::any_of(job.files, is_output, &TraceFile::path) ||
      std::ranges::any_of(job.receipts, is_output) ||
      std::ranges::any_of(job.flight_records, is_output, &FlightRecordFile::path))
    return fail(Code::invalid, "{} is one of the files that are read; write to another one", path);
  return {};
}

Result<void> check_output(const std::string& path, const render::Format& format) {
  if (!format.is_binary || !is_standard_output(path) || !isatty(STDOUT_FILENO)) return {};
  return fail(Code::invalid, "the format {} is nothing for a terminal; write it to a file or a pipe",
              format.name);
}

std::string untouched(const std::string& path) {
  struct stat there;
  if (is_standard_output(path)) return "nothing was written";
  return fmt::format("{} was not written{}", to_printable(path),
                     stat(path.c_str(), &there) == 0 ? ", what was there is untouched" : "");
}

void watch_stream(const std::string& path) {
  struct stat there;
  const bool is_file =
      !is_standard_output(path) && (stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode));
  if (is_file) return;
  say_when_interrupted((is_standard_output(path) ? std::string("standard output") : to_printable(path)) +
                       " does not hold all of it");
  end_at_once_when_interrupted();
}

Result<void> write_output(const std::string& path, std::string_view bytes) {
  watch_stream(path);
  if (!is_standard_output(path)) {
    TRY(write_file_atomically(path, bytes));
    say_when_interrupted(to_printable(path) + " was written");
    return {};
  }
  const bool whole =
      std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
  if (!whole && errno == EPIPE) return {};  // the reader has seen enough
  if (!whole) return fail(Code::io, "standard output cannot be written: {}", errno_text(errno));
  say_when_interrupted("all of it was written");
  return {};
}

void say_notes(const render::Format& format, const render::Document& document) {
  if (format.shows_notes) return;
  const Notes notes = render::all_notes(document.tables, document.notes);
  std::fputs(render::render_text_notes(notes, style_of(STDERR_FILENO)).c_str(), stderr);
}

Result<void> print(const render::Format& format, const render::Document& document, std::string_view choice) {
  TRY(check_output("", format));
  TRY(render::check_takes(format, document.tables, choice));
  return write_output("", render::render(format, document, style_of(STDOUT_FILENO)));
}

}  // namespace spotter::app
