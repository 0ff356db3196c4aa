#include "agent/captures/capture_note.h"

namespace spotter::agent {

store::CaptureNote note_of(const capture::Capture& capture) {
  store::CaptureNote note;
  note.id = capture.id;
  note.began_unix_ns = capture.accepted.unix_ms * 1'000'000;
  note.asked_by = capture.asked_by;
  note.job = capture.job;
  note.processes = static_cast<i64>(capture.receipts.size());
  note.output = capture.output();
  note.state = capture.over() ? capture.state() : store::kCaptureRuns;
  return note;
}

}  // namespace spotter::agent
