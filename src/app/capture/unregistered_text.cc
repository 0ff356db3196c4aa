#include "app/capture/unregistered_text.h"

#include <fmt/format.h>

#include <set>

#include "kineto/unregistered.h"
#include "render/render.h"

namespace spotter::app {
namespace {

constexpr size_t kMost = 10;
constexpr int kCommandCells = 60;

}  // namespace

std::string unregistered_text(const Table& processes) {
  std::set<i64> registered;
  for (size_t row = 0; row < processes.rows(); row++)
    registered.insert(processes.integer(row, processes.column("pid")));
  const auto found = kineto::find_unregistered(Host{}, [&](i64 pid) { return registered.contains(pid); });
  std::string text;
  for (size_t i = 0; i < std::min(found.size(), kMost); i++)
    text += fmt::format("Process {} ({}) runs PyTorch, but {}.\n", found[i].pid,
                        render::short_name(found[i].command, kCommandCells), found[i].reason);
  if (found.size() > kMost) text += fmt::format("So do {} others.\n", found.size() - kMost);
  return text;
}

}  // namespace spotter::app
