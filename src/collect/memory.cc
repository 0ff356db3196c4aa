// memory: what the machine's memory is used for, and that of each NUMA node. /proc/meminfo,
// Documentation/filesystems/proc.rst; /sys/devices/system/node/node*/{meminfo,numastat},
// Documentation/admin-guide/numastat.rst.
#include <algorithm>

#include "base/file.h"
#include "collect/kernel_file.h"
#include "collect/key_values.h"
#include "collect/list.h"
#include "collect/values.h"
#include "collect/words.h"

namespace spotter::collect {
namespace {

constexpr i64 kKiB = 1024;  // "kB" in these files

constexpr KeyField kFields[] = {
    {"MemTotal:",
     kKiB,
     {"total_bytes", Type::integer, Unit::bytes, Role::value, "Memory that the kernel can use."}},
    {"MemFree:", kKiB, {"free_bytes", Type::integer, Unit::bytes, Role::value, "Memory that nobody uses."}},
    {"MemAvailable:",
     kKiB,
     {"available_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that new programs could have without swapping, as the kernel estimates."}},
    {"Buffers:",
     kKiB,
     {"buffers_bytes", Type::integer, Unit::bytes, Role::value, "Blocks of devices in memory."}},
    {"Cached:",
     kKiB,
     {"cached_bytes", Type::integer, Unit::bytes, Role::value,
      "Contents of files in memory, with shmem, without swap_cached."}},
    {"SwapCached:",
     kKiB,
     {"swap_cached_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that is in the swap space, too."}},
    {"Active:",
     kKiB,
     {"active_bytes", Type::integer, Unit::bytes, Role::value, "Memory that was used lately."}},
    {"Inactive:",
     kKiB,
     {"inactive_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that was not used lately; reclaimed first."}},
    {"Active(anon):",
     kKiB,
     {"active_anon_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory of no file that was used lately."}},
    {"Inactive(anon):",
     kKiB,
     {"inactive_anon_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory of no file that was not used lately."}},
    {"Active(file):",
     kKiB,
     {"active_file_bytes", Type::integer, Unit::bytes, Role::value,
      "Contents of files that were used lately."}},
    {"Inactive(file):",
     kKiB,
     {"inactive_file_bytes", Type::integer, Unit::bytes, Role::value,
      "Contents of files that were not used lately."}},
    {"Unevictable:",
     kKiB,
     {"unevictable_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that cannot be reclaimed, such as locked memory."}},
    {"Mlocked:",
     kKiB,
     {"mlocked_bytes", Type::integer, Unit::bytes, Role::value, "Memory that was locked with mlock()."}},
    {"SwapTotal:", kKiB, {"swap_total_bytes", Type::integer, Unit::bytes, Role::value, "Swap space."}},
    {"SwapFree:",
     kKiB,
     {"swap_free_bytes", Type::integer, Unit::bytes, Role::value, "Swap space that nobody uses."}},
    {"Zswap:",
     kKiB,
     {"zswap_bytes", Type::integer, Unit::bytes, Role::value, "Memory that holds compressed swap."}},
    {"Zswapped:",
     kKiB,
     {"zswapped_bytes", Type::integer, Unit::bytes, Role::value,
      "What zswap holds, before its compression."}},
    {"Dirty:",
     kKiB,
     {"dirty_bytes", Type::integer, Unit::bytes, Role::value, "Memory that waits to be written to disks."}},
    {"Writeback:",
     kKiB,
     {"writeback_bytes", Type::integer, Unit::bytes, Role::value, "Memory that is being written to disks."}},
    {"AnonPages:",
     kKiB,
     {"anon_bytes", Type::integer, Unit::bytes, Role::value, "Memory of no file that programs have mapped."}},
    {"Mapped:",
     kKiB,
     {"mapped_bytes", Type::integer, Unit::bytes, Role::value,
      "Contents of files that programs have mapped."}},
    {"Shmem:", kKiB, {"shmem_bytes", Type::integer, Unit::bytes, Role::value, "Shared memory and tmpfs."}},
    {"KReclaimable:",
     kKiB,
     {"kernel_reclaimable_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory of the kernel that it would give back under pressure."}},
    {"Slab:", kKiB, {"slab_bytes", Type::integer, Unit::bytes, Role::value, "The kernel's data structures."}},
    {"SReclaimable:",
     kKiB,
     {"slab_reclaimable_bytes", Type::integer, Unit::bytes, Role::value,
      "Part of slab that can be reclaimed, such as caches."}},
    {"SUnreclaim:",
     kKiB,
     {"slab_unreclaimable_bytes", Type::integer, Unit::bytes, Role::value,
      "Part of slab that cannot be reclaimed."}},
    {"KernelStack:",
     kKiB,
     {"kernel_stack_bytes", Type::integer, Unit::bytes, Role::value, "The kernel's stacks of all threads."}},
    {"PageTables:", kKiB, {"page_tables_bytes", Type::integer, Unit::bytes, Role::value, "Page tables."}},
    {"SecPageTables:",
     kKiB,
     {"secondary_page_tables_bytes", Type::integer, Unit::bytes, Role::value,
      "Page tables of virtual machines and of the IOMMU."}},
    {"Bounce:",
     kKiB,
     {"bounce_bytes", Type::integer, Unit::bytes, Role::value, "Bounce buffers of block devices."}},
    {"WritebackTmp:",
     kKiB,
     {"writeback_tmp_bytes", Type::integer, Unit::bytes, Role::value,
      "Temporary memory of FUSE for what it writes."}},
    {"CommitLimit:",
     kKiB,
     {"commit_limit_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that could be committed, where overcommitting is strictly limited."}},
    {"Committed_AS:",
     kKiB,
     {"committed_bytes", Type::integer, Unit::bytes, Role::value, "Memory that was promised to programs."}},
    {"VmallocUsed:",
     kKiB,
     {"vmalloc_used_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that the kernel has mapped page by page."}},
    {"Percpu:",
     kKiB,
     {"percpu_bytes", Type::integer, Unit::bytes, Role::value, "The kernel's memory for each processor."}},
    {"HardwareCorrupted:",
     kKiB,
     {"hardware_corrupted_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory with errors that was taken out of use."}},
    {"AnonHugePages:",
     kKiB,
     {"anon_huge_pages_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory of no file in transparent huge pages."}},
    {"ShmemHugePages:",
     kKiB,
     {"shmem_huge_pages_bytes", Type::integer, Unit::bytes, Role::value,
      "Shared memory and tmpfs in huge pages."}},
    {"FileHugePages:",
     kKiB,
     {"file_huge_pages_bytes", Type::integer, Unit::bytes, Role::value, "Contents of files in huge pages."}},
    {"CmaTotal:",
     kKiB,
     {"cma_total_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory set aside for contiguous allocations."}},
    {"CmaFree:",
     kKiB,
     {"cma_free_bytes", Type::integer, Unit::bytes, Role::value, "Part of it that is free."}},
    {"Unaccepted:",
     kKiB,
     {"unaccepted_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that a confidential virtual machine has not accepted yet."}},
    {"Balloon:",
     kKiB,
     {"balloon_bytes", Type::integer, Unit::bytes, Role::value, "Memory that the hypervisor took back."}},
    {"HugePages_Total:",
     1,
     {"hugepages_total", Type::integer, Unit::count, Role::value,
      "Huge pages in the pool of the default size."}},
    {"HugePages_Free:",
     1,
     {"hugepages_free", Type::integer, Unit::count, Role::value, "Huge pages of the pool that nobody uses."}},
    {"HugePages_Rsvd:",
     1,
     {"hugepages_reserved", Type::integer, Unit::count, Role::value, "Free huge pages that are promised."}},
    {"HugePages_Surp:",
     1,
     {"hugepages_surplus", Type::integer, Unit::count, Role::value,
      "Huge pages above the size of the pool."}},
    {"Hugepagesize:",
     kKiB,
     {"hugepage_size_bytes", Type::integer, Unit::bytes, Role::value, "Size of a huge page of the pool."}},
    {"Hugetlb:",
     kKiB,
     {"hugetlb_bytes", Type::integer, Unit::bytes, Role::value, "Memory in huge pages of all sizes."}},
    {"DirectMap4k:",
     kKiB,
     {"direct_map_4k_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that the kernel maps in pages of 4 KiB."}},
    {"DirectMap2M:",
     kKiB,
     {"direct_map_2m_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that the kernel maps in pages of 2 MiB."}},
    {"DirectMap1G:",
     kKiB,
     {"direct_map_1g_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that the kernel maps in pages of 1 GiB."}},
};

constexpr KeyField kNodeFields[] = {
    {"MemTotal:",
     kKiB,
     {"total_bytes", Type::integer, Unit::bytes, Role::value, "Memory that the kernel can use."}},
    {"MemFree:", kKiB, {"free_bytes", Type::integer, Unit::bytes, Role::value, "Memory that nobody uses."}},
    {"MemUsed:", kKiB, {"used_bytes", Type::integer, Unit::bytes, Role::value, "Memory that is not free."}},
    {"Active:",
     kKiB,
     {"active_bytes", Type::integer, Unit::bytes, Role::value, "Memory that was used lately."}},
    {"Inactive:",
     kKiB,
     {"inactive_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that was not used lately; reclaimed first."}},
    {"FilePages:",
     kKiB,
     {"file_bytes", Type::integer, Unit::bytes, Role::value, "Contents of files in memory, with shmem."}},
    {"Unevictable:",
     kKiB,
     {"unevictable_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory that cannot be reclaimed, such as locked memory."}},
    {"Mlocked:",
     kKiB,
     {"mlocked_bytes", Type::integer, Unit::bytes, Role::value, "Memory that was locked with mlock()."}},
    {"Dirty:",
     kKiB,
     {"dirty_bytes", Type::integer, Unit::bytes, Role::value, "Memory that waits to be written to disks."}},
    {"Writeback:",
     kKiB,
     {"writeback_bytes", Type::integer, Unit::bytes, Role::value, "Memory that is being written to disks."}},
    {"AnonPages:",
     kKiB,
     {"anon_bytes", Type::integer, Unit::bytes, Role::value, "Memory of no file that programs have mapped."}},
    {"Mapped:",
     kKiB,
     {"mapped_bytes", Type::integer, Unit::bytes, Role::value,
      "Contents of files that programs have mapped."}},
    {"Shmem:", kKiB, {"shmem_bytes", Type::integer, Unit::bytes, Role::value, "Shared memory and tmpfs."}},
    {"Slab:", kKiB, {"slab_bytes", Type::integer, Unit::bytes, Role::value, "The kernel's data structures."}},
    {"SReclaimable:",
     kKiB,
     {"slab_reclaimable_bytes", Type::integer, Unit::bytes, Role::value,
      "Part of slab that can be reclaimed, such as caches."}},
    {"SUnreclaim:",
     kKiB,
     {"slab_unreclaimable_bytes", Type::integer, Unit::bytes, Role::value,
      "Part of slab that cannot be reclaimed."}},
    {"KernelStack:",
     kKiB,
     {"kernel_stack_bytes", Type::integer, Unit::bytes, Role::value, "The kernel's stacks of all threads."}},
    {"PageTables:", kKiB, {"page_tables_bytes", Type::integer, Unit::bytes, Role::value, "Page tables."}},
    {"AnonHugePages:",
     kKiB,
     {"anon_huge_pages_bytes", Type::integer, Unit::bytes, Role::value,
      "Memory of no file in transparent huge pages."}},
    {"HugePages_Total:",
     1,
     {"hugepages_total", Type::integer, Unit::count, Role::value,
      "Huge pages in the pool of the default size."}},
    {"HugePages_Free:",
     1,
     {"hugepages_free", Type::integer, Unit::count, Role::value, "Huge pages of the pool that nobody uses."}},
    {"HugePages_Surp:",
     1,
     {"hugepages_surplus", Type::integer, Unit::count, Role::value,
      "Huge pages above the size of the pool."}},
    {"numa_hit",
     1,
     {"numa_hits", Type::integer, Unit::count, Role::counter,
      "Pages that were wanted from this node and came from it."}},
    {"numa_miss",
     1,
     {"numa_misses", Type::integer, Unit::count, Role::counter,
      "Pages that came from this node, though another one was preferred."}},
    {"numa_foreign",
     1,
     {"numa_foreign", Type::integer, Unit::count, Role::counter,
      "Pages that were wanted from this node and came from another one."}},
    {"interleave_hit",
     1,
     {"numa_interleave_hits", Type::integer, Unit::count, Role::counter,
      "Pages of an interleaved policy that came from this node as wanted."}},
    {"local_node",
     1,
     {"numa_local", Type::integer, Unit::count, Role::counter,
      "Pages that came from this node to a processor of it."}},
    {"other_node",
     1,
     {"numa_other", Type::integer, Unit::count, Role::counter,
      "Pages that came from this node to a processor of another one."}},
};

constexpr auto kMemoryColumns = fields_of(kFields);
constexpr auto kNodeColumns = [] {
  constexpr auto kKeyed = fields_of(kNodeFields);
  std::array<Field, 1 + kKeyed.size()> columns{
      Field{"node", Type::integer, Unit::none, Role::key, "NUMA node."}};
  std::ranges::copy(kKeyed, columns.begin() + 1);
  return columns;
}();

constexpr TableKind kTables[] = {
    {"memory", "/proc/meminfo", "The machine's memory.", kMemoryColumns},
    {"memory_node", "/sys/devices/system/node", "The memory of a NUMA node; only where there are several.",
     kNodeColumns},
};

// Lines "MemTotal:  16303476 kB" and "HugePages_Total:  0"; those of a node begin with "Node 0".
void read_meminfo(std::string_view text, KeyValues& values) {
  text = whole_lines(text);
  while (!text.empty()) {
    std::string_view line = next_line(text);
    std::string_view key = next_word(line);
    if (key == "Node") {
      next_word(line);
      key = next_word(line);
    }
    const std::optional<i64> value = to_integer(next_word(line));
    const std::string_view unit = next_word(line);
    values.add(key, unit.empty() || unit == "kB" ? value : std::nullopt);
  }
}

class Memory : public Collector {
 public:
  explicit Memory(const Host& host) : meminfo_(host.proc + "/meminfo") {
    const std::string folder = host.sys + "/devices/system/node";
    for (const std::string& name : names_in(folder)) {
      if (!name.starts_with("node")) continue;
      const auto number = to_integer(std::string_view(name).substr(4));
      if (!number || *number < 0) continue;
      const std::string path = folder + "/" + name;
      nodes_.push_back({*number, KernelFile(path + "/meminfo"), KernelFile(path + "/numastat")});
    }
    std::ranges::sort(nodes_, {}, &Node::number);
    if (nodes_.size() == 1) nodes_.clear();
  }

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(const std::string_view text, meminfo_.read());
    memory_.clear();
    read_meminfo(text, memory_);
    if (memory_.empty()) return fail(Code::corrupt, "{} has no line that is known", meminfo_.path());
    std::vector<Table> tables;
    std::vector<Value> row;
    memory_.append_to(row);
    tables.emplace_back("memory", kMemoryColumns).append(row);
    if (nodes_.empty()) return tables;
    Table& nodes = tables.emplace_back("memory_node", kNodeColumns);
    for (Node& node : nodes_) {
      node_.clear();
      read_meminfo(node.meminfo.read().value_or(""), node_);
      node_.add_lines(node.numastat.read().value_or(""));
      if (node_.empty()) continue;
      row.assign(1, node.number);
      node_.append_to(row);
      nodes.append(row);
    }
    return tables;
  }

 private:
  struct Node {
    i64 number;
    KernelFile meminfo, numastat;
  };
  KernelFile meminfo_;
  std::vector<Node> nodes_;  // none where there is only one
  KeyValues memory_{kFields}, node_{kNodeFields};
};

}  // namespace

const CollectorKind kMemory = {
    "memory",
    "What memory is used for.",
    kSecond,
    false,
    true,
    kTables,
    [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Memory>(s.host);
    },
};

}  // namespace spotter::collect
