#include "analyze/compat.h"

#include "analyze/list.h"
#include "base/records.h"

namespace spotter::analyze {

std::span<const Compat* const> all_compats() {
  static constexpr auto kAll = addresses(SPOTTER_COMPATS);
  return kAll;
}

const Compat* find_compat(std::string_view name) { return find_named(all_compats(), name); }

const Analysis* stand_in(const Compat* compat, const Analysis* analysis) {
  const Analysis* instead = compat ? find_named(compat->instead, analysis->name) : nullptr;
  return instead ? instead : analysis;
}

std::vector<const Analysis*> stand_ins(const Compat* compat, std::span<const Analysis* const> analyses) {
  std::vector<const Analysis*> all;
  for (const Analysis* analysis : analyses) all.push_back(stand_in(compat, analysis));
  return all;
}

std::vector<const Analysis*> usual_tables(const Compat& compat) {
  std::vector<const Analysis*> usual;
  for (const Analysis* analysis : all_analyses()) {
    const Analysis* own = stand_in(&compat, analysis);
    if (own != analysis && !own->on_request) usual.push_back(own);
  }
  return usual;
}

}  // namespace spotter::analyze
