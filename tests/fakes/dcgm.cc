// A fake libdcgm.so.4: an engine that watches A100s by default (scenario.h). Words of `gpu N`:
//   value FIELD VALUE|blank|unsupported|denied|STATUS:n|nan, age SECONDS (of all values), hopper
// and altogether: embedded_only (no engine answers), passes N (metric groups that exclude each other), log
// FILE (a line for each call that changes something).
#include "collect/gpu/dcgm.h"

#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <type_traits>

#include "scenario.h"

using namespace spotter;
using namespace spotter::collect::dcgm;

namespace {

constexpr collect::dcgm::Handle kHandle = 7;
constexpr collect::dcgm::Group kGroup = 11;
constexpr collect::dcgm::FieldGroup kFieldGroup = 13;
bool is_up = false, is_connected = false, is_watching = false;

const fake::Scenario& scenario() { return fake::Scenario::now(); }

void note(const std::string& line) {
  if (const auto path = scenario().global("log")) std::ofstream(*path, std::ios::app) << line << '\n';
}

collect::dcgm::Return answer(const char* function) {
  if (!is_up) return -10;
  return scenario().error(function);
}

// The test's clock, in the scenario; else the machine's.
i64 unix_us() {
  const auto word = scenario().global("unix_us");
  return word ? std::strtoll(word->c_str(), nullptr, 10) : static_cast<i64>(std::time(nullptr)) * 1'000'000;
}

void fill(collect::dcgm::FieldValue& value, int gpu, u16 field) {
  static const std::map<u16, double> kDefaults = {{1001, 0.97}, {1002, 0.81}, {1003, 0.36}, {1004, 0.52},
                                                  {1005, 0.44}, {1006, 0},    {1007, 0.07}, {1008, 0.01},
                                                  {1009, 3e8},  {1010, 2e9},  {1011, 9e10}, {1012, 8.5e10}};
  const i64 age = static_cast<i64>(scenario().number(gpu, "age", 0));
  value.entity_group = collect::dcgm::kEntityGpu;
  value.entity = static_cast<u32>(gpu);
  value.field = field;
  value.status = collect::dcgm::kOk;
  value.unix_us = unix_us() - age * 1'000'000;
  value.type = collect::dcgm::kReal;
  const auto word = scenario().text_of(gpu, "value", std::to_string(field));
  const i64 placeholder = word == "blank" ? 0 : word == "unsupported" ? 2 : word == "denied" ? 3 : -1;
  if (field < 1000) {
    value.type = collect::dcgm::kInteger;
    value.integer = word ? std::strtoll(word->c_str(), nullptr, 10) : 99;
    if (placeholder >= 0) value.integer = collect::dcgm::kBlank + placeholder;
  } else {
    const auto it = kDefaults.find(field);
    value.real = word ? std::strtod(word->c_str(), nullptr) : it == kDefaults.end() ? 0 : it->second;
    if (placeholder >= 0) value.real = collect::dcgm::kBlankReal + static_cast<double>(placeholder);
  }
  if (word && word->starts_with("STATUS:")) value.status = std::atoi(word->c_str() + 7);
  if (field == 52) value.integer = scenario().gpus() - 1 - gpu;  // NVML counts the other way round
  if (field == 63) value.integer = (scenario().has(gpu, "hopper") ? 9 : 8) << 16;
  if (field == 54) {
    value.type = collect::dcgm::kText;
    std::snprintf(value.text, sizeof(value.text), "GPU-1b2c3d4e-0000-4000-8000-%012x",
                  scenario().gpus() - 1 - gpu);
  }
}

}  // namespace

