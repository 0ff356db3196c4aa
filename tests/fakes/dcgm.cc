// A fake libdcgm.so.4: an engine that watches A100s by default (scenario.h). Words of `gpu N`:
//   value FIELD VALUE|blank|unsupported|denied|STATUS:n|nan, age SECONDS (of all values), hopper
// and altogether: embedded_only (no engine answers), passes N (metric groups that exclude each other), log
// FILE (a line for each call that changes something).
#include "collect/dcgm.h"

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

constexpr Handle kHandle = 7;
constexpr Group kGroup = 11;
constexpr FieldGroup kFieldGroup = 13;
bool is_up = false, is_connected = false, is_watching = false;

const fake::Scenario& scenario() { return fake::Scenario::now(); }

void note(const std::string& line) {
  if (const auto path = scenario().global("log")) std::ofstream(*path, std::ios::app) << line << '\n';
}

Return answer(const char* function) {
  if (!is_up) return -10;
  return scenario().error(function);
}

// The test's clock, in the scenario; else the machine's.
i64 unix_us() {
  const auto word = scenario().global("unix_us");
  return word ? std::strtoll(word->c_str(), nullptr, 10) : static_cast<i64>(std::time(nullptr)) * 1'000'000;
}

void fill(FieldValue& value, int gpu, u16 field) {
  static const std::map<u16, double> kDefaults = {{1001, 0.97}, {1002, 0.81}, {1003, 0.36}, {1004, 0.52},
                                                  {1005, 0.44}, {1006, 0},    {1007, 0.07}, {1008, 0.01},
                                                  {1009, 3e8},  {1010, 2e9},  {1011, 9e10}, {1012, 8.5e10}};
  const i64 age = static_cast<i64>(scenario().number(gpu, "age", 0));
  value.entity_group = kEntityGpu;
  value.entity = static_cast<u32>(gpu);
  value.field = field;
  value.status = kOk;
  value.unix_us = unix_us() - age * 1'000'000;
  value.type = kReal;
  const auto word = scenario().text_of(gpu, "value", std::to_string(field));
  const i64 placeholder = word == "blank" ? 0 : word == "unsupported" ? 2 : word == "denied" ? 3 : -1;
  if (field < 1000) {
    value.type = kInteger;
    value.integer = word ? std::strtoll(word->c_str(), nullptr, 10) : 99;
    if (placeholder >= 0) value.integer = kBlank + placeholder;
  } else {
    const auto it = kDefaults.find(field);
    value.real = word ? std::strtod(word->c_str(), nullptr) : it == kDefaults.end() ? 0 : it->second;
    if (placeholder >= 0) value.real = kBlankReal + static_cast<double>(placeholder);
  }
  if (word && word->starts_with("STATUS:")) value.status = std::atoi(word->c_str() + 7);
  if (field == 52) value.integer = scenario().gpus() - 1 - gpu;  // NVML counts the other way round
  if (field == 63) value.integer = (scenario().has(gpu, "hopper") ? 9 : 8) << 16;
  if (field == 54) {
    value.type = kText;
    std::snprintf(value.text, sizeof(value.text), "GPU-1b2c3d4e-0000-4000-8000-%012x",
                  scenario().gpus() - 1 - gpu);
  }
}

}  // namespace

