// A report inside a page of others: the output of a notebook's cell.
#pragma once
#include <string>

#include "diagnose/run.h"

namespace spotter::report {

// One element that brings its own style: its rules are for this element alone, and those of the page around
// do not reach into it. Text and lines have the colours of the page. `diagnosis` has findings; `names`: how
// many kernels and operators are listed, within what a notebook takes.
std::string notebook_html(const diagnose::Diagnosis& diagnosis, size_t names);

}  // namespace spotter::report
