#include "values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "core.h"
#include "failure.h"

namespace spotter::python {

namespace {

template <class Enum>
Enum known(std::optional<Enum> one, const char* what) {
  if (!one) raise({Code::invalid, fmt::format("there is no such {} of a column", what)});
  return *one;
}

}  // namespace

nb::str text_of(std::string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::str path_of(std::string_view path) {
  nb::object decoded =
      nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
  if (!decoded.is_valid()) throw nb::python_error();
  return nb::borrow<nb::str>(decoded);
}

nb::object object_of(const Value& value) {
  struct {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(i64 number) const { return nb::int_(number); }
    nb::object operator()(double number) const { return nb::float_(number); }
    nb::object operator()(bool flag) const { return nb::bool_(flag); }
    nb::object operator()(std::string_view text) const { return text_of(text); }
  } constexpr visitor;
  return std::visit(visitor, value);
}

i64 integer_in(nb::handle object, const char* what) {
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  const long long value = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  raise({Code::invalid, fmt::format("{}: a whole number of at most 64 bits is wanted", what)});
}

Value value_in(nb::handle object, const Field& column) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
  if (std::string_view text; nb::try_cast(object, text)) return text;
  const auto type = nb::cast<std::string>(object.type().attr("__name__"));
  if (type == "bool" || type == "bool_") {  // numpy's, which may be no number
    const int flag = PyObject_IsTrue(object.ptr());
    if (flag >= 0) return flag == 1;
  } else if (PyIndex_Check(object.ptr())) {
    return integer_in(object, fmt::format("column {}", column.name).c_str());
  } else if (!nb::isinstance<nb::str>(object)) {
    const double number = PyFloat_AsDouble(object.ptr());
    if (!PyErr_Occurred()) return number;
  }
  PyErr_Clear();
  raise({Code::invalid, fmt::format("column {}: a cell is no {} but of type {}", column.name,
                                    type_name(column.type), type)});
}

nb::list fields_of(std::span<const Field> fields) {
  nb::list all;
  for (const Field& field : fields)
    all.append(nb::make_tuple(field.name, type_name(field.type), unit_name(field.unit), role_name(field.role),
                              field.help));
  return all;
}

std::vector<Field> fields_in(const nb::list& fields) {
  std::vector<Field> all;
  for (const nb::handle field : fields) {
    std::string_view words[5];
    bool is_one = nb::len(field) == std::size(words);
    for (size_t i = 0; is_one && i < std::size(words); ++i) is_one = nb::try_cast(field[i], words[i]);
    if (!is_one)
      raise({Code::invalid, "a column has five texts: its name, type, unit and role, and what it means"});
    all.push_back({lasting_text(words[0]), known(type_of(words[1]), "type"), known(unit_of(words[2]), "unit"),
                   known(role_of(words[3]), "role"), lasting_text(words[4])});
  }
  return all;
}

nb::list notes_of(const Notes& notes) {
  nb::list all;
  for (const Note& note : notes.all())
    all.append(nb::make_tuple(text_of(note.kind), severity_name(note.severity), note.count, note.position,
                              text_of(note.scope), note.scopes, text_of(note.sentence),
                              text_of(to_text(note))));
  return all;
}

namespace {

Note note_in(const nb::handle& note) {
  constexpr const char* kShape =
      "a note is (kind, \"info\", \"repair\" or \"loss\", count, position, scope, scopes, sentence)";
  constexpr Severity kSeverities[] = {Severity::info, Severity::repair, Severity::loss};
  try {
    const auto severity = nb::cast<std::string>(note[1]);
    const auto known =
        std::ranges::find_if(kSeverities, [&](Severity one) { return severity == severity_name(one); });
    if (known == std::end(kSeverities)) raise({Code::invalid, kShape});
    return {.kind = nb::cast<std::string>(note[0]),
            .severity = *known,
            .count = nb::cast<i64>(note[2]),
            .position = nb::cast<i64>(note[3]),
            .scope = nb::cast<std::string>(note[4]),
            .scopes = nb::cast<i64>(note[5]),
            .sentence = nb::cast<std::string>(note[6])};
  } catch (const nb::cast_error&) {
    raise({Code::invalid, kShape});
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_LookupError) && !error.matches(PyExc_TypeError)) throw;
    raise({Code::invalid, kShape});
  }
}

}  // namespace

Notes notes_in(const nb::list& notes) {
  Notes all;
  for (const nb::handle note : notes) all.add(note_in(note));
  return all;
}

}  // namespace spotter::python