extern "C" {

Return dcgmInit() {
  if (const int code = scenario().error(__func__)) return code;
  is_up = true;
  return kOk;
}
Return dcgmShutdown() {
  is_up = false;
  note("shutdown");
  return kOk;
}
Return dcgmConnect_v2(const char* address, ConnectParams* params, Handle* handle) {
  if (params->version != (sizeof(*params) | 2u << 24)) return -12;
  if (scenario().global("embedded_only")) return kConnectionNotValid;
  if (const Return code = answer(__func__)) return code;
  note(std::string("connect ") + address);
  is_connected = true;
  *handle = kHandle;
  return kOk;
}
Return dcgmDisconnect(Handle handle) {
  note("disconnect");
  is_connected = false;
  return handle == kHandle ? kOk : -1;
}
Return dcgmStartEmbedded(int mode, Handle* handle) {
  if (const Return code = answer(__func__)) return code;
  note("start embedded " + std::to_string(mode));
  is_connected = true;
  *handle = kHandle;
  return kOk;
}
Return dcgmStopEmbedded(Handle) {
  note("stop embedded");
  is_connected = false;
  return kOk;
}
Return dcgmGetAllSupportedDevices(Handle, u32* ids, int* count) {
  if (const Return code = answer(__func__)) return code;
  *count = scenario().gpus();
  for (int i = 0; i < *count; ++i) ids[i] = static_cast<u32>(i);
  return kOk;
}
Return dcgmGroupCreate(Handle, int kind, const char*, Group* group) {
  if (const Return code = answer(__func__)) return code;
  *group = kGroup;
  return kind == kGroupEmpty ? kOk : -1;
}
Return dcgmGroupAddEntity(Handle, Group group, u32 entity_group, u32 id) {
  note("add " + std::to_string(id));
  return group == kGroup && entity_group == kEntityGpu ? kOk : -1;
}
Return dcgmGroupDestroy(Handle, Group group) {
  note("destroy group");
  return group == kGroup ? kOk : -1;
}
Return dcgmFieldGroupCreate(Handle, int, u16*, const char*, FieldGroup* fields) {
  if (const Return code = answer(__func__)) return code;
  *fields = kFieldGroup;
  return kOk;
}
Return dcgmFieldGroupDestroy(Handle, FieldGroup fields) {
  note("destroy fields");
  return fields == kFieldGroup ? kOk : -1;
}
Return dcgmWatchFields(Handle, Group group, FieldGroup fields, long long period_us, double keep_s, int) {
  if (const Return code = answer(__func__)) return code;
  note("watch " + std::to_string(period_us) + " " + std::to_string(static_cast<int>(keep_s)));
  is_watching = group == kGroup && fields == kFieldGroup;
  return kOk;
}
Return dcgmUnwatchFields(Handle, Group, FieldGroup) {
  note("unwatch");
  is_watching = false;
  return kOk;
}
Return dcgmEntitiesGetLatestValues(Handle handle, Entity* entities, u32 count, u16* fields, u32 field_count,
                                   u32 flags, FieldValue* values) {
  if (handle != kHandle || !is_connected || count != 1 || entities[0].group != kEntityGpu) return -1;
  if (values[0].version != (sizeof(FieldValue) | 2u << 24)) return -12;
  if (const Return code = answer(__func__)) return code;
  for (u32 i = 0; i < field_count; ++i) {
    fill(values[i], static_cast<int>(entities[0].id), fields[i]);
    if (!is_watching && flags != kLiveData) values[i].status = kNotWatched;
  }
  return kOk;
}
Return dcgmProfGetSupportedMetricGroups(Handle, MetricGroups* groups) {
  if (groups->version != (sizeof(*groups) | 3u << 24)) return -12;
  // Two groups of one major id: together on chips that measure all at once, else apart.
  const bool is_apart = scenario().global("passes").value_or("1") != "1";
  groups->count = 3;
  groups->groups[0] = {0, 0, 4, {1001, 1002, 1003, 1004}};
  groups->groups[1] =
      is_apart ? MetricGroup{0, 1, 3, {1006, 1007, 1008}} : MetricGroup{1, 0, 3, {1006, 1007, 1008}};
  groups->groups[2] = {2, 0, 5, {1005, 1009, 1010, 1011, 1012}};
  return kOk;
}
Return dcgmProfPause(Handle) {
  note("pause");
  return kOk;
}
Return dcgmProfResume(Handle) {
  note("resume");
  return kOk;
}

#define SPOTTER_SAME(name, arguments) \
  static_assert(std::is_same_v<decltype(&name), decltype(Functions::name)>);
SPOTTER_DCGM_FUNCTIONS(SPOTTER_SAME)

}  // extern "C"
