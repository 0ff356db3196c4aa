// Tables as a page of their own: the output format html where no report is wanted.
#pragma once
#include "render/render.h"

namespace spotter::report {

// Not among render::all_formats(): where it is offered, it is a report unless tables are named.
extern const render::Format kHtml;

}  // namespace spotter::report
