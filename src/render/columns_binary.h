// x-spotter-columns: tables for the page, as columns that a browser reads into typed arrays within
// milliseconds. It is made with the program and not promised to anybody else; JSON is for programs.
//
// Bytes, all little endian: "SPT1", the header's length (32 bits), the header (JSON), then the bytes of each
// column of each table, in the header's order. The header: {"tables": [{"name", "rows", "notes", "columns":
// [{"name", "type", "unit", "role", "help", "coding", ...}]}], "notes", members of the document ...}.
//
// A column with "nulls": true begins with a bit for each row, the lowest first, 1 where it is null; what
// stands there is of no meaning. Then by "coding", where a plane holds a byte of every row, the lowest bytes
// first:
//   plain       `width` planes of two's complement: what is to be added to `base` (decimal text, absent: 0)
//   delta       the same, to be added to the row before, and that of the first row to `base`
//   after       the same, to be added to where the row before ends, by its column `of`: a start behind a
//   length dictionary  `words` (texts), and `width` planes of places in it real        8 planes of IEEE
//   doubles reals       `count` doubles one after the other, then `width` planes of places among them
// Planes, since gzip makes them a quarter smaller and six times faster than numbers side by side. A flag is 0
// or 1.
#pragma once
#include <string>
#include <string_view>

#include "render/document.h"

namespace spotter::render {

inline constexpr std::string_view kColumnsType = "application/x-spotter-columns";  // of HTTP

// Not compressed yet.
std::string columns_binary(const Document& document);

}  // namespace spotter::render
