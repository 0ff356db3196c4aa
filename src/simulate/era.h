// Eras: how the writers of Kineto's traces spelled one and the same thing over the years. era.cc holds the
// one table (source: libkineto's and PyTorch's releases).
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "base/types.h"

namespace spotter::simulate {

enum class Cat : u8 {
  cpu_op,
  user_annotation,
  python_function,
  runtime,
  kernel,
  memcpy,
  gpu_user_annotation,
  sync,
  memory,
  driver,
  overhead,
  count_
};
inline constexpr size_t kCats = static_cast<size_t>(Cat::count_);

enum class TimeBase : u8 { epoch, after_events, before_events };
enum class CollectiveArgs : u8 { none, basic, named, numbered };  // see event_text.cc
enum class DeviceLink : u8 { own_correlation, op };               // what "External id" of device work is

struct Era {
  const char* name;
  const char* releases;
  std::array<const char*, kCats> cat;  // null: events of this category are not written
  const char* launch_cat;              // flows from a launch to its device work
  const char* launch_name;
  const char* fwdbwd_cat;  // null: not written
  const char* fwdbwd_name;
  const char* external_id;  // key on device work and host calls
  const char* event_index;  // key; null: not written
  DeviceLink device_link;
  CollectiveArgs collective_args;
  TimeBase base;
  bool whole_us;             // integers, microseconds
  bool stream_words;         // "tid": "stream 7"
  bool has_record_function;  // "Record function id"
  bool has_totals;           // of allocated and reserved memory
  bool has_distributed_info;
  bool has_groups;  // in distributedInfo
  bool has_facts;   // host_name, versions, trace_id
  bool has_graph_ids;
  i64 sync_row;           // the row of a stream's synchronisations is that of the stream plus this
  const char* nccl_args;  // how names of NCCL's kernels end
};

std::span<const Era> eras();  // the newest first

}  // namespace spotter::simulate
