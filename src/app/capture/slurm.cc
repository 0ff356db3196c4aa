#include "app/capture/slurm.h"

#include <sstream>

#include "base/system/command.h"
#include "base/text/utf8.h"

namespace spotter::app {

Result<SlurmPlace> read_squeue(const std::string& text, const std::string& id) {
  SlurmPlace place;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string job, nodes;
    words >> job >> nodes;
    if (job.empty() || nodes.empty() || nodes.starts_with('('))
      continue;  // it waits, and the reason is shown
    // The members of an array, or the parts of a heterogeneous job: which one is meant?
    if (!place.id.empty() && place.id != job)
      return fail(Code::invalid, "Slurm's job {} is several ({}, {}, ...); name one of them", id, place.id,
                  job);
    place.id = job;
    place.nodes += (place.nodes.empty() ? "" : ",") + nodes;
  }
  if (place.id.empty()) return fail(Code::not_found, "Slurm's job {} runs on no host", id);
  return place;
}

std::vector<SlurmNode> read_nodes(const std::string& text) {
  std::vector<SlurmNode> nodes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    SlurmNode node;
    for (std::string word; words >> word;) {
      if (word.starts_with("NodeName=")) node.name = word.substr(9);
      if (word.starts_with("NodeAddr=")) node.address = word.substr(9);
    }
    if (node.address.empty()) node.address = node.name;
    if (!node.name.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<SlurmJob> find_slurm_job(const std::string& id) {
  if (id.empty() || id.find_first_not_of("0123456789_+") != id.npos)
    return fail(Code::invalid, "\"{}\" is no id of a Slurm job", to_printable(id));
  TRY_ASSIGN(const std::string queue, run_command({"squeue", "-h", "-j", id, "-o", "%A %N"}));
  TRY_ASSIGN(const SlurmPlace place, read_squeue(queue, id));
  TRY_ASSIGN(const std::string text, run_command({"scontrol", "-o", "show", "node", place.nodes}));
  SlurmJob job{place.id, read_nodes(text)};
  if (job.nodes.empty())
    return fail(Code::io, "scontrol does not tell the addresses of {}", to_printable(place.nodes));
  return job;
}

}  // namespace spotter::app
