// dcgm: what the parts of NVIDIA's GPUs before Hopper do, by DCGM's profiling counters. Newer ones tell by
// NVML (collector nvidia) without a lock, so they are left out here. Off by default: before Hopper the
// counters and any other profiler on the machine exclude each other.
#include <algorithm>
#include <cmath>

#include "collect/gpu/dcgm_session.h"
#include "collect/gpu/gpu_activity.h"
#include "collect/gpu/owner.h"
#include "collect/gpu/profiling_pause.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Ns kPeriod = kSecond;
constexpr i64 kHopper = 9;  // compute capability from which NVML has GPM

constexpr u16 kUtilization = 203;
constexpr struct {
  u16 id;
  gpu_activity::Column column;
} kMetrics[] = {
    {1001, gpu_activity::graphics_active_ratio}, {1002, gpu_activity::sm_active_ratio},
    {1003, gpu_activity::sm_occupancy_ratio},    {1004, gpu_activity::tensor_active_ratio},
    {1005, gpu_activity::dram_active_ratio},     {1006, gpu_activity::fp64_active_ratio},
    {1007, gpu_activity::fp32_active_ratio},     {1008, gpu_activity::fp16_active_ratio},
    {1009, gpu_activity::pcie_tx_bytes_per_s},   {1010, gpu_activity::pcie_rx_bytes_per_s},
    {1011, gpu_activity::nvlink_tx_bytes_per_s}, {1012, gpu_activity::nvlink_rx_bytes_per_s},
};

constexpr TableKind kTables[] = {gpu_activity_table("DCGM")};

std::vector<u16> fields() {
  std::vector<u16> ids{kUtilization};
  for (const auto& metric : kMetrics) ids.push_back(metric.id);
  return ids;
}

struct Watched {
  DcgmGpu gpu;
  bool takes_turns = false;
};

class Dcgm : public Collector {
 public:
  explicit Dcgm(const Surroundings& s)
      : host_(s.host),
        address_(s.dcgm_address),
        embedded_(s.dcgm_embedded),
        pause_(s.profiling_pause),
        identities_(s.identities) {}

  Result<void> connect() {
    TRY_ASSIGN(auto session, DcgmSession::open(host_, address_, embedded_));
    TRY_ASSIGN(std::vector<DcgmGpu> gpus, session->gpus());
    std::erase_if(gpus, [](const DcgmGpu& gpu) { return gpu.compute_major >= kHopper; });
    if (gpus.empty())
      return fail(Code::not_found,
                  "DCGM has no GPU before Hopper; newer ones are measured by the collector nvidia");
    TRY(session->watch(gpus, fields_, kPeriod));
    watched_.clear();
    for (const DcgmGpu& gpu : gpus) watched_.push_back({gpu, session->takes_turns(gpu.id, fields_)});
    session_ = std::move(session);
    connected_at_ = host_.steady_now();
    return {};
  }

  Result<std::vector<Table>> sample() override {
    if (!session_) TRY(connect());
    const bool is_paused = pause_ && pause_->is_on(host_.steady_now());
    session_->pause(is_paused);
    std::vector<Table> tables;
    Table& table = tables.emplace_back("gpu_activity", gpu_activity::kFields);
    for (const Watched& watched : watched_) {
      ActivityCells cells{};
      Quality quality;
      if (is_paused) {
        quality.add(Doubt::paused);
      } else {
        auto read_it = read(watched, cells, quality);
        if (!read_it) {
          session_.reset();  // connects anew at the next sample
          return tl::unexpected(read_it.error());
        }
        if (!*read_it) continue;
      }
      append(table, watched.gpu, cells, quality);
    }
    return tables;
  }

