// Names of kernels are long and mostly noise: how text output makes them fit. Machine formats keep them
// whole.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace spotter::render {

// Without what tells nothing: the return type void, the namespaces that all of PyTorch's kernels are in. Two
// names that differ only in that stay whole.
std::vector<std::string> plain_names(const std::vector<std::string>& names);

// Beginning and end within `width` cells, with an ellipsis for the middle. Texts that differ stay different
// where the width allows: those that would look the same keep the place where they differ.
std::vector<std::string> shortened(const std::vector<std::string>& texts, int width);

}  // namespace spotter::render
