#include "collect/gpu/dcgm_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace spotter::collect {
namespace {

constexpr u16 kNvmlIndex = 52, kUuid = 54, kComputeCapability = 63;

Code code_of(collect::dcgm::Return code) {
  switch (code) {
    case collect::dcgm::kNoPermission:
    case collect::dcgm::kRequiresRoot:
      return Code::denied;
    case collect::dcgm::kNotSupported:
    case collect::dcgm::kProfilingNotSupported:
    case collect::dcgm::kProfilingMultiPass:
      return Code::unsupported;
    default:
      return Code::io;
  }
}

bool is_known(const collect::dcgm::FieldValue& value) {
  return value.status == collect::dcgm::kOk &&
         (value.type != collect::dcgm::kInteger || value.integer < collect::dcgm::kBlank);
}

}  // namespace

Result<std::unique_ptr<DcgmSession>> DcgmSession::open(const Host& host, const std::string& address,
                                                       bool embedded) {
  auto session = std::make_unique<DcgmSession>();
  TRY_ASSIGN(session->library_, Library::open(host, {"libdcgm.so.4", "libdcgm.so.3"}));
#define SPOTTER_DCGM_FIND(name, arguments) \
  session->f_.name = session->library_.find<decltype(session->f_.name)>(#name);
  SPOTTER_DCGM_FUNCTIONS(SPOTTER_DCGM_FIND)
#undef SPOTTER_DCGM_FIND
  TRY(session->begin(address, embedded));
  return session;
}

Result<void> DcgmSession::begin(const std::string& address, bool embedded) {
  if (const collect::dcgm::Return code = collect::dcgm::call(f_.dcgmInit); code != collect::dcgm::kOk)
    return fail(Code::io, "DCGM does not begin: error {}", code);
  is_up_ = true;
  collect::dcgm::ConnectParams params;
  const collect::dcgm::Return code =
      collect::dcgm::call(f_.dcgmConnect_v2, address.c_str(), &params, &handle_);
  is_connected_ = code == collect::dcgm::kOk;
  if (is_connected_) return {};
  if (!embedded)
    return fail(Code::not_found,
                "no DCGM host engine answers at {}: start nv-hostengine, or allow an embedded one", address);
  if (const collect::dcgm::Return started =
          collect::dcgm::call(f_.dcgmStartEmbedded, collect::dcgm::kModeAuto, &handle_);
      started != collect::dcgm::kOk)
    return fail(code_of(started), "no DCGM host engine answers at {}, and none can be started: error {}",
                address, started);
  is_embedded_ = true;
  return {};
}

DcgmSession::~DcgmSession() {
  pause(false);
  if (is_watching_) collect::dcgm::call(f_.dcgmUnwatchFields, handle_, group_, fields_);
  if (has_fields_) collect::dcgm::call(f_.dcgmFieldGroupDestroy, handle_, fields_);
  if (has_group_) collect::dcgm::call(f_.dcgmGroupDestroy, handle_, group_);
  if (is_connected_) collect::dcgm::call(f_.dcgmDisconnect, handle_);
  if (is_embedded_) collect::dcgm::call(f_.dcgmStopEmbedded, handle_);
  if (is_up_) collect::dcgm::call(f_.dcgmShutdown);
}

Result<std::vector<DcgmGpu>> DcgmSession::gpus() {
  u32 ids[collect::dcgm::kMostDevices] = {};
  int count = 0;
  if (const collect::dcgm::Return code =
          collect::dcgm::call(f_.dcgmGetAllSupportedDevices, handle_, ids, &count);
      code != collect::dcgm::kOk)
    return fail(code_of(code), "DCGM does not list the GPUs: error {}", code);
  std::vector<DcgmGpu> gpus;
  for (const u32 id :
       std::span(ids).first(static_cast<size_t>(std::clamp(count, 0, collect::dcgm::kMostDevices)))) {
    constexpr u16 kFacts[] = {kNvmlIndex, kUuid, kComputeCapability};
    TRY_ASSIGN(const auto facts, values(id, kFacts, collect::dcgm::kLiveData));
    DcgmGpu gpu{.id = id, .index = id, .uuid = {}};
    if (is_known(facts[0])) gpu.index = facts[0].integer;
    if (is_known(facts[1]) && facts[1].text[0] != '<')  // "<<<NULL>>>" and the like
      gpu.uuid.assign(facts[1].text, strnlen(facts[1].text, sizeof(facts[1].text)));
    // The header has the major version in the upper 32 bits, the library in the upper 16 of 32.
    if (is_known(facts[2]))
      gpu.compute_major = facts[2].integer >> 32 ? facts[2].integer >> 32 : facts[2].integer >> 16;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<void> DcgmSession::watch(std::span<const DcgmGpu> gpus, std::span<const u16> fields, Ns period) {
  const std::string name = fmt::format("spotter_{}", getpid());
  if (const collect::dcgm::Return code =
          collect::dcgm::call(f_.dcgmGroupCreate, handle_, collect::dcgm::kGroupEmpty, name.c_str(), &group_);
      code != collect::dcgm::kOk)
    return fail(code_of(code), "DCGM makes no group of GPUs: error {}", code);
  has_group_ = true;
  for (const DcgmGpu& gpu : gpus)
    collect::dcgm::call(f_.dcgmGroupAddEntity, handle_, group_, collect::dcgm::kEntityGpu, gpu.id);
  std::vector<u16> ids(fields.begin(), fields.end());
  if (const collect::dcgm::Return code = collect::dcgm::call(
          f_.dcgmFieldGroupCreate, handle_, static_cast<int>(ids.size()), ids.data(), name.c_str(), &fields_);
      code != collect::dcgm::kOk)
    return fail(code_of(code), "DCGM makes no group of fields: error {}", code);
  has_fields_ = true;
  const double keep_s = 3 * static_cast<double>(period) / 1e9;
  if (const collect::dcgm::Return code = collect::dcgm::call(
          f_.dcgmWatchFields, handle_, group_, fields_, static_cast<long long>(period / 1000), keep_s, 2);
      code != collect::dcgm::kOk)
    return fail(code_of(code), "DCGM does not watch the profiling counters: error {}{}", code,
                code_of(code) == Code::denied ? ", its host engine has to run as root" : "");
  is_watching_ = true;
  return {};
}

// Groups of one major id exclude each other; those of different ones do not.
bool DcgmSession::takes_turns(u32 gpu, std::span<const u16> fields) {
  collect::dcgm::MetricGroups all{};
  all.version = collect::dcgm::version_word(sizeof(all), 3);
  all.gpu = gpu;
  if (collect::dcgm::call(f_.dcgmProfGetSupportedMetricGroups, handle_, &all) != collect::dcgm::kOk)
    return false;
  const auto groups = std::span(all.groups).first(std::min<size_t>(all.count, std::size(all.groups)));
  const auto has = [](const collect::dcgm::MetricGroup& group, u16 field) {
    const auto ids = std::span(group.fields).first(std::min<size_t>(group.count, std::size(group.fields)));
    return std::ranges::find(ids, field) != ids.end();
  };
  for (const collect::dcgm::MetricGroup& one : groups) {
    const auto excludes = [&](const collect::dcgm::MetricGroup& other) {
      return other.major_id == one.major_id;
    };
    const auto in_any = [&](u16 field) {
      return std::ranges::any_of(groups, [&](const auto& g) { return excludes(g) && has(g, field); });
    };
    const bool one_has_all = std::ranges::any_of(groups, [&](const auto& g) {
      return excludes(g) &&
             std::ranges::all_of(fields, [&](u16 field) { return !in_any(field) || has(g, field); });
    });
    if (!one_has_all) return true;
  }
  return false;
}

Result<std::span<const collect::dcgm::FieldValue>> DcgmSession::values(u32 gpu, std::span<const u16> fields,
                                                                       u32 flags) {
  collect::dcgm::Entity entity{collect::dcgm::kEntityGpu, gpu};
  std::vector<u16> ids(fields.begin(), fields.end());
  values_.resize(fields.size());
  for (collect::dcgm::FieldValue& value : values_) {
    value.version = collect::dcgm::version_word(sizeof(value), 2);
    value.status = collect::dcgm::kNoData;
  }
  const collect::dcgm::Return code =
      collect::dcgm::call(f_.dcgmEntitiesGetLatestValues, handle_, &entity, u32{1}, ids.data(),
                          static_cast<u32>(ids.size()), flags, values_.data());
  if (code != collect::dcgm::kOk) return fail(code_of(code), "DCGM does not answer: error {}", code);
  return std::span<const collect::dcgm::FieldValue>(values_);
}

void DcgmSession::pause(bool is_on) {
  if (is_on == is_paused_) return;
  is_paused_ = is_on;
  collect::dcgm::call(is_on ? f_.dcgmProfPause : f_.dcgmProfResume, handle_);
}

}  // namespace spotter::collect