 private:
  // False: nothing is measured yet.
  Result<bool> read(const Watched& watched, ActivityCells& cells, Quality& quality) {
    TRY_ASSIGN(const auto values, session_->values(watched.gpu.id, fields_));
    const bool is_young = host_.steady_now() - connected_at_ < 3 * kPeriod;
    const auto has_none = [](const collect::dcgm::FieldValue& value) {
      return value.status == collect::dcgm::kNoData || value.status == collect::dcgm::kNotWatched;
    };
    if (is_young && std::ranges::all_of(values.subspan(1), has_none)) return false;
    const std::optional<double> percent = number(values[0], quality);
    for (size_t i = 0; i < std::size(kMetrics); ++i) {
      const bool is_ratio = kMetrics[i].column <= gpu_activity::dram_active_ratio;
      std::optional<double> value = number(values[i + 1], quality);
      if (value && (*value < 0 || *value > (is_ratio ? 1.01 : 1e14))) {
        quality.add(Doubt::blank);
        value.reset();
      }
      if (value && is_ratio) value = std::min(*value, 1.0);
      cells[kMetrics[i].column] = value;
    }
    doubt_idle_sms(percent ? std::optional(*percent / 100) : percent, cells, quality);
    if (watched.takes_turns) quality.add(Doubt::multiplexed);
    return true;
  }

  std::optional<double> number(const collect::dcgm::FieldValue& value, Quality& quality) const {
    const auto doubt = [&](Doubt why) {
      quality.add(why);
      return std::nullopt;
    };
    switch (value.status) {
      case collect::dcgm::kOk:
        break;
      case collect::dcgm::kNotSupported:
        return std::nullopt;
      case collect::dcgm::kStaleData:
        return doubt(Doubt::stale);
      case collect::dcgm::kGpuIsLost:
        return doubt(Doubt::lost);
      case collect::dcgm::kNoPermission:
      case collect::dcgm::kRequiresRoot:
        return doubt(Doubt::denied);
      default:
        return doubt(Doubt::blank);
    }
    const bool is_real = value.type == collect::dcgm::kReal;
    const double blank = is_real ? value.real - collect::dcgm::kBlankReal
                                 : static_cast<double>(value.integer < collect::dcgm::kBlank
                                                           ? -1
                                                           : value.integer - collect::dcgm::kBlank);
    if (blank == 2) return std::nullopt;  // not supported
    if (blank == 3) return doubt(Doubt::denied);
    if (blank >= 0 || (is_real && !std::isfinite(value.real))) return doubt(Doubt::blank);
    if (host_.unix_now() / 1000 - value.unix_us > 3 * kPeriod / 1000) return doubt(Doubt::stale);
    return is_real ? value.real : static_cast<double>(value.integer);
  }

  void append(Table& table, const DcgmGpu& gpu, const ActivityCells& cells, const Quality& quality) const {
    Row row(gpu_activity::kColumnCount);
    for (size_t i = 0; i < row.size(); ++i) row[i] = or_null(cells[i]);
    row[gpu_activity::gpu] = gpu.index;
    row[gpu_activity::uuid] = or_null(gpu.uuid);
    row[gpu_activity::source] = std::string_view("dcgm");
    const std::string text = quality.text();
    row[gpu_activity::quality] = or_null(text);
    // DCGM tells no processes; the collector nvidia does, of the same GPU.
    const Who owner = identities_ ? identities_->gpu_owner(gpu.uuid) : Who();
    set_owner(row, gpu_activity::job, owner);
    table.append(row);
  }

  const std::vector<u16> fields_ = fields();
  Host host_;
  std::string address_;
  bool embedded_;
  std::shared_ptr<const ProfilingPause> pause_;
  std::shared_ptr<Identities> identities_;
  std::unique_ptr<DcgmSession> session_;  // none while the connection is broken
  std::vector<Watched> watched_;
  Ns connected_at_ = 0;
};

}  // namespace

const CollectorKind kDcgm = {
    .name = "dcgm",
    .help =
        "The parts of NVIDIA's GPUs before Hopper, by a DCGM host engine; keeps other profilers off them.",
    .period = kPeriod,
    .may_block = true,
    .is_on = false,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      auto collector = std::make_unique<Dcgm>(s);
      TRY(collector->connect());
      return collector;
    },
};

}  // namespace spotter::collect
