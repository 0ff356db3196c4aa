#include "analyze/compat.h"

#include "analyze/tb_plugin/list.h"
#include "base/records.h"

namespace spotter::analyze {
namespace tb_plugin {

constexpr auto kTables = addresses(SPOTTER_TB_PLUGIN_TABLES);

}  // namespace tb_plugin

const Compat kTbPlugin = {
    .name = "tb_plugin",
    .summary = "the tables that the TensorBoard profiler plugin had, with its own numbers",
    .reads = {},
    .rows = nullptr,
    .instead = tb_plugin::kTables,
};

}  // namespace spotter::analyze
