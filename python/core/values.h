// Values, fields and notes as Python has them: None, numbers, text and tuples.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>
#include <vector>

#include "analyze/run.h"
#include "base/notes.h"
#include "table/table.h"

namespace spotter::python {

nanobind::str text_of(std::string_view text);  // what is no UTF-8 is replaced
nanobind::str path_of(std::string_view path);  // as os.fsdecode() has it, so that it can be opened again
nanobind::object object_of(const Value& value);
// A cell of that column; its text lives as long as the object. Numbers of numpy are numbers. Raises Invalid:
// the object is nothing that cells are.
Value value_in(nanobind::handle object, const Field& column);
// Raises Invalid: it has no 64 bits, or is no whole number.
i64 integer_in(nanobind::handle object, const char* what);

// (name, type, unit, role, help) of each.
nanobind::list fields_of(std::span<const Field> fields);
std::vector<Field> fields_in(const nanobind::list& fields);

// (kind, severity, count, position, scope, scopes, sentence, the note as a person reads it) of each.
nanobind::list notes_of(const Notes& notes);
Notes notes_in(const nanobind::list& notes);

}  // namespace spotter::python
