#include "analyze/replay/usual_links.h"

namespace spotter::analyze {
namespace {

// Under their data sheets' figures, which no collective reaches, with one network card for each device. Of
// whole devices that are joined by links of their own.
constexpr UsualLink kUsual[] = {{"B200", 600, 40},  {"H100", 300, 40}, {"H200", 300, 40},
                                {"MI300", 250, 40}, {"A100", 200, 20}, {"V100", 100, 10}};

}  // namespace

std::optional<UsualLink> usual_link(const RankProgram& rank) {
  for (const SkeletonRow& row : rank.rows()) {
    if (row.op != SkeletonOp::end) continue;
    const std::string_view device = rank.skeleton.strings[row.name];
    const auto is_named = [&](std::string_view word) {
      const size_t at = device.find(word), end = at + word.size();
      const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
      return at != device.npos && (end == device.size() || !is_digit(device[end]));
    };
    if (is_named("PCI") || is_named("MIG")) return {};
    for (const UsualLink& usual : kUsual)
      if (is_named(usual.device)) return usual;
  }
  return {};
}

}  // namespace spotter::analyze
