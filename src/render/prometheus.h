// Tables as Prometheus scrapes them: the text format 0.0.4, or OpenMetrics 1.0.0. Any thread.
//
// A column of Role::value or Role::counter that is a number or a flag is a metric family
// (spotter_<table>_<column>, in base units, counters alone with _total); those of Role::key are its labels.
// Columns that are parts of a total (table.h) are one family, with a label that says which part a sample is.
// Columns of Role::detail are labels of the family spotter_<table>_info, whose value is always 1. A null is
// no sample, an empty text no label. Left out are columns of Role::time, since a scrape is of now, and texts
// of Role::value: a state that changes from second to second would be a series of its own each time.
//
// The samples of a table of named ones (table/named_samples.h) have their own names, types and labels. A
// counter without "_total" is of an unknown type in OpenMetrics, which knows no such name of one.
//
// No page has two samples of the same name and labels, however the rows are: Prometheus would refuse it.
//
// Sources: prometheus.io/docs/instrumenting/exposition_formats, OpenMetrics 1.0.0,
// prometheus.io/docs/practices/naming.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "table/table.h"

namespace spotter::render {

struct PrometheusStyle {
  bool open_metrics = false;
  size_t most_rows_per_table = 1000;  // each is a series in somebody's database
};

// The tables' names are distinct; of several of one name the first counts. What is left out (rows beyond the
// most, rows whose keys an earlier one has, tables of a name that was there) is told by the family
// spotter_exposition_rows_left_out{table}.
std::string render_prometheus(std::span<const Table* const> tables, const PrometheusStyle& style = {});

// As samples are called: "spotter_disk_read_bytes_total" of the column read_bytes of the table disk; with the
// label of a part: spotter_cpu_seconds_total{mode="user"}.
std::string prometheus_name(std::string_view table, const Field& column);

// As labels are called: the column's name. Prometheus has labels of its own on every series, "job" (of its
// configuration) and "instance"; columns of these names are "job_id" and "instance_id", as otherwise it would
// rename them.
std::string_view prometheus_label(std::string_view column);

}  // namespace spotter::render
