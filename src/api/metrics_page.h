// GET /metrics: the newest samples as Prometheus scrapes them. Left out are the tables whose rows come and go
// with processes, and those of events (Table::is_events): a series is for what lasts, and events
// have counters elsewhere. Made of what is there, so that no scrape waits for a device, whatever time it
// would give.
//
// What became of each table is on the page: spotter_sample_timestamp_seconds{table} (when it was looked) and
// spotter_exposition_rows_left_out{table}. A stale batch (table/batch.h) is left out: Prometheus would take
// its numbers for those of now.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/http.h"
#include "table/batch.h"

namespace spotter::api {

// `latest`: the newest batches, the last one first; of a table that several have, the first counts.
// OpenMetrics 1.0.0 for who prefers it, else the text format 0.0.4, which is also for those who accept
// neither; gzip for who takes it and a page of more than a kilobyte. ?collect[]=NAME, as often as one likes,
// are the collectors that are wanted, ?exclude[]=NAME those that are not, as node_exporter has it. Errors:
// invalid (there is no such collector; both at once).
Result<net::HttpAnswer> metrics_page(std::span<const SharedBatch> latest, Ns unix_now,
                                     const net::HttpRequest& request);

// What a door shows that has nothing but this page. All threads.
struct MetricsDoorView {
  std::span<const SharedBatch> latest;
  Ns unix_now = 0;
  bool is_ready = true;                      // the agent measures
  std::optional<std::string> own_name = {};  // that of this host: it is for this host alone (cross_site.h)
};

// The page, and /-/healthy and /-/ready (200, or 503 before it is); other paths 404, other methods 405, other
// names than the own one 403, in plain text.
net::HttpAnswer answer_metrics_door(const MetricsDoorView& view, const net::HttpRequest& request);

}  // namespace spotter::api
