#include "store/schema.h"

#include <algorithm>

#include "store/bytes.h"

namespace spotter::store {
namespace {

// The later version is written where an earlier reader would take the table for something else.
constexpr u8 kVersion = 1, kVersionUnlikeItsColumns = 2;
// The bits of the byte behind the table's name. A table that has times is one of events, and any other is
// none: so it is in files in which nothing else could be said. The second bit says that it is the other way
// round.
constexpr u8 kFolded = 1, kUnlikeItsColumns = 2;
constexpr std::string_view kMin = "_min", kMax = "_max";

Fold fold_of(const Field& field) {
  const bool is_number = field.type == Type::integer || field.type == Type::real;
  return field.role == Role::value && is_number ? Fold::mean : Fold::last;
}

bool has_times(const Schema& schema) {
  return std::ranges::find(schema.fields, Role::time, &StoredField::role) != schema.fields.end();
}

template <class E>
E to_enum(ByteReader& in, E last, bool& is_known) {
  const u8 value = in.byte();
  is_known = is_known && value <= static_cast<u8>(last);
  return static_cast<E>(value);
}

}  // namespace

bool Schema::is_of(const Table& other) const {
  const auto same = [](const StoredField& a, const Field& b) {
    return a.name == b.name && a.type == b.type && a.unit == b.unit && a.role == b.role && a.help == b.help;
  };
  return !is_folded && is_events == other.is_events && table == other.name() &&
         std::ranges::equal(fields, other.schema(), same);
}

size_t Schema::find(std::string_view name) const {
  const auto it = std::ranges::find(fields, name, &StoredField::name);
  return static_cast<size_t>(it - fields.begin());
}

Schema schema_of(const Table& table) {
  Schema schema{table.name(), false, {}, table.is_events};
  for (const Field& field : table.schema())
    schema.fields.push_back({field.name, field.type, field.unit, field.role, fold_of(field), field.help});
  return schema;
}

std::string encode(const Schema& schema) {
  ByteWriter out;
  const bool is_unlike = schema.is_events != has_times(schema);
  out.byte(is_unlike ? kVersionUnlikeItsColumns : kVersion);
  out.text(schema.table);
  out.byte(static_cast<u8>((schema.is_folded ? kFolded : 0) | (is_unlike ? kUnlikeItsColumns : 0)));
  out.varint(schema.fields.size());
  for (const StoredField& field : schema.fields) {
    out.text(field.name);
    out.byte(static_cast<u8>(field.type));
    out.byte(static_cast<u8>(field.unit));
    out.byte(static_cast<u8>(field.role));
    out.byte(static_cast<u8>(field.fold));
    out.text(field.help);
  }
  return out.out();
}

Result<Schema> decode_schema(std::string_view bytes) {
  ByteReader in(bytes);
  const u8 version = in.byte();
  if (version != kVersion && version != kVersionUnlikeItsColumns)
    return fail(Code::unsupported, "the columns are described in another version");
  Schema schema;
  schema.table = in.text();
  const u8 bits = in.byte();
  schema.is_folded = (bits & kFolded) != 0;
  const u64 count = in.varint();
  bool is_known = count <= kMostFields;
  for (u64 i = 0; i < count && is_known && in.ok(); ++i) {
    StoredField& field = schema.fields.emplace_back();
    field.name = in.text();
    field.type = to_enum(in, Type::flag, is_known);
    // A unit of a later version is no reason to lose the numbers.
    const u8 unit = in.byte();
    field.unit = unit <= static_cast<u8>(Unit::per_s) ? static_cast<Unit>(unit) : Unit::none;
    field.role = to_enum(in, Role::detail, is_known);
    field.fold = to_enum(in, Fold::most, is_known);
    field.help = in.text();
  }
  if (!is_known || !in.ok() || !in.at_end())
    return fail(Code::corrupt, "the description of the columns is damaged");
  schema.is_events = has_times(schema) != ((bits & kUnlikeItsColumns) != 0);
  return schema;
}

Folding folding_of(const Schema& source) {
  Schema target{source.table, true, {}};
  std::vector<size_t> from;
  for (size_t i = 0; i < source.fields.size(); ++i) {
    StoredField field = source.fields[i];
    const bool is_spread = field.fold == Fold::mean && !source.is_folded;
    const Type sampled = field.type;
    if (is_spread) field.type = Type::real;
    target.fields.push_back(field);
    from.push_back(i);
    if (!is_spread) continue;
    const auto add = [&](std::string_view suffix, Fold fold, const char* words) {
      const std::string name = field.name + std::string(suffix);
      if (source.find(name) < source.fields.size()) return;
      target.fields.push_back({name, sampled, field.unit, field.role, fold, words + field.help});
      from.push_back(i);
    };
    add(kMin, Fold::least, "Least value of the step. ");
    add(kMax, Fold::most, "Greatest value of the step. ");
  }
  return {std::make_shared<const Schema>(std::move(target)), std::move(from)};
}

std::string_view metric_column(const StoredField& field) {
  std::string_view name = field.name;
  if (field.fold == Fold::least && name.ends_with(kMin)) name.remove_suffix(kMin.size());
  if (field.fold == Fold::most && name.ends_with(kMax)) name.remove_suffix(kMax.size());
  return name;
}

Field lasting_field(const StoredField& field) {
  return {lasting_text(field.name), field.type, field.unit, field.role, lasting_text(field.help)};
}

}  // namespace spotter::store
