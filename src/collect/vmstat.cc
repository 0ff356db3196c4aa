// vmstat: what the kernel had to do for memory: the counters of /proc/vmstat that explain why programs stood
// still. Documentation/filesystems/proc.rst, admin-guide/mm/transhuge.rst; mm/vmstat.c has all names. Kernels
// have not all of them.
#include "collect/kernel_file.h"
#include "collect/key_values.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr i64 kKiB = 1024;

constexpr KeyField kFields[] = {
    {"pgfault", 1, {"page_faults", Type::integer, Unit::count, Role::counter, "Page faults."}},
    {"pgmajfault",
     1,
     {"major_page_faults", Type::integer, Unit::count, Role::counter,
      "Page faults that had to wait for a disk."}},
    {"pgpgin",
     kKiB,
     {"paged_in_bytes", Type::integer, Unit::bytes, Role::counter, "Read from disks into memory."}},
    {"pgpgout",
     kKiB,
     {"paged_out_bytes", Type::integer, Unit::bytes, Role::counter, "Written from memory to disks."}},
    {"pswpin",
     1,
     {"swapped_in_pages", Type::integer, Unit::count, Role::counter, "Pages read from the swap space."}},
    {"pswpout",
     1,
     {"swapped_out_pages", Type::integer, Unit::count, Role::counter, "Pages written to the swap space."}},
    {"oom_kill",
     1,
     {"oom_kills", Type::integer, Unit::count, Role::counter, "Processes killed for want of memory."}},
    {"allocstall allocstall_dma allocstall_dma32 allocstall_normal allocstall_high allocstall_movable allocstall_device",
     1,
     {"allocation_stalls", Type::integer, Unit::count, Role::counter,
      "Times that a thread had to reclaim memory itself before it got some."}},
    {"compact_stall",
     1,
     {"compaction_stalls", Type::integer, Unit::count, Role::counter,
      "Times that a thread had to compact memory itself for a huge page."}},
    {"compact_fail",
     1,
     {"compaction_failures", Type::integer, Unit::count, Role::counter,
      "Compactions that gave no large enough piece."}},
    {"compact_success",
     1,
     {"compaction_successes", Type::integer, Unit::count, Role::counter,
      "Compactions that gave a large enough piece."}},
    {"compact_migrate_scanned",
     1,
     {"compaction_migrate_scanned_pages", Type::integer, Unit::count, Role::counter,
      "Pages that compaction looked at to move them."}},
    {"pgscan_direct",
     1,
     {"direct_scanned_pages", Type::integer, Unit::count, Role::counter,
      "Pages that stalled threads looked at to reclaim them."}},
    {"pgscan_kswapd",
     1,
     {"kswapd_scanned_pages", Type::integer, Unit::count, Role::counter,
      "Pages that kswapd looked at to reclaim them."}},
    {"pgscan_khugepaged",
     1,
     {"khugepaged_scanned_pages", Type::integer, Unit::count, Role::counter,
      "Pages that khugepaged looked at to reclaim them."}},
    {"pgscan_direct_throttle",
     1,
     {"direct_reclaim_throttles", Type::integer, Unit::count, Role::counter,
      "Times that a thread waited for kswapd."}},
    {"pgsteal_direct",
     1,
     {"direct_reclaimed_pages", Type::integer, Unit::count, Role::counter,
      "Pages that stalled threads reclaimed."}},
    {"pgsteal_kswapd",
     1,
     {"kswapd_reclaimed_pages", Type::integer, Unit::count, Role::counter, "Pages that kswapd reclaimed."}},
    {"pgsteal_khugepaged",
     1,
     {"khugepaged_reclaimed_pages", Type::integer, Unit::count, Role::counter,
      "Pages that khugepaged reclaimed."}},
    {"pageoutrun",
     1,
     {"kswapd_wakeups", Type::integer, Unit::count, Role::counter, "Times that kswapd was woken."}},
    {"kswapd_low_wmark_hit_quickly",
     1,
     {"kswapd_low_watermark_hits", Type::integer, Unit::count, Role::counter,
      "Times that memory ran low again right after kswapd had finished."}},
    {"slabs_scanned",
     1,
     {"slab_scanned_objects", Type::integer, Unit::count, Role::counter,
      "Objects of the kernel that were looked at to reclaim them."}},
    {"zone_reclaim_failed",
     1,
     {"zone_reclaim_failures", Type::integer, Unit::count, Role::counter,
      "Times that nothing could be reclaimed on the preferred NUMA node."}},
    {"workingset_refault_file workingset_refault",
     1,
     {"file_refaults", Type::integer, Unit::count, Role::counter,
      "Pages of files that were read again soon after they were reclaimed."}},
    {"workingset_refault_anon",
     1,
     {"anon_refaults", Type::integer, Unit::count, Role::counter,
      "Pages of no file that were swapped in again soon after they were reclaimed."}},
    {"drop_pagecache",
     1,
     {"page_cache_drops", Type::integer, Unit::count, Role::counter,
      "Times that somebody had all cached contents of files dropped."}},
    {"drop_slab",
     1,
     {"slab_drops", Type::integer, Unit::count, Role::counter,
      "Times that somebody had all caches of the kernel dropped."}},
    {"numa_pages_migrated",
     1,
     {"numa_migrated_pages", Type::integer, Unit::count, Role::counter,
      "Pages moved to the NUMA node that uses them."}},
    {"numa_hint_faults",
     1,
     {"numa_hint_faults", Type::integer, Unit::count, Role::counter,
      "Page faults made to learn which NUMA node uses a page."}},
    {"numa_hint_faults_local",
     1,
     {"numa_hint_faults_local", Type::integer, Unit::count, Role::counter,
      "Those of them by the node that has the page."}},
    {"numa_pte_updates",
     1,
     {"numa_pte_updates", Type::integer, Unit::count, Role::counter, "Pages marked for such faults."}},
    {"pgmigrate_success",
     1,
     {"migrated_pages", Type::integer, Unit::count, Role::counter, "Pages moved in memory."}},
    {"pgmigrate_fail",
     1,
     {"migration_failures", Type::integer, Unit::count, Role::counter,
      "Pages that could not be moved in memory."}},
    {"thp_fault_alloc",
     1,
     {"thp_fault_allocations", Type::integer, Unit::count, Role::counter,
      "Transparent huge pages given at a page fault."}},
    {"thp_fault_fallback",
     1,
     {"thp_fault_fallbacks", Type::integer, Unit::count, Role::counter,
      "Times that there was no huge page at a page fault."}},
    {"thp_collapse_alloc",
     1,
     {"thp_collapse_allocations", Type::integer, Unit::count, Role::counter,
      "Huge pages that khugepaged made of small ones."}},
    {"thp_collapse_alloc_failed",
     1,
     {"thp_collapse_failures", Type::integer, Unit::count, Role::counter,
      "Huge pages that khugepaged could not make for want of memory."}},
    {"thp_split_page",
     1,
     {"thp_splits", Type::integer, Unit::count, Role::counter, "Huge pages that were split."}},
    {"htlb_buddy_alloc_fail",
     1,
     {"hugetlb_allocation_failures", Type::integer, Unit::count, Role::counter,
      "Huge pages that could not be added to the pool."}},
    {"balloon_inflate",
     1,
     {"balloon_inflated_pages", Type::integer, Unit::count, Role::counter,
      "Pages that the hypervisor took back."}},
    {"balloon_deflate",
     1,
     {"balloon_deflated_pages", Type::integer, Unit::count, Role::counter,
      "Pages that the hypervisor gave again."}},
};
constexpr auto kColumns = fields_of(kFields);
constexpr TableKind kTables[] = {
    {"vmstat", "/proc/vmstat", "What the kernel had to do for memory.", kColumns}};

class VmStat : public Collector {
 public:
  explicit VmStat(const Host& host) : file_(host.proc + "/vmstat") {}

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(const std::string_view text, file_.read());
    values_.clear();
    values_.add_lines(text);
    if (values_.empty()) return fail(Code::corrupt, "{} has no line that is known", file_.path());
    std::vector<Table> tables;
    std::vector<Value> row;
    values_.append_to(row);
    tables.emplace_back("vmstat", kColumns).append(row);
    return tables;
  }

 private:
  KernelFile file_;
  KeyValues values_{kFields};
};

}  // namespace

const CollectorKind kVmStat = {
    "vmstat",
    "What the kernel had to do for memory: faults, reclaim, compaction, migration.",
    kSecond,
    false,
    true,
    kTables,
    [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<VmStat>(s.host);
    },
};

}  // namespace spotter::collect
