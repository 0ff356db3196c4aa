#include "sink/dynolog_names.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/moment.h"
#include "base/time.h"
#include "render/json_text.h"

namespace spotter::sink {
namespace {

constexpr double kPercent = 100, kMega = 1e6;
constexpr double kNsInMs = 1e6, kNan = std::numeric_limits<double>::quiet_NaN();

// The processors' times. The kernel counts guests within user and nice, and so does Dynolog; our columns do
// not.
struct Mode {
  const char *percent, *ms;  // nullptr: Dynolog has none
  const char *column, *guests;
};
constexpr Mode kModes[] = {
    {"cpu_u", "cpu_u_ms", "user_ns", "guest_ns"},
    {nullptr, "cpu_n_ms", "nice_ns", "guest_nice_ns"},
    {"cpu_s", "cpu_s_ms", "system_ns", nullptr},
    {"cpu_i", nullptr, "idle_ns", nullptr},
    {nullptr, "cpu_w_ms", "iowait_ns", nullptr},
    {nullptr, "cpu_x_ms", "irq_ns", nullptr},
    {nullptr, "cpu_y_ms", "softirq_ns", nullptr},
    {nullptr, "cpu_z_ms", "steal_ns", nullptr},
    {"cpu_guest", "cpu_guest_ms", "guest_ns", nullptr},
    {"cpu_guest_nice", "cpu_guest_nice_ms", "guest_nice_ns", nullptr},
};
// All time there is, once.
constexpr const char* kAllTimes[] = {"user_ns", "nice_ns",    "system_ns", "idle_ns",  "iowait_ns",
                                     "irq_ns",  "softirq_ns", "steal_ns",  "guest_ns", "guest_nice_ns"};

// Our columns have Dynolog's names, to which it adds a dot and the device.
constexpr const char* kNetwork[] = {"rx_bytes", "rx_packets", "rx_errors", "rx_drops",
                                    "tx_bytes", "tx_packets", "tx_errors", "tx_drops"};

enum class Form : u8 { whole, real, text };
struct GpuName {
  const char *table, *column, *name;
  Form form;
  double scale = 1;
};
constexpr GpuName kGpu[] = {
    {"gpu", "gpu", "device", Form::whole},
    {"gpu", "name", "gpu_name", Form::text},
    {"gpu", "uuid", "gpu_uuid", Form::text},
    {"gpu", "sm_clock_hertz", "gpu_frequency_mhz", Form::whole, 1 / kMega},
    {"gpu", "power_watts", "gpu_power_draw", Form::real},
    {"gpu", "utilization_ratio", "gpu_device_utilization", Form::whole, kPercent},
    {"gpu", "memory_utilization_ratio", "gpu_memory_utilization", Form::whole, kPercent},
    {"gpu", "pcie_tx_bytes_per_s", "pcie_tx_bytes", Form::whole},
    {"gpu", "pcie_rx_bytes_per_s", "pcie_rx_bytes", Form::whole},
    {"gpu", "job", "job_id", Form::text},
    {"gpu", "user", "username", Form::text},
    {"gpu", "pod", "pod_name", Form::text},
    {"gpu", "pod_namespace", "pod_namespace", Form::text},
    {"gpu_activity", "gpu", "device", Form::whole},
    {"gpu_activity", "graphics_active_ratio", "graphics_engine_active_ratio", Form::real},
    {"gpu_activity", "sm_active_ratio", "sm_active_ratio", Form::real},
    {"gpu_activity", "sm_occupancy_ratio", "sm_occupancy", Form::real},
    {"gpu_activity", "tensor_active_ratio", "tensorcore_active", Form::real},
    {"gpu_activity", "dram_active_ratio", "hbm_mem_bw_util", Form::real},
    {"gpu_activity", "fp64_active_ratio", "fp64_active", Form::real},
    {"gpu_activity", "fp32_active_ratio", "fp32_active", Form::real},
    {"gpu_activity", "fp16_active_ratio", "fp16_active", Form::real},
    {"gpu_activity", "pcie_tx_bytes_per_s", "pcie_tx_bytes", Form::whole},
    {"gpu_activity", "pcie_rx_bytes_per_s", "pcie_rx_bytes", Form::whole},
    {"gpu_activity", "nvlink_tx_bytes_per_s", "nvlink_tx_bytes", Form::whole},
    {"gpu_activity", "nvlink_rx_bytes_per_s", "nvlink_rx_bytes", Form::whole},
};
// 1 where a number is missing though the GPU has it: what Dynolog calls so.
constexpr const char* kGpuError = "dcgm_error";
constexpr std::string_view kMissing[] = {"blank", "lost"};

// Null where there is no such column.
Value cell(const Table& table, size_t row, std::string_view column) {
  for (size_t c = 0; c < table.columns(); ++c) {
    if (column == table.schema()[c].name) return table.at(row, c);
  }
  return {};
}

std::string decimals(double value) { return fmt::format("\"{:.3f}\"", value); }

// Empty: none.
std::string in_form(const Value& value, Form form, double scale) {
  std::string out;
  if (form == Form::text) {
    if (std::holds_alternative<std::string_view>(value)) render::append_json_value(out, value);
    return out;
  }
  const i64* whole = std::get_if<i64>(&value);
  const double* real = std::get_if<double>(&value);
  if (!whole && !real) return out;
  const double scaled = (whole ? static_cast<double>(*whole) : *real) * scale;
  constexpr double kMost = 9e18;
  if (!std::isfinite(scaled) || std::abs(scaled) > kMost) return out;
  return form == Form::real ? decimals(scaled) : fmt::format("{}", std::llround(scaled));
}

std::string line(Ns time, const std::map<std::string, std::string>& record) {
  if (record.empty()) return {};
  std::string out = "time = " + utc_text(time) + " data = {";
  for (const auto& [key, value] : record) {
    if (!out.ends_with('{')) out += ',';
    append_json_text(out, key);
    out += ':' + value;
  }
  return out + "}\n";
}

}  // namespace

std::vector<std::pair<const char*, const char*>> dynolog_columns() {
  std::vector<std::pair<const char*, const char*>> all = {
      {"uptime", "uptime_ns"}, {"network", "interface"}, {"pmu", "instructions"},    {"pmu", "cycles"},
      {"pmu", "cpus"},         {"gpu", "quality"},       {"gpu_activity", "quality"}};
  for (const char* column : kAllTimes) all.emplace_back("cpu", column);
  for (const char* column : kNetwork) all.emplace_back("network", column);
  for (const GpuName& gpu : kGpu) all.emplace_back(gpu.table, gpu.column);
  return all;
}

std::optional<i64> DynologNames::Changes::of(const std::string& counter, const Value& value) {
  const i64* whole = std::get_if<i64>(&value);
  if (!whole) return std::nullopt;
  now_[counter] = *whole;
  const auto before = before_.find(counter);
  i64 change = 0;
  if (before == before_.end() || __builtin_sub_overflow(*whole, before->second, &change) || change < 0)
    return std::nullopt;
  return change;
}

std::string DynologNames::lines(const Share& share) {
  const Ns time = share.batch->unix_ns;
  std::string out;
  std::map<i64, Record> gpus;
  const Table* cpu = nullptr;
  for (const Table* table : share.tables) {
    const std::string& name = table->name();
    if (name == "uptime") read_uptime(*table, time);
    if (name == "network") read_network(*table);
    if (name == "cpu") cpu = table;
    if (name == "pmu") out += line(time, pmu(*table, time));
    if (name == "gpu" || name == "gpu_activity") read_gpus(*table, gpus);
  }
  // Last, since the record goes out with it.
  if (cpu) {
    read_cpu(*cpu);
    if (uptime_)
      machine_["uptime"] =
          fmt::format("{}", static_cast<i64>((i128{*uptime_} + time - uptime_time_) / kSecond));
    out = line(time, std::exchange(machine_, {})) + out;
  }
  for (const auto& [index, record] : gpus) out += line(time, record);
  return out;
}

void DynologNames::read_gpus(const Table& table, std::map<i64, Record>& gpus) {
  for (size_t row = 0; row < table.rows(); ++row) {
    const Value index = cell(table, row, "gpu");
    if (!std::holds_alternative<i64>(index)) continue;
    Record& record = gpus[std::get<i64>(index)];
    for (const GpuName& gpu : kGpu) {
      if (table.name() != gpu.table) continue;
      if (std::string value = in_form(cell(table, row, gpu.column), gpu.form, gpu.scale); !value.empty())
        record[gpu.name] = std::move(value);
    }
    const Value quality = cell(table, row, "quality");
    const auto* words = std::get_if<std::string_view>(&quality);
    const bool is_missing = words && std::ranges::any_of(kMissing, [&](std::string_view word) {
                              return words->find(word) != words->npos;
                            });
    std::string& error = record[kGpuError];
    if (is_missing || error.empty()) error = is_missing ? "1" : "0";
  }
}

void DynologNames::read_uptime(const Table& table, Ns time) {
  const Value uptime = table.rows() > 0 ? cell(table, 0, "uptime_ns") : Value();
  if (!std::holds_alternative<i64>(uptime)) return;
  uptime_ = std::get<i64>(uptime);
  uptime_time_ = time;
}

void DynologNames::read_network(const Table& table) {
  Changes changes(network_);
  for (size_t row = 0; row < table.rows(); ++row) {
    const Value device = cell(table, row, "interface");
    const auto* name = std::get_if<std::string_view>(&device);
    if (!name) continue;
    for (const char* column : kNetwork) {
      const std::string key = fmt::format("{}.{}", column, *name);
      if (const auto change = changes.of(key, cell(table, row, column)))
        machine_[key] = fmt::format("{}", *change);
    }
  }
}

void DynologNames::read_cpu(const Table& table) {
  if (table.rows() == 0) return;
  Changes changes(cpu_);
  std::map<std::string_view, i64> times;
  double all = 0;  // nothing to compare with where one of them is not known
  for (const char* column : kAllTimes) {
    const auto change = changes.of(column, cell(table, 0, column));
    if (change) times[column] = *change;
    all += change ? static_cast<double>(*change) : kNan;
  }
  for (const Mode& mode : kModes) {
    if (!times.contains(mode.column) || (mode.guests && !times.contains(mode.guests))) continue;
    double time = static_cast<double>(times[mode.column]);
    if (mode.guests) time += static_cast<double>(times[mode.guests]);
    if (mode.ms) machine_[mode.ms] = fmt::format("{}", std::llround(time / kNsInMs));
    if (mode.percent && all > 0) machine_[mode.percent] = decimals(time / all * kPercent);
  }
  if (all > 0) machine_["cpu_util"] = decimals((1 - static_cast<double>(times["idle_ns"]) / all) * kPercent);
}

// Averages of a processor, as Dynolog's.
DynologNames::Record DynologNames::pmu(const Table& table, Ns time) {
  if (table.rows() == 0) return {};
  Changes changes(pmu_);
  const Value cpus = cell(table, 0, "cpus");
  const i64* count = std::get_if<i64>(&cpus);
  const double seconds =
      static_cast<double>(time - std::exchange(pmu_time_, time)) / static_cast<double>(kSecond);
  Record record;
  for (const auto& [column, name] :
       {std::pair{"instructions", "mips"}, {"cycles", "mega_cycles_per_second"}}) {
    const auto change = changes.of(column, cell(table, 0, column));
    if (change && count && *count > 0 && seconds > 0)
      record[name] = decimals(static_cast<double>(*change) / kMega / seconds / static_cast<double>(*count));
  }
  return record;
}

}  // namespace spotter::sink
