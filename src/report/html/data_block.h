// Data of a page: tables as render::columns_binary() writes them, gzipped, as base64 in a script element that
// no browser runs. No character of base64 can end it.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "render/document.h"

namespace spotter::report {

// `id`: "job", "tables", "tables/NAME" or "spans/RANK".
Result<std::string> data_block(std::string_view id, const render::Document& document);

}  // namespace spotter::report
