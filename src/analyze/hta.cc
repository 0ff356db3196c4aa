#include "analyze/compat.h"
#include "trace/hta_rows.h"

namespace spotter::analyze {

const Compat kHta = {
    .name = "hta",
    .summary = "the rows and rounded times that Holistic Trace Analysis sees",
    .reads = {Arg::correlation, Arg::stream},
    .rows = trace::as_hta_reads,
    .instead = {},
};

}  // namespace spotter::analyze
