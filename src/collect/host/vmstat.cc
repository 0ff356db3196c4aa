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

constexpr KeyField counter(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::count, Role::counter, help}};
}
constexpr KeyField bytes(const char* keys, const char* column, const char* help) {
  return {keys, kKiB, {column, Type::integer, Unit::bytes, Role::counter, help}};
}

constexpr KeyField kFields[] = {
    counter("pgfault", "page_faults", "Page faults."),
    counter("pgmajfault", "major_page_faults", "Page faults that had to wait for a disk."),
    bytes("pgpgin", "paged_in_bytes", "Read from disks into memory."),
    bytes("pgpgout", "paged_out_bytes", "Written from memory to disks."),
    counter("pswpin", "swapped_in_pages", "Pages read from the swap space."),
    counter("pswpout", "swapped_out_pages", "Pages written to the swap space."),
    counter("oom_kill", "oom_kills", "Processes killed for want of memory."),
    counter(
        "allocstall allocstall_dma allocstall_dma32 allocstall_normal allocstall_high allocstall_movable allocstall_device",
        "allocation_stalls", "Times that a thread had to reclaim memory itself before it got some."),
    counter("compact_stall", "compaction_stalls",
            "Times that a thread had to compact memory itself for a huge page."),
    counter("compact_fail", "compaction_failures", "Compactions that gave no large enough piece."),
    counter("compact_success", "compaction_successes", "Compactions that gave a large enough piece."),
    counter("compact_migrate_scanned", "compaction_migrate_scanned_pages",
            "Pages that compaction looked at to move them."),
    counter("pgscan_direct", "direct_scanned_pages", "Pages that stalled threads looked at to reclaim them."),
    counter("pgscan_kswapd", "kswapd_scanned_pages", "Pages that kswapd looked at to reclaim them."),
    counter("pgscan_khugepaged", "khugepaged_scanned_pages",
            "Pages that khugepaged looked at to reclaim them."),
    counter("pgscan_direct_throttle", "direct_reclaim_throttles", "Times that a thread waited for kswapd."),
    counter("pgsteal_direct", "direct_reclaimed_pages", "Pages that stalled threads reclaimed."),
    counter("pgsteal_kswapd", "kswapd_reclaimed_pages", "Pages that kswapd reclaimed."),
    counter("pgsteal_khugepaged", "khugepaged_reclaimed_pages", "Pages that khugepaged reclaimed."),
    counter("pageoutrun", "kswapd_wakeups", "Times that kswapd was woken."),
    counter("kswapd_low_wmark_hit_quickly", "kswapd_low_watermark_hits",
            "Times that memory ran low again right after kswapd had finished."),
    counter("slabs_scanned", "slab_scanned_objects",
            "Objects of the kernel that were looked at to reclaim them."),
    counter("zone_reclaim_failed", "zone_reclaim_failures",
            "Times that nothing could be reclaimed on the preferred NUMA node."),
    counter("workingset_refault_file workingset_refault", "file_refaults",
            "Pages of files that were read again soon after they were reclaimed."),
    counter("workingset_refault_anon", "anon_refaults",
            "Pages of no file that were swapped in again soon after they were reclaimed."),
    counter("drop_pagecache", "page_cache_drops",
            "Times that somebody had all cached contents of files dropped."),
    counter("drop_slab", "slab_drops", "Times that somebody had all caches of the kernel dropped."),
    counter("numa_pages_migrated", "numa_migrated_pages", "Pages moved to the NUMA node that uses them."),
    counter("numa_hint_faults", "numa_hint_faults", "Page faults made to learn which NUMA node uses a page."),
    counter("numa_hint_faults_local", "numa_hint_faults_local",
            "Those of them by the node that has the page."),
    counter("numa_pte_updates", "numa_pte_updates", "Pages marked for such faults."),
    counter("pgmigrate_success", "migrated_pages", "Pages moved in memory."),
    counter("pgmigrate_fail", "migration_failures", "Pages that could not be moved in memory."),
    counter("thp_fault_alloc", "thp_fault_allocations", "Transparent huge pages given at a page fault."),
    counter("thp_fault_fallback", "thp_fault_fallbacks",
            "Times that there was no huge page at a page fault."),
    counter("thp_collapse_alloc", "thp_collapse_allocations",
            "Huge pages that khugepaged made of small ones."),
    counter("thp_collapse_alloc_failed", "thp_collapse_failures",
            "Huge pages that khugepaged could not make for want of memory."),
    counter("thp_split_page", "thp_splits", "Huge pages that were split."),
    counter("htlb_buddy_alloc_fail", "hugetlb_allocation_failures",
            "Huge pages that could not be added to the pool."),
    counter("balloon_inflate", "balloon_inflated_pages", "Pages that the hypervisor took back."),
    counter("balloon_deflate", "balloon_deflated_pages", "Pages that the hypervisor gave again."),
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
    .name = "vmstat",
    .help = "What the kernel had to do for memory: faults, reclaim, compaction, migration.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<VmStat>(s.host);
    },
};

}  // namespace spotter::collect
