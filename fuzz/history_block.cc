// A block of the history (src/store/series/block_codec.h) and a description of its columns (schema.h), of any
// bytes. What can be decoded comes back the same when it is encoded and decoded again. The first byte
// chooses.
#include <cstdlib>

#include "store/series/block_codec.h"

using namespace spotter;
using namespace spotter::store;

namespace {

store::SharedSchema every_type() {
  static const auto schema = std::make_shared<const store::Schema>(
      store::Schema{"t",
                    false,
                    {{"host", Type::text, Unit::none, Role::key, store::Fold::last, ""},
                     {"gpu", Type::integer, Unit::none, Role::key, store::Fold::last, ""},
                     {"count", Type::integer, Unit::count, Role::counter, store::Fold::last, ""},
                     {"level", Type::real, Unit::ratio, Role::value, store::Fold::mean, ""},
                     {"is_up", Type::flag, Unit::none, Role::value, store::Fold::last, ""},
                     {"state", Type::text, Unit::none, Role::detail, store::Fold::last, ""}}});
  return schema;
}

// Texts alone are compared by what they say: a dictionary may have words that no cell uses.
bool same(const store::Block& a, const store::Block& b) {
  const store::Grouping rows_a = store::group(a), rows_b = store::group(b);
  if (rows_a.begins != rows_b.begins) return false;
  for (size_t i = 0; i < rows_a.rows.size(); ++i) {
    if (a.times[rows_a.rows[i]] != b.times[rows_b.rows[i]]) return false;
    for (size_t column = 0; column < a.columns.size(); ++column) {
      const store::Column &x = a.columns[column], &y = b.columns[column];
      if (x.valid[rows_a.rows[i]] != y.valid[rows_b.rows[i]]) return false;
      const bool is_text = a.schema->fields[column].type == Type::text;
      if (is_text ? a.at(rows_a.rows[i], column) != b.at(rows_b.rows[i], column)
                  : x.cells[rows_a.rows[i]] != y.cells[rows_b.rows[i]])
        return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 4 == 0) {
    const Result<store::Schema> schema = store::decode_schema(bytes);
    CHECK(!schema || *store::decode_schema(store::encode(*schema)) == *schema);
    if (schema) (void)store::folding_of(*schema);
    return 0;
  }
  if (data[0] % 4 == 1) {
    (void)store::decode_block(bytes, every_type());
    return 0;
  }
  const auto wanted = [&](size_t column) { return (data[0] >> 2 & 1 << column) == 0; };
  (void)store::decode_plain(bytes, every_type(), wanted);
  const Result<store::Block> block = store::decode_plain(bytes, every_type());
  if (!block) return 0;
  const Result<std::string> again = store::encode(*block);
  if (!again) return 0;
  const Result<store::Block> back = store::decode_block(*again, every_type());
  CHECK(back && same(*block, *back));
  return 0;
}
