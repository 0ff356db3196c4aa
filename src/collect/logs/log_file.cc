#include "collect/logs/log_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system/file_inside.h"

namespace spotter::collect {
namespace {

Ns time_of(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

}  // namespace

Result<LogFile> LogFile::open(FoundLog found, bool from_its_end, LogCounts& counts) {
  LogFile file(std::move(found), counts);
  TRY(file.begin(from_its_end));
  return file;
}

Result<void> LogFile::begin(bool from_its_end) {
  Descriptor opened = open_for_reading(found_.found);
  if (opened.fd < 0) return fail(errno == EACCES ? Code::denied : Code::io, "{}", errno_text(errno));
  file_ = std::move(opened);
  found_.found = Descriptor();
  state_ = found_.state;
  resume_at(from_its_end ? state_.st_size : 0);
  is_found_late_ = !from_its_end;
  return {};
}

// Within a line, which is then no line, or at the beginning of one.
void LogFile::resume_at(i64 offset) {
  char before = '\n';
  if (offset > 0 && pread(file_.fd, &before, 1, offset - 1) != 1) before = '\0';
  is_within_ = !ends_line(before);
  offset_ = base_ = offset;
  segments_ = found_.is_pod ? respond::LogSegments::of_pod() : respond::LogSegments();
}

void LogFile::tell(std::string_view text, std::optional<Ns> written, const Visit& visit) {
  ++counts_->lines;
  const bool is_newest = base_ + segments_.end() == offset_;
  visit({text, base_ + segments_.begin(), is_newest ? written : std::nullopt, is_found_late_});
}

void LogFile::finish(const Visit& visit) {
  segments_.finish([&](std::string_view text) { tell(text, {}, visit); });
}

void LogFile::read_to(i64 end, i64 most_bytes, Ns written, const Visit& visit) {
  if (end - offset_ > most_bytes) {
    counts_->skipped_bytes += end - offset_ - most_bytes;
    resume_at(end - most_bytes);
  }
  std::array<char, size_t{64} << 10> buffer;
  while (offset_ < end) {
    const auto wanted = static_cast<size_t>(std::min<i64>(end - offset_, buffer.size()));
    const ssize_t n = pread(file_.fd, buffer.data(), wanted, offset_);
    if (n <= 0) return;  // it was cut off meanwhile, or cannot be read now
    std::string_view bytes(buffer.data(), static_cast<size_t>(n));
    counts_->read_bytes += n;
    offset_ += n;
    if (is_within_) {
      const auto line = std::ranges::find_if(bytes, [this](char c) { return ends_line(c); });
      const auto skipped = line == bytes.end() ? bytes.size() : static_cast<size_t>(line - bytes.begin()) + 1;
      bytes.remove_prefix(skipped);
      base_ += static_cast<i64>(skipped);
      if (line == bytes.end()) continue;
      is_within_ = false;
    }
    const i64 cut = segments_.cut();
    segments_.add(bytes, [&](std::string_view text) {
      tell(text, offset_ == end ? std::optional(written) : std::nullopt, visit);
    });
    counts_->cut_lines += segments_.cut() - cut;
  }
}

void LogFile::read(i64 most_bytes, const Visit& visit) {
  struct stat now{};
  if (fstat(file_.fd, &now) != 0) return;
  if (now.st_size < offset_) {
    ++counts_->cut_off;
    resume_at(0);
  }
  const i64 before = offset_;
  read_to(now.st_size, most_bytes, time_of(now.st_mtim), visit);
  is_found_late_ = false;
  if (offset_ < now.st_size && offset_ > before) return;  // where nothing more can be read it is over, too
  if (next_) {
    finish(visit);
    FoundLog next = std::move(*next_);
    next_.reset();
    ++counts_->replaced;
    found_ = std::move(next);
    if (!begin(false)) is_over_ = true;
  } else if (is_gone_) {
    finish(visit);
    is_over_ = true;
  }
}

}  // namespace spotter::collect
