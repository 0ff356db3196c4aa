#include "export/rewrite.h"

#include <algorithm>

#include "export/times.h"
#include "read/json.h"
#include "read/strict_json.h"

namespace spotter::export_ {

std::string_view Rewriter::rewrite(EventId e, std::string_view text) {
  const auto& moved = placement_.new_tids;
  const bool is_moved = next_moved_ < moved.size() && moved[next_moved_].first == e;
  if (is_moved) ++next_moved_;
  if (!placement_.keeps(e)) return {};

  read::json::EventMembers members;
  if (!read::json::find_members(text, members)) {
    mended_ = read::json::to_strict(text);
    text = mended_;
    const bool good = read::json::find_members(text, members);
    ++(good ? written_anew_ : left_out_);
    if (!good) return {};
  }

  replacements_.clear();
  if (is_moved)
    replacements_.push_back({members.tid, "tid", fmt::format("{}", moved[next_moved_ - 1].second)});
  if (processes_)
    replacements_.push_back({members.pid, "pid", fmt::format("{}", processes_->of(members.pid))});
  if (flows_ && !members.id.empty())
    replacements_.push_back({members.id, "id", fmt::format("{}", flows_->of(members.id))});
  if (shift_ != 0 && !members.ts.empty()) {
    bool inexact = false;  // the reader says so
    const std::optional<Ns> ts = read::json::microseconds_to_ns(read::json::text_of(members.ts), inexact);
    if (ts && *ts >= -kMaxTime && *ts <= kMaxTime)
      replacements_.push_back({members.ts, "ts", microseconds(*ts + shift_)});
    else
      ++unshifted_;
  }
  return replacements_.empty() ? text : splice(text);
}

std::string_view Rewriter::splice(std::string_view text) {
  spliced_.clear();
  spliced_ += text.front();
  const char* done = text.data() + 1;
  const char* const end = text.data() + text.size();
  const bool has_members = read::json::skip_space(done, end) + 1 != end;
  // Missing members first, then the others where they stand.
  std::sort(replacements_.begin(), replacements_.end(), [](const Replacement& a, const Replacement& b) {
    return a.old.empty() != b.old.empty() ? a.old.empty() : a.old.data() < b.old.data();
  });
  for (size_t i = 0; i < replacements_.size(); ++i) {
    const Replacement& r = replacements_[i];
    if (r.old.empty()) {
      const bool more = has_members || i + 1 < replacements_.size();
      fmt::format_to(std::back_inserter(spliced_), "\"{}\": {}{}", r.key, r.value, more ? ", " : "");
    } else {
      spliced_.append(done, r.old.data());
      spliced_ += r.value;
      done = r.old.data() + r.old.size();
    }
  }
  spliced_.append(done, end);
  return spliced_;
}

void Rewriter::add_notes(Notes& notes) const {
  if (written_anew_)
    notes.add("written_anew", Severity::repair,
              "events were no strict JSON, which viewers want; they were written anew", -1, written_anew_);
  if (left_out_)
    notes.add("event_left_out", Severity::loss, "events could not be written as JSON and were left out", -1,
              left_out_);
  if (unshifted_)
    notes.add("unshifted_time", Severity::loss,
              "events have a time that is no number; it could not be brought to the common clock", -1,
              unshifted_);
}

}  // namespace spotter::export_
