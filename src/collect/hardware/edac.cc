// edac: errors that the memory controllers corrected, and those that they could not.
// /sys/devices/system/edac, Documentation/ABI/testing/sysfs-devices-edac; the csrows are those of
// Documentation/driver-api/edac.rst.
#include "base/time.h"
#include "collect/facts.h"
#include "collect/hardware/numbered.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr i64 kMiB = i64{1} << 20;

constexpr Field kController = {"controller", Type::integer, Unit::none, Role::key,
                               "Number of the memory controller."};
constexpr Field count(const char* name, const char* help) {
  return {name, Type::integer, Unit::count, Role::counter, help};
}
constexpr Field kColumns[] = {
    kController,
    {"name", Type::text, Unit::none, Role::detail, "Kind of controller, as its driver calls it."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Memory of the controller."},
    count("correctable_errors", "Errors that were corrected."),
    count("uncorrectable_errors", "Errors that could not be corrected."),
    count("correctable_errors_without_slot", "Those that were corrected and of no known slot."),
    count("uncorrectable_errors_without_slot", "Those that could not be corrected and of no known slot."),
};
constexpr Field kDimmColumns[] = {
    kController,
    {"dimm", Type::text, Unit::none, Role::key,
     "Module of the controller (dimm0), or a rank of one where it only knows these (rank0)."},
    {"label", Type::text, Unit::none, Role::detail, "What is printed beside its slot, where somebody said."},
    {"location", Type::text, Unit::none, Role::detail, "Channel and slot of the controller."},
    {"memory_type", Type::text, Unit::none, Role::detail, "Kind of memory."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size."},
    count("correctable_errors", "Errors that were corrected: the module may begin to fail."),
    count("uncorrectable_errors", "Errors that could not be corrected."),
};
constexpr Field kRowColumns[] = {
    kController,
    {"csrow", Type::integer, Unit::none, Role::key, "Row of chips that are selected together."},
    count("correctable_errors", "Errors that were corrected."),
    count("uncorrectable_errors", "Errors that could not be corrected."),
};
constexpr TableKind kTables[] = {
    {"edac", "/sys/devices/system/edac", "A memory controller.", kColumns},
    {"edac_dimm", "/sys/devices/system/edac", "A memory module, or a rank of one.", kDimmColumns},
    {"edac_csrow", "/sys/devices/system/edac", "A row of memory chips, as older kernels see them.",
     kRowColumns},
};

Value number(const std::string& path, i64 factor = 1) {
  return or_null(scaled(read_fact_number(path), factor));
}

class Edac : public Collector {
 public:
  explicit Edac(const Host& host) : folder_(host.sys + "/devices/system/edac/mc") {}

  Result<std::vector<Table>> sample() override {
    const std::vector<Numbered> controllers = numbered_in(folder_, "mc");
    if (controllers.empty())
      return fail(Code::not_found, "no driver tells the errors of this machine's memory in {}", folder_);
    std::vector<Table> tables;
    for (const TableKind& kind : kTables) tables.emplace_back(kind.name, kind.columns);
    for (const Numbered& mc : controllers) {
      const std::string path = folder_ + "/" + mc.name;
      tables[0].append({mc.number, or_null(read_fact(path + "/mc_name")), number(path + "/size_mb", kMiB),
                        number(path + "/ce_count"), number(path + "/ue_count"),
                        number(path + "/ce_noinfo_count"), number(path + "/ue_noinfo_count")});
      for (const char* kind : {"dimm", "rank"}) append_dimms(tables[1], mc.number, path, kind);
      for (const Numbered& row : numbered_in(path, "csrow"))
        tables[2].append({mc.number, row.number, number(path + "/" + row.name + "/ce_count"),
                          number(path + "/" + row.name + "/ue_count")});
    }
    std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
    return tables;
  }

 private:
  static void append_dimms(Table& table, i64 controller, const std::string& folder, const char* kind) {
    for (const Numbered& dimm : numbered_in(folder, kind)) {
      const std::string path = folder + "/" + dimm.name;
      table.append({controller, std::string_view(dimm.name), or_null(read_fact(path + "/dimm_label")),
                    or_null(read_fact(path + "/dimm_location")), or_null(read_fact(path + "/dimm_mem_type")),
                    number(path + "/size", kMiB), number(path + "/dimm_ce_count"),
                    number(path + "/dimm_ue_count")});
    }
  }

  std::string folder_;
};

}  // namespace

const CollectorKind kEdac = {
    .name = "edac",
    .help = "Errors of memory that were corrected, and those that could not be.",
    .period = 30 * kSecond,  // hundreds of files
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      auto edac = std::make_unique<Edac>(s.host);
      TRY(edac->sample());
      return edac;
    },
};

}  // namespace spotter::collect
