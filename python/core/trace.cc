// One trace as it was read: its events as a table, and what its file says of itself.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "beat.h"
#include "core.h"
#include "held_table.h"
#include "job.h"
#include "read/open.h"
#include "unlocked.h"
#include "values.h"

namespace spotter::python {

namespace {

struct HeldTrace {
  std::shared_ptr<const Trace> trace;
};

constexpr Field kEventColumns[] = {
    {"event", Type::integer, Unit::none, Role::key, "Its place in the file's list of events."},
    {"phase", Type::text, Unit::none, Role::detail,
     "X: a span, i: an instant, s and f: ends of an arrow, M: metadata ..."},
    {"category", Type::text, Unit::none, Role::key,
     "As written: cpu_op, kernel, cuda_runtime ...; null where it has none."},
    {"name", Type::text, Unit::none, Role::key, "Of an operator, a kernel, a call."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "When it begins, Unix time where the trace knows it."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "How long it lasts; null of what is no span."},
    {"pid", Type::text, Unit::none, Role::key, "Process, as written; of device work the device."},
    {"tid", Type::text, Unit::none, Role::key, "Thread, as written; of device work the stream."},
};

HeldTrace load(const HeldJob& held, size_t file, int threads, nb::callable tell) {
  const TraceFile& wanted = held.job.files.at(file);
  Beat beat(std::move(tell));
  std::atomic<i64> done = 0;
  LoadRequest request;
  request.threads = threads;
  request.cancelled = beat.cancelled();
  request.on_bytes = [&, on_progress = beat.on_progress()](i64 bytes) {
    on_progress(done += bytes, wanted.bytes);
  };
  return {beat.run<TracePtr>([&] { return read::load(wanted, request); })};
}

// Of each event the item of this argument, or null.
std::vector<const Shape::Item*> items_of(const Trace& trace, const std::string& name) {
  std::unordered_map<const Shape*, const Shape::Item*> of_shape;
  std::vector<const Shape::Item*> items(trace.size());
  for (EventId e = 0; e < trace.size(); ++e) {
    const Shape& shape = trace.shape_of(e);
    const auto [known, is_new] = of_shape.try_emplace(&shape, nullptr);
    if (is_new) {
      const auto it = std::ranges::find_if(
          shape.items, [&](const Shape::Item& item) { return trace.arg_name(item.arg) == name; });
      if (it != shape.items.end()) known->second = &*it;
    }
    items[e] = known->second;
  }
  return items;
}

// A column's type is the one that holds all of its values.
Type type_of_all(const std::vector<const Shape::Item*>& items) {
  bool are_integers = true, are_numbers = true, are_flags = true;
  for (const Shape::Item* item : items) {
    if (!item || item->type == ArgType::null) continue;
    const bool is_integer = item->type == ArgType::int32 || item->type == ArgType::int64;
    are_integers &= is_integer;
    are_numbers &= is_integer || item->type == ArgType::real;
    are_flags &= item->type == ArgType::yes || item->type == ArgType::no;
  }
  return are_integers ? Type::integer : are_numbers ? Type::real : are_flags ? Type::flag : Type::text;
}

Value value_of_arg(Type type, const Shape::Item& item, const std::string& text) {
  if (item.type == ArgType::null) return {};
  switch (type) {
    case Type::integer:
      return i64{std::strtoll(text.c_str(), nullptr, 10)};
    case Type::real:
      return std::strtod(text.c_str(), nullptr);
    case Type::flag:
      return item.type == ArgType::yes;
    case Type::text:
      break;
  }
  return std::string_view(text);
}

Value id_of(const Trace& trace, StringId text, i64 number, std::string& room) {
  if (text != 0) return trace.strings()[text];
  room = fmt::format("{}", number);
  return std::string_view(room);
}

// That of the argument, and where a column is called so already, args.NAME.
std::string column_name(const std::string& arg, std::span<const Field> fields) {
  std::string name = arg;
  const auto is_it = [&](const Field& field) { return field.name == name; };
  while (std::ranges::any_of(fields, is_it)) name.insert(0, "args.");
  return name;
}

Table events_of(const Trace& trace, const std::vector<std::string>& args) {
  std::vector<Field> fields(std::begin(kEventColumns), std::end(kEventColumns));
  std::vector<std::vector<const Shape::Item*>> items;
  for (const std::string& arg : args) {
    items.push_back(items_of(trace, arg));
    fields.push_back({lasting_text(column_name(arg, fields)), type_of_all(items.back()), Unit::none,
                      Role::value, "Argument of the event."});
  }
  const size_t own = std::size(kEventColumns);
  Table table("events", std::move(fields));
  std::vector<Value> row(table.columns());
  std::vector<std::string> texts(args.size());
  std::string pid, tid;
  for (EventId e = 0; e < trace.size(); ++e) {
    const Kind& kind = trace.kind_of(e);
    const Track& track = trace.tracks()[trace.track[e]];
    row[0] = i64{e};
    row[1] = std::string_view(&kind.phase, 1);
    row[2] = or_null(trace.strings()[kind.category_text]);
    row[3] = trace.name_of(e);
    row[4] = trace.info().base_ns + trace.ts[e];
    row[5] = kind.is_span ? Value(trace.dur[e]) : Value();
    row[6] = id_of(trace, track.pid_text, track.pid, pid);
    row[7] = id_of(trace, track.tid_text, track.tid, tid);
    for (size_t a = 0; a < args.size(); ++a) {
      const Shape::Item* item = items[a][e];
      if (item) texts[a] = trace.arg_text(e, *item);
      row[own + a] = item ? value_of_arg(table.schema()[own + a].type, *item, texts[a]) : Value();
    }
    table.append(row);
  }
  table.notes = trace.notes();
  return table;
}

// In the order in which events first have them.
std::vector<const Shape*> shapes_of(const Trace& trace) {
  std::vector<const Shape*> shapes;
  std::unordered_set<const Shape*> seen;
  for (EventId e = 0; e < trace.size(); ++e)
    if (const Shape* shape = &trace.shape_of(e); seen.insert(shape).second) shapes.push_back(shape);
  return shapes;
}

nb::list arg_names(const Trace& trace, std::optional<ArgType> type) {
  std::vector<std::string_view> names;
  for (const Shape* shape : shapes_of(trace))
    for (const Shape::Item& item : shape->items) {
      const std::string_view name = trace.arg_name(item.arg);
      if ((!type || item.type == *type) && std::ranges::find(names, name) == names.end())
        names.push_back(name);
    }
  nb::list all;
  for (const std::string_view name : names) all.append(text_of(name));
  return all;
}

// (path, rank, world size, host, backend, base_ns, [(key, JSON)]).
nb::tuple info_of(const Trace& trace) {
  const TraceInfo& info = trace.info();
  nb::list metadata;
  for (const auto& [key, json] : info.metadata) metadata.append(nb::make_tuple(text_of(key), text_of(json)));
  return nb::make_tuple(path_of(info.path), object_of(or_null(info.rank)),
                        object_of(or_null(info.world_size)), text_of(info.host_name), text_of(info.backend),
                        info.base_ns, metadata);
}

}  // namespace

void bind_trace(nb::module_& module) {
  nb::class_<HeldTrace>(module, "Trace")
      .def_prop_ro("length", [](const HeldTrace& held) { return held.trace->size(); })
      .def_prop_ro("info", [](const HeldTrace& held) { return info_of(*held.trace); })
      .def_prop_ro("args", [](const HeldTrace& held) { return arg_names(*held.trace, {}); })
      // Those that in some event are an array or an object: what stands in the table is their JSON.
      .def_prop_ro("json_args", [](const HeldTrace& held) { return arg_names(*held.trace, ArgType::json); })
      .def_prop_ro("notes", [](const HeldTrace& held) { return notes_of(held.trace->notes()); })
      .def(
          "events",
          [](const HeldTrace& held, const std::vector<std::string>& args) {
            const Unlocked unlocked;
            return HeldTable(events_of(*held.trace, args), held.trace->info().base_ns);
          },
          nb::arg("args"));
  module.def("load", load, nb::arg("job"), nb::arg("file"), nb::arg("threads"), nb::arg("tell"));
}

}  // namespace spotter::python
