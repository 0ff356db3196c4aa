// Prometheus' text format 0.0.4, as programs write it into files for others to collect.
// prometheus.io/docs/instrumenting/exposition_formats.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spotter::collect {

struct ExposedSample {
  std::string name;
  std::string labels;  // by their names, escaped: a="b",c="d"; without those that are empty
  double value = 0;
};

struct ExposedFamily {
  std::string name;
  const char* type = nullptr;          // counter, gauge, histogram, summary or untyped
  std::string help;                    // empty: none
  std::vector<ExposedSample> samples;  // at least one

  // Whether a sample only grows: a counter, or a count or a sum of the others.
  bool is_total(const ExposedSample& sample) const;
};

// The families in the order in which they begin. Errors: invalid: its line and what is wrong with it. That is
// also a time, as of node_exporter's collector textfile: what stays in a file is of now; and a last line
// without an end, which somebody is still writing. No error has more of the text than names of metrics and
// labels: it may be any file.
Result<std::vector<ExposedFamily>> read_exposition(std::string_view text);

}  // namespace spotter::collect
