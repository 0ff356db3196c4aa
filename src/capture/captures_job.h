// Of captures.h: one process of a capture.
#pragma once
#include <fmt/format.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/captures.h"

namespace spotter::capture {

inline std::string seconds(Ns time) { return fmt::format("{:.1f} s", static_cast<double>(time) / 1e9); }

struct Captures::Job {
  Capture* capture = nullptr;
  size_t index = 0;  // of its receipt
  kineto::Config config;
  std::string text;
  std::string elsewhere;                    // why its file will not be where it was asked for; empty: it will
  bool is_own_text = true;                  // made from `config`, not somebody else's
  std::shared_ptr<const ProcessRoot> root;  // nullptr: the disk has not answered yet
  std::shared_future<std::vector<OutputPlace>> places;  // of all processes of its user; until there is a root
  size_t place = 0;
  std::optional<std::future<FileLook>> looking;
  Times asked;          // when it was looked last
  Ns silent_since = 0;  // the disk, since it was asked; 0: it has answered
  Times delivered;
  Ns start = 0;      // steady time at which the trace begins, unless the clock is set; once it is delivered
  i64 start_ms = 0;  // the same in Unix time
  // Unix times of its temporary file while nothing is written into it: its own, and the same no earlier than
  // the look before that saw it first and no later than that look, since the clock of a file server may be
  // another.
  Ns file_time = 0, begun_at = 0, looked_at = 0;
  bool is_empty = false;     // so it was at the last look
  Ns dropped_file_time = 0;  // file_time when it was asked again
  int polls = 0;             // since the request was delivered
  Ns before = 0;          // when a file of that name, if it is not ours, which was there already, had changed
  Ns refused_at = 0;      // it asked, but was at another capture
  bool was_busy = false;  // since the request was delivered
  bool is_asked_again = false;
  Ns idle_since = 0, gone_at = 0;
  Receipt& receipt() const { return capture->receipts[index]; }
};

}  // namespace spotter::capture
