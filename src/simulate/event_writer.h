// EventWriter: an Observer that writes what it sees as Kineto's events, and tallies it.
#pragma once
#include "simulate/event_text.h"
#include "simulate/tally.h"
#include "simulate/text.h"
#include "simulate/trace_file.h"

namespace spotter::simulate {

class EventWriter final : public Observer {
 public:
  EventWriter(const Job& job, const RankPlace& place, TraceFile* file, Ns stop);  // no file: it only counts

  void enter_step(i64 step, Ns at) override;
  void enter(const Instruction& i, u32 thread, Ns at) override;
  void leave(Ns at) override;
  void call(const CallEvent& event) override;
  void device(const DeviceEvent& event) override;
  void synchronize(const SyncEvent& event) override;
  void load_module(Ns start, Ns end) override;
  void memory(u32 allocation, u32 thread, Ns at) override;
  void end_step(Ns at) override;

  void write(std::string_view text) { text_ << text; }
  void finish(Ns at);  // ends what is open, as unfinished
  RankNumbers take_numbers();

 private:
  struct Range {
    Ns start = 0, end = 0;
  };
  struct OpenSpan {
    const Span* span = nullptr;  // null: a step
    u32 number = 0;              // of the span, or of the step
    u32 thread = 0;
    Ns start = 0;
    i64 id = 0;      // External id, or Python id
    i64 parent = 0;  // Python id
    i64 node = 0;    // Sequence number; 0: none
    std::array<Range, kStreams> device = {};
  };

  bool is_known(Cat cat) const { return era_.cat[static_cast<size_t>(cat)] != nullptr; }  // to the era
  void close(Ns at, bool finished);
  void write_span(const OpenSpan& open, std::string_view head, Ns at, bool finished);
  void write_device_annotations(const OpenSpan& open, std::string_view name);
  void write_autograd_flow(const OpenSpan& open);
  void write_flow(const char* phase, i64 id, const char* cat, const char* name, i64 pid, std::string_view tid,
                  Ns at);
  void extend_annotations(const DeviceEvent& event);
  void write_copy_args(const DeviceWork& work, Ns ns);
  void write_collective_args(const DeviceEvent& event);
  i64 reserved() const;     // memory, in all
  i64 operator_id() const;  // of the innermost operator or annotation
  void time(Ns at);
  void times(Ns start, Ns end);
  void event_index();
  void end_event(std::string_view end = "\n    }\n  },\n");

  const Job& job_;
  const Program& program_;
  const Era& era_;
  const RankPlace& place_;
  EventText parts_;
  TraceFile* file_;
  Ns stop_;
  Text text_;
  Tally tally_;
  std::vector<OpenSpan> open_;
  std::vector<std::string> span_heads_, span_args_, device_heads_, device_tails_, call_heads_, call_args_;
  std::vector<std::string> collective_args_;
  std::array<std::string, 2> tids_;
  std::array<std::string, kStreams> tracks_;
  i64 events_ = 0, ids_ = 0, python_ids_ = 0, indices_ = 0, last_sequence_ = 0, step_ = 0;
};

}  // namespace spotter::simulate
