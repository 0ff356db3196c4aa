#include "api/doors.h"

#include "api/assistants.h"
#include "api/list.h"

namespace spotter::api {
namespace {

Settings settings_of(const DoorKind& kind, const Settings& said) {
  Settings own;
  for (const Setting& setting : kind.settings) {
    if (const auto it = said.find(setting.key); it != said.end()) own.insert(*it);
  }
  add_fallbacks(own, kind.settings);
  return own;
}

}  // namespace

const Setting* find_door_setting(std::string_view key) {
  for (const DoorKind* kind : all_doors()) {
    if (const Setting* found = find_setting(kind->settings, key)) return found;
  }
  return nullptr;
}

Result<void> check(const DoorOptions& options) {
  for (const DoorKind* kind : all_doors()) {
    if (kind->check) TRY(kind->check(settings_of(*kind, options.said)));
  }
  return {};
}

Doors::Doors() = default;
Doors::~Doors() = default;

Result<std::unique_ptr<Doors>> Doors::open(net::Loop& loop, agent::Agent& agent, DoorOptions options) {
  std::unique_ptr<Doors> doors(new Doors);
  doors->options_ = std::move(options);
  doors->assistants_ = std::make_unique<Assistants>(loop, agent, *doors);
  for (const DoorKind* kind : all_doors()) {
    const Settings settings = settings_of(*kind, doors->options_.said);
    TRY_ASSIGN(std::unique_ptr<Door> door, kind->open({loop, agent, doors->options_, settings, *doors}));
    doors->places_.push_back({kind, std::move(door)});
  }
  return doors;
}

std::vector<DoorStatus> Doors::status() const {
  std::vector<DoorStatus> status;
  for (const Place& place : places_)
    status.push_back(
        {place.kind->name, place.door != nullptr, place.door ? place.door->detail() : place.kind->closed});
  return status;
}

size_t Doors::connections() const {
  size_t sum = 0;
  for (const Place& place : places_) sum += place.door ? place.door->connections() : 0;
  return sum;
}

i64 Doors::closed_for_room() const {
  i64 sum = 0;
  for (const Place& place : places_) sum += place.door ? place.door->closed_for_room() : 0;
  return sum;
}

}  // namespace spotter::api
