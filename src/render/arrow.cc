#include "render/arrow.h"

#include <cstring>
#include <utility>

namespace spotter::render {
namespace {

// What a schema or an array of one level points to.
template <class Struct>
struct Level {
  SharedArrowTable table;
  std::string metadata = {};
  std::vector<const void*> buffers = {};
  std::vector<Struct> children = {};
  std::vector<Struct*> places = {};  // of the children
  Struct dictionary = {};
};

// Children and dictionaries that were moved out have no `release` any more.
template <class Struct>
void release(Struct* released) {
  const auto* level = static_cast<Level<Struct>*>(released->private_data);
  for (Struct* child : level->places) {
    if (child->release) child->release(child);
  }
  if (released->dictionary && released->dictionary->release)
    released->dictionary->release(released->dictionary);
  released->release = nullptr;
  delete level;
}

// `made` with what `level` has, which it owns from now on.
template <class Struct>
Struct owning(Struct made, Level<Struct>* level) {
  for (Struct& child : level->children) level->places.push_back(&child);
  made.n_children = static_cast<i64>(level->places.size());
  made.children = level->places.data();
  made.dictionary = level->dictionary.release ? &level->dictionary : nullptr;
  made.release = release<Struct>;
  made.private_data = level;
  return made;
}

// A count, then keys and values with their lengths before them, as integers of 32 bits.
std::string encoded(const ArrowMetadata& metadata) {
  std::string out;
  const auto put = [&](size_t number) {
    const auto short_number = static_cast<i32>(number);
    char bytes[sizeof short_number];
    std::memcpy(bytes, &short_number, sizeof bytes);
    out.append(bytes, sizeof bytes);
  };
  put(metadata.size());
  for (const auto& [key, value] : metadata) {
    put(key.size());
    out += key;
    put(value.size());
    out += value;
  }
  return out;
}

ArrowSchema schema_of(const char* format, const char* name, i64 flags, Level<ArrowSchema>* level) {
  ArrowSchema made = {};
  made.format = format;
  made.name = name;
  made.metadata = level->metadata.empty() ? nullptr : level->metadata.data();
  made.flags = flags;
  return owning(made, level);
}

const char* format_of(Type type) {
  switch (type) {
    case Type::integer:
      return "l";
    case Type::real:
      return "g";
    case Type::flag:
      return "b";
    case Type::text:
      return "i";
  }
  return "n";
}

ArrowSchema column_schema(const SharedArrowTable& table, const ArrowColumn& column) {
  auto* level = new Level<ArrowSchema>{table, encoded(column.metadata)};
  if (column.type == Type::text)
    level->dictionary = schema_of(column.has_long_offsets ? "U" : "u", "", ARROW_FLAG_NULLABLE,
                                  new Level<ArrowSchema>{table});
  return schema_of(format_of(column.type), column.name.c_str(), ARROW_FLAG_NULLABLE, level);
}

ArrowArray array_of(i64 length, i64 nulls, Level<ArrowArray>* level) {
  ArrowArray made = {};
  made.length = length;
  made.null_count = nulls;
  made.n_buffers = static_cast<i64>(level->buffers.size());
  made.buffers = level->buffers.data();
  return owning(made, level);
}

ArrowArray column_array(const SharedArrowTable& table, const ArrowColumn& column) {
  auto* level = new Level<ArrowArray>{table};
  level->buffers = {column.nulls > 0 ? column.valid.data() : nullptr, column.values.data()};
  if (column.type == Type::text) {
    auto* words = new Level<ArrowArray>{table};
    words->buffers = {nullptr, column.offsets.data(), column.text.data()};
    level->dictionary = array_of(column.words, 0, words);
  }
  return array_of(table->rows, column.nulls, level);
}

ArrowArray rows_of(const SharedArrowTable& table) {
  auto* level = new Level<ArrowArray>{table};
  level->buffers = {nullptr};
  for (const ArrowColumn& column : table->columns) level->children.push_back(column_array(table, column));
  return array_of(table->rows, 0, level);
}

struct Stream {
  SharedArrowTable table;
  bool is_read = false;
};

Stream& state_of(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  *out = arrow_schema(state_of(stream).table);
  return 0;
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  Stream& state = state_of(stream);
  *out = std::exchange(state.is_read, true) ? ArrowArray{} : rows_of(state.table);
  return 0;
}

const char* get_last_error(ArrowArrayStream*) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete &state_of(stream);
  stream->release = nullptr;
}

}  // namespace

ArrowSchema arrow_schema(const SharedArrowTable& table) {
  auto* level = new Level<ArrowSchema>{table, encoded(table->metadata)};
  for (const ArrowColumn& column : table->columns) level->children.push_back(column_schema(table, column));
  return schema_of("+s", "", 0, level);
}

ArrowArrayStream arrow_stream(SharedArrowTable table) {
  return {get_schema, get_next, get_last_error, release_stream, new Stream{std::move(table)}};
}

}  // namespace spotter::render
