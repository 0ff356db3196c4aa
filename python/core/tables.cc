// Table for Python: cells as objects, columns as Arrow's capsules and as plain memory, and text.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <set>
#include <string_view>

#include "core.h"
#include "failure.h"
#include "held_table.h"
#include "render/arrow.h"
#include "render/list.h"
#include "render/render.h"
#include "unlocked.h"
#include "values.h"

namespace spotter::python {

namespace {

// A capsule that owns an Arrow struct (Arrow PyCapsule interface): ended with it, unless who took the capsule
// has moved the struct out.
template <class Struct>
nb::object capsule_of(Struct made, const char* name) {
  const auto end = [](PyObject* capsule) {
    auto* held = static_cast<Struct*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (held->release) held->release(held);
    delete held;
  };
  auto held = std::make_unique<Struct>(made);
  nb::object capsule = nb::steal(PyCapsule_New(held.get(), name, end));
  if (!capsule.is_valid()) {
    held->release(held.get());
    throw nb::python_error();
  }
  held.release();
  return capsule;
}

const render::ArrowColumn& column_at(const HeldTable& held, size_t column) {
  if (column >= held.table().columns()) throw nb::index_error("there is no such column");
  return held.columns()->columns[column];
}

// Memory of the table, which may be read as long as anybody looks at it.
template <class Element>
nb::object memory(const HeldTable& held, const render::ArrowBuffer& buffer) {
  auto owner = std::make_unique<render::SharedArrowTable>(held.columns());
  nb::capsule keeper(owner.get(),
                     [](void* shared) noexcept { delete static_cast<render::SharedArrowTable*>(shared); });
  owner.release();
  const auto* data = reinterpret_cast<const Element*>(buffer.data());
  return nb::cast(
      nb::ndarray<nb::memview, const Element, nb::ndim<1>>(data, {buffer.size() / sizeof(Element)}, keeper));
}

// Of a column: its numbers (of a text the places of its words; of flags bits), and the bits of the cells that
// are there, or None where all are.
nb::tuple column_memory(const HeldTable& held, size_t column) {
  const render::ArrowColumn& c = column_at(held, column);
  const nb::object valid = c.nulls > 0 ? memory<u8>(held, c.valid) : nb::none();
  switch (c.type) {
    case Type::integer:
      return nb::make_tuple(memory<i64>(held, c.values), valid);
    case Type::real:
      return nb::make_tuple(memory<double>(held, c.values), valid);
    case Type::text:
      return nb::make_tuple(memory<i32>(held, c.values), valid);
    case Type::flag:
      break;
  }
  return nb::make_tuple(memory<u8>(held, c.values), valid);
}

nb::list words_of(const HeldTable& held, size_t column) {
  const render::ArrowColumn& c = column_at(held, column);
  const auto offset = [&](i64 word) {
    const auto at = static_cast<size_t>(word);
    return c.has_long_offsets ? reinterpret_cast<const i64*>(c.offsets.data())[at]
                              : i64{reinterpret_cast<const i32*>(c.offsets.data())[at]};
  };
  nb::list words;
  for (i64 word = 0; word < c.words; ++word) {
    const auto* text = reinterpret_cast<const char*>(c.text.data());
    words.append(text_of({text + offset(word), static_cast<size_t>(offset(word + 1) - offset(word))}));
  }
  return words;
}

nb::list column_cells(const HeldTable& held, size_t column) {
  if (column >= held.table().columns()) throw nb::index_error("there is no such column");
  nb::list cells;
  for (size_t row = 0; row < held.table().rows(); ++row)
    cells.append(object_of(held.table().at(row, column)));
  return cells;
}

nb::list rows_of(const HeldTable& held, size_t first, size_t count) {
  const Table& table = held.table();
  const size_t last = std::min(table.rows(), first + std::min(count, table.rows()));
  nb::list rows;
  for (size_t row = first; row < last; ++row) {
    nb::list cells;
    for (size_t column = 0; column < table.columns(); ++column)
      cells.append(object_of(table.at(row, column)));
    rows.append(nb::tuple(cells));
  }
  return rows;
}

render::TextStyle style_of(const HeldTable& held, int width, bool color) {
  return {.width = width, .color = color, .time_zero = held.time_zero()};
}

// The first rows as a person reads them.
nb::list shown_rows(const HeldTable& held, size_t count) {
  const Table& table = held.table();
  nb::list rows;
  for (size_t row = 0; row < std::min(count, table.rows()); ++row) {
    nb::list cells;
    for (size_t column = 0; column < table.columns(); ++column) {
      const Field& field = table.schema()[column];
      const Value value = render::shown_time(table.at(row, column), field, style_of(held, 0, false));
      cells.append(text_of(render::human(value, field.unit, field.role)));
    }
    rows.append(nb::tuple(cells));
  }
  return rows;
}

std::string rendered(const HeldTable& held, const std::string& format, int width, bool color) {
  const render::Format* found = render::find_format(format);
  if (!found || found->is_binary)
    raise({Code::invalid, fmt::format("there is no text format \"{}\"", format)});
  const Table& table = held.table();
  value_of(render::check_takes(*found, std::span(&table, 1), {}));
  const render::TextStyle style = style_of(held, width, color);
  const Unlocked unlocked;
  return render::render(*found, {std::span(&table, 1), {}}, style);
}

nb::bytes arrow_file(const HeldTable& held) {
  const Table& table = held.table();
  const std::string bytes = [&] {
    const Unlocked unlocked;
    return render::render(*render::find_format("arrow"), {std::span(&table, 1), {}});
  }();
  return nb::bytes(bytes.data(), bytes.size());
}

void check_names(std::span<const Field> fields) {
  std::set<std::string_view> seen;
  for (const Field& field : fields)
    if (!seen.insert(field.name).second)
      raise({Code::invalid, fmt::format("two columns are called {}", field.name)});
}

HeldTable made(const std::string& name, const nb::list& fields, const nb::list& rows, const nb::list& notes,
               std::optional<Ns> time_zero) {
  Table table(name, fields_in(fields));
  const std::span<const Field> schema = table.schema();
  check_names(schema);
  std::vector<Value> cells(schema.size());
  for (const nb::handle row : rows) {
    if (nb::len(row) != schema.size())
      raise({Code::invalid, "a row has another number of cells than columns"});
    for (size_t c = 0; c < schema.size(); ++c) {
      cells[c] = value_in(row[c], schema[c]);
      const Type type = schema[c].type;
      const bool fits =
          is_null(cells[c]) || (type == Type::integer && std::holds_alternative<i64>(cells[c])) ||
          (type == Type::real &&
           (std::holds_alternative<double>(cells[c]) || std::holds_alternative<i64>(cells[c]))) ||
          (type == Type::text && std::holds_alternative<std::string_view>(cells[c])) ||
          (type == Type::flag && std::holds_alternative<bool>(cells[c]));
      if (!fits)
        raise({Code::invalid, fmt::format("column {}: a cell is no {}", schema[c].name, type_name(type))});
    }
    table.append(cells);
  }
  table.notes = notes_in(notes);
  return HeldTable(std::move(table), time_zero);
}

}  // namespace

void bind_tables(nb::module_& module) {
  nb::class_<HeldTable>(module, "Table")
      .def(
          "__init__",
          [](HeldTable* self, const std::string& name, const nb::list& fields, const nb::list& rows,
             const nb::list& notes, std::optional<Ns> time_zero) {
            new (self) HeldTable(made(name, fields, rows, notes, time_zero));
          },
          nb::arg("name"), nb::arg("fields"), nb::arg("rows"), nb::arg("notes"), nb::arg("time_zero").none())
      .def_prop_ro("name", [](const HeldTable& held) { return held.table().name(); })
      .def_prop_ro("length", [](const HeldTable& held) { return held.table().rows(); })
      .def_prop_ro("time_zero", &HeldTable::time_zero)
      .def_prop_ro("fields", [](const HeldTable& held) { return fields_of(held.table().schema()); })
      .def_prop_ro("notes", [](const HeldTable& held) { return notes_of(held.table().notes); })
      .def("rows", rows_of, nb::arg("first"), nb::arg("count"))
      .def("column", column_cells, nb::arg("column"))
      .def("memory", column_memory, nb::arg("column"))
      .def("words", words_of, nb::arg("column"))
      .def("shown", shown_rows, nb::arg("count"))
      .def("rendered", rendered, nb::arg("format"), nb::arg("width"), nb::arg("color"))
      .def("arrow_file", arrow_file)
      .def("arrow_stream",
           [](const HeldTable& held) {
             return capsule_of(render::arrow_stream(held.columns()), "arrow_array_stream");
           })
      .def("arrow_schema", [](const HeldTable& held) {
        return capsule_of(render::arrow_schema(held.columns()), "arrow_schema");
      });
}

}  // namespace spotter::python
