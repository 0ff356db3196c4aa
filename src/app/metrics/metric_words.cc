#include "app/metrics/metric_words.h"

#include <algorithm>

#include "collect/list.h"
#include "table/metric.h"

namespace spotter::app {

namespace {

// Several collectors may fill one table.
void add(std::vector<std::string>& words, const std::string& word) {
  if (std::ranges::find(words, word) == words.end()) words.push_back(word);
}

}  // namespace

std::vector<std::string> metric_words() {
  std::vector<std::string> words;
  for (const collect::CollectorKind* collector : collect::all_collectors())
    for (const collect::TableKind& table : collector->tables)
      for (const Field& field : table.columns)
        if (table::is_metric(field)) add(words, collect::metric_name(table, field));
  return words;
}

std::vector<std::string> table_words() {
  std::vector<std::string> words;
  for (const collect::CollectorKind* collector : collect::all_collectors())
    for (const collect::TableKind& table : collector->tables) add(words, table.name);
  return words;
}

std::vector<std::string> collector_words() {
  std::vector<std::string> words = {"all", "off"};
  for (const collect::CollectorKind* kind : collect::all_collectors()) words.emplace_back(kind->name);
  return words;
}

}  // namespace spotter::app
