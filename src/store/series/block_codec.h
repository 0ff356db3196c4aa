// A block as bytes: column by column, each entity's values together (series_codec.h), texts by a dictionary,
// all of it one zstd frame with a checksum. Decoding trusts nothing that the bytes say.
#pragma once
#include <functional>

#include "store/series/block.h"

namespace spotter::store {

// What a block may hold; whoever builds one ends it before. A value is at most eight bytes, decoded.
inline constexpr size_t kMostBlockCells = size_t{1} << 20;
inline constexpr size_t kMostBlockTexts = size_t{8} << 20;  // bytes of the dictionary

// Errors: invalid, where it holds more than that.
Result<std::string> encode(const Block& block);

// `wanted` says which columns to decode, by position; keys always are. Errors: corrupt; unsupported, of a
// later version.
Result<Block> decode_block(std::string_view bytes, SharedSchema schema,
                           const std::function<bool(size_t)>& wanted = {});
// The same of what is in the zstd frame.
Result<Block> decode_plain(std::string_view bytes, SharedSchema schema,
                           const std::function<bool(size_t)>& wanted = {});

}  // namespace spotter::store
