#include "capture/output_place.h"

#include "capture/capture.h"

namespace spotter::capture {

std::vector<OutputPlace> find_places(const Host& host, const std::vector<Writer>& writers) {
  std::vector<OutputPlace> places;
  for (const Writer& writer : writers) {
    const auto root = std::make_shared<const ProcessRoot>(ProcessRoot::open(host, writer.pid));
    OutputPlace place{root, root->check_directory(directory_of(writer.path), writer.uid), 0, {}};
    if (place.may_write) {
      place.before = root->look(writer.path, writer.uid).changed;
      place.repository = repository_of(host, writer.pid, writer.uid).value_or(Repository{});
    }
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace spotter::capture
