// A block of the history (src/store/block_codec.h) and a description of its columns (schema.h), of any bytes.
// What can be decoded comes back the same when it is encoded and decoded again. The first byte chooses.
#include <cstdlib>

#include "store/block_codec.h"

using namespace spotter;
using namespace spotter::store;

namespace {

SharedSchema every_type() {
  static const auto schema = std::make_shared<const Schema>(
      Schema{"t",
             false,
             {{"host", Type::text, Unit::none, Role::key, Fold::last, ""},
              {"gpu", Type::integer, Unit::none, Role::key, Fold::last, ""},
              {"count", Type::integer, Unit::count, Role::counter, Fold::last, ""},
              {"level", Type::real, Unit::ratio, Role::value, Fold::mean, ""},
              {"is_up", Type::flag, Unit::none, Role::value, Fold::last, ""},
              {"state", Type::text, Unit::none, Role::detail, Fold::last, ""}}});
  return schema;
}

// Texts alone are compared by what they say: a dictionary may have words that no cell uses.
bool same(const Block& a, const Block& b) {
  const Grouping rows_a = group(a), rows_b = group(b);
  if (rows_a.begins != rows_b.begins) return false;
  for (size_t i = 0; i < rows_a.rows.size(); ++i) {
    if (a.times[rows_a.rows[i]] != b.times[rows_b.rows[i]]) return false;
    for (size_t column = 0; column < a.columns.size(); ++column) {
      const Column &x = a.columns[column], &y = b.columns[column];
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
    const Result<Schema> schema = decode_schema(bytes);
    CHECK(!schema || *decode_schema(encode(*schema)) == *schema);
    if (schema) (void)folding_of(*schema);
    return 0;
  }
  if (data[0] % 4 == 1) {
    (void)decode_block(bytes, every_type());
    return 0;
  }
  const auto wanted = [&](size_t column) { return (data[0] >> 2 & 1 << column) == 0; };
  (void)decode_plain(bytes, every_type(), wanted);
  const Result<Block> block = decode_plain(bytes, every_type());
  if (!block) return 0;
  const Result<std::string> again = encode(*block);
  if (!again) return 0;
  const Result<Block> back = decode_block(*again, every_type());
  CHECK(back && same(*block, *back));
  return 0;
}
