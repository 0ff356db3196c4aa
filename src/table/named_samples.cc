#include "table/named_samples.h"

namespace spotter::table {

void append_label(std::string& labels, std::string_view name, std::string_view value) {
  if (!labels.empty()) labels += ',';
  labels.append(name).append("=\"");
  for (const char c : value) {
    if (c == '\\' || c == '"' || c == '\n') labels += '\\';
    labels += c == '\n' ? 'n' : c;
  }
  labels += '"';
}

std::vector<std::pair<std::string_view, std::string>> parse_labels(std::string_view labels) {
  std::vector<std::pair<std::string_view, std::string>> found;
  while (!labels.empty()) {
    const size_t sign = labels.find("=\"");
    if (sign == labels.npos) break;
    std::string& value = found.emplace_back(labels.substr(0, sign), std::string()).second;
    labels.remove_prefix(sign + 2);
    size_t at = 0;
    for (; at < labels.size() && labels[at] != '"'; ++at) {
      const bool is_escaped = labels[at] == '\\' && at + 1 < labels.size();
      if (is_escaped) ++at;
      value += is_escaped && labels[at] == 'n' ? '\n' : labels[at];
    }
    const size_t next = labels.find(',', at);
    labels.remove_prefix(next == labels.npos ? labels.size() : next + 1);
  }
  return found;
}

}  // namespace spotter::table