extern "C" {

collect::dcgm::Return dcgmInit() {
  if (const int code = scenario().error(__func__)) return code;
  is_up = true;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmShutdown() {
  is_up = false;
  note("shutdown");
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmConnect_v2(const char* address, collect::dcgm::ConnectParams* params,
                                     collect::dcgm::Handle* handle) {
  if (params->version != (sizeof(*params) | 2u << 24)) return -12;
  if (scenario().global("embedded_only")) return collect::dcgm::kConnectionNotValid;
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  note(std::string("connect ") + address);
  is_connected = true;
  *handle = kHandle;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmDisconnect(collect::dcgm::Handle handle) {
  note("disconnect");
  is_connected = false;
  return handle == kHandle ? collect::dcgm::kOk : -1;
}
collect::dcgm::Return dcgmStartEmbedded(int mode, collect::dcgm::Handle* handle) {
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  note("start embedded " + std::to_string(mode));
  is_connected = true;
  *handle = kHandle;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmStopEmbedded(collect::dcgm::Handle) {
  note("stop embedded");
  is_connected = false;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmGetAllSupportedDevices(collect::dcgm::Handle, u32* ids, int* count) {
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  *count = scenario().gpus();
  for (int i = 0; i < *count; ++i) ids[i] = static_cast<u32>(i);
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmGroupCreate(collect::dcgm::Handle, int kind, const char*,
                                      collect::dcgm::Group* group) {
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  *group = kGroup;
  return kind == collect::dcgm::kGroupEmpty ? collect::dcgm::kOk : -1;
}
collect::dcgm::Return dcgmGroupAddEntity(collect::dcgm::Handle, collect::dcgm::Group group, u32 entity_group,
                                         u32 id) {
  note("add " + std::to_string(id));
  return group == kGroup && entity_group == collect::dcgm::kEntityGpu ? collect::dcgm::kOk : -1;
}
collect::dcgm::Return dcgmGroupDestroy(collect::dcgm::Handle, collect::dcgm::Group group) {
  note("destroy group");
  return group == kGroup ? collect::dcgm::kOk : -1;
}
collect::dcgm::Return dcgmFieldGroupCreate(collect::dcgm::Handle, int, u16*, const char*,
                                           collect::dcgm::FieldGroup* fields) {
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  *fields = kFieldGroup;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmFieldGroupDestroy(collect::dcgm::Handle, collect::dcgm::FieldGroup fields) {
  note("destroy fields");
  return fields == kFieldGroup ? collect::dcgm::kOk : -1;
}
collect::dcgm::Return dcgmWatchFields(collect::dcgm::Handle, collect::dcgm::Group group,
                                      collect::dcgm::FieldGroup fields, long long period_us, double keep_s,
                                      int) {
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  note("watch " + std::to_string(period_us) + " " + std::to_string(static_cast<int>(keep_s)));
  is_watching = group == kGroup && fields == kFieldGroup;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmUnwatchFields(collect::dcgm::Handle, collect::dcgm::Group,
                                        collect::dcgm::FieldGroup) {
  note("unwatch");
  is_watching = false;
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmEntitiesGetLatestValues(collect::dcgm::Handle handle,
                                                  collect::dcgm::Entity* entities, u32 count, u16* fields,
                                                  u32 field_count, u32 flags,
                                                  collect::dcgm::FieldValue* values) {
  if (handle != kHandle || !is_connected || count != 1 || entities[0].group != collect::dcgm::kEntityGpu)
    return -1;
  if (values[0].version != (sizeof(collect::dcgm::FieldValue) | 2u << 24)) return -12;
  if (const collect::dcgm::Return code = answer(__func__)) return code;
  for (u32 i = 0; i < field_count; ++i) {
    fill(values[i], static_cast<int>(entities[0].id), fields[i]);
    if (!is_watching && flags != collect::dcgm::kLiveData) values[i].status = collect::dcgm::kNotWatched;
  }
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmProfGetSupportedMetricGroups(collect::dcgm::Handle,
                                                       collect::dcgm::MetricGroups* groups) {
  if (groups->version != (sizeof(*groups) | 3u << 24)) return -12;
  // Two groups of one major id: together on chips that measure all at once, else apart.
  const bool is_apart = scenario().global("passes").value_or("1") != "1";
  groups->count = 3;
  groups->groups[0] = {0, 0, 4, {1001, 1002, 1003, 1004}};
  groups->groups[1] = is_apart ? collect::dcgm::MetricGroup{0, 1, 3, {1006, 1007, 1008}}
                               : collect::dcgm::MetricGroup{1, 0, 3, {1006, 1007, 1008}};
  groups->groups[2] = {2, 0, 5, {1005, 1009, 1010, 1011, 1012}};
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmProfPause(collect::dcgm::Handle) {
  note("pause");
  return collect::dcgm::kOk;
}
collect::dcgm::Return dcgmProfResume(collect::dcgm::Handle) {
  note("resume");
  return collect::dcgm::kOk;
}

#define SPOTTER_SAME(name, arguments) \
  static_assert(std::is_same_v<decltype(&name), decltype(Functions::name)>);
SPOTTER_DCGM_FUNCTIONS(SPOTTER_SAME)

}  // extern "C"
