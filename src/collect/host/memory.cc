// memory: what the machine's memory is used for, and that of each NUMA node. /proc/meminfo,
// Documentation/filesystems/proc.rst; /sys/devices/system/node/node*/{meminfo,numastat},
// Documentation/admin-guide/numastat.rst.
#include <algorithm>

#include "base/system/file.h"
#include "base/text/words.h"
#include "collect/kernel_file.h"
#include "collect/key_values.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr i64 kKiB = 1024;  // "kB" in these files

constexpr KeyField bytes(const char* keys, const char* column, const char* help) {
  return {keys, kKiB, {column, Type::integer, Unit::bytes, Role::value, help}};
}
constexpr KeyField pages(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::count, Role::value, help}};
}
constexpr KeyField counter(const char* keys, const char* column, const char* help) {
  return {keys, 1, {column, Type::integer, Unit::count, Role::counter, help}};
}

constexpr KeyField kFields[] = {
    bytes("MemTotal:", "total_bytes", "Memory that the kernel can use."),
    bytes("MemFree:", "free_bytes", "Memory that nobody uses."),
    bytes("MemAvailable:", "available_bytes",
          "Memory that new programs could have without swapping, as the kernel estimates."),
    bytes("Buffers:", "buffers_bytes", "Blocks of devices in memory."),
    bytes("Cached:", "cached_bytes", "Contents of files in memory, with shmem, without swap_cached."),
    bytes("SwapCached:", "swap_cached_bytes", "Memory that is in the swap space, too."),
    bytes("Active:", "active_bytes", "Memory that was used lately."),
    bytes("Inactive:", "inactive_bytes", "Memory that was not used lately; reclaimed first."),
    bytes("Active(anon):", "active_anon_bytes", "Memory of no file that was used lately."),
    bytes("Inactive(anon):", "inactive_anon_bytes", "Memory of no file that was not used lately."),
    bytes("Active(file):", "active_file_bytes", "Contents of files that were used lately."),
    bytes("Inactive(file):", "inactive_file_bytes", "Contents of files that were not used lately."),
    bytes("Unevictable:", "unevictable_bytes", "Memory that cannot be reclaimed, such as locked memory."),
    bytes("Mlocked:", "mlocked_bytes", "Memory that was locked with mlock()."),
    bytes("SwapTotal:", "swap_total_bytes", "Swap space."),
    bytes("SwapFree:", "swap_free_bytes", "Swap space that nobody uses."),
    bytes("Zswap:", "zswap_bytes", "Memory that holds compressed swap."),
    bytes("Zswapped:", "zswapped_bytes", "What zswap holds, before its compression."),
    bytes("Dirty:", "dirty_bytes", "Memory that waits to be written to disks."),
    bytes("Writeback:", "writeback_bytes", "Memory that is being written to disks."),
    bytes("AnonPages:", "anon_bytes", "Memory of no file that programs have mapped."),
    bytes("Mapped:", "mapped_bytes", "Contents of files that programs have mapped."),
    bytes("Shmem:", "shmem_bytes", "Shared memory and tmpfs."),
    bytes("KReclaimable:", "kernel_reclaimable_bytes",
          "Memory of the kernel that it would give back under pressure."),
    bytes("Slab:", "slab_bytes", "The kernel's data structures."),
    bytes("SReclaimable:", "slab_reclaimable_bytes", "Part of slab that can be reclaimed, such as caches."),
    bytes("SUnreclaim:", "slab_unreclaimable_bytes", "Part of slab that cannot be reclaimed."),
    bytes("KernelStack:", "kernel_stack_bytes", "The kernel's stacks of all threads."),
    bytes("PageTables:", "page_tables_bytes", "Page tables."),
    bytes("SecPageTables:", "secondary_page_tables_bytes",
          "Page tables of virtual machines and of the IOMMU."),
    bytes("Bounce:", "bounce_bytes", "Bounce buffers of block devices."),
    bytes("WritebackTmp:", "writeback_tmp_bytes", "Temporary memory of FUSE for what it writes."),
    bytes("CommitLimit:", "commit_limit_bytes",
          "Memory that could be committed, where overcommitting is strictly limited."),
    bytes("Committed_AS:", "committed_bytes", "Memory that was promised to programs."),
    bytes("VmallocUsed:", "vmalloc_used_bytes", "Memory that the kernel has mapped page by page."),
    bytes("Percpu:", "percpu_bytes", "The kernel's memory for each processor."),
    bytes("HardwareCorrupted:", "hardware_corrupted_bytes", "Memory with errors that was taken out of use."),
    bytes("AnonHugePages:", "anon_huge_pages_bytes", "Memory of no file in transparent huge pages."),
    bytes("ShmemHugePages:", "shmem_huge_pages_bytes", "Shared memory and tmpfs in huge pages."),
    bytes("FileHugePages:", "file_huge_pages_bytes", "Contents of files in huge pages."),
    bytes("CmaTotal:", "cma_total_bytes", "Memory set aside for contiguous allocations."),
    bytes("CmaFree:", "cma_free_bytes", "Part of it that is free."),
    bytes("Unaccepted:", "unaccepted_bytes",
          "Memory that a confidential virtual machine has not accepted yet."),
    bytes("Balloon:", "balloon_bytes", "Memory that the hypervisor took back."),
    pages("HugePages_Total:", "hugepages_total", "Huge pages in the pool of the default size."),
    pages("HugePages_Free:", "hugepages_free", "Huge pages of the pool that nobody uses."),
    pages("HugePages_Rsvd:", "hugepages_reserved", "Free huge pages that are promised."),
    pages("HugePages_Surp:", "hugepages_surplus", "Huge pages above the size of the pool."),
    bytes("Hugepagesize:", "hugepage_size_bytes", "Size of a huge page of the pool."),
    bytes("Hugetlb:", "hugetlb_bytes", "Memory in huge pages of all sizes."),
    bytes("DirectMap4k:", "direct_map_4k_bytes", "Memory that the kernel maps in pages of 4 KiB."),
    bytes("DirectMap2M:", "direct_map_2m_bytes", "Memory that the kernel maps in pages of 2 MiB."),
    bytes("DirectMap1G:", "direct_map_1g_bytes", "Memory that the kernel maps in pages of 1 GiB."),
};

constexpr KeyField kNodeFields[] = {
    bytes("MemTotal:", "total_bytes", "Memory that the kernel can use."),
    bytes("MemFree:", "free_bytes", "Memory that nobody uses."),
    bytes("MemUsed:", "used_bytes", "Memory that is not free."),
    bytes("Active:", "active_bytes", "Memory that was used lately."),
    bytes("Inactive:", "inactive_bytes", "Memory that was not used lately; reclaimed first."),
    bytes("FilePages:", "file_bytes", "Contents of files in memory, with shmem."),
    bytes("Unevictable:", "unevictable_bytes", "Memory that cannot be reclaimed, such as locked memory."),
    bytes("Mlocked:", "mlocked_bytes", "Memory that was locked with mlock()."),
    bytes("Dirty:", "dirty_bytes", "Memory that waits to be written to disks."),
    bytes("Writeback:", "writeback_bytes", "Memory that is being written to disks."),
    bytes("AnonPages:", "anon_bytes", "Memory of no file that programs have mapped."),
    bytes("Mapped:", "mapped_bytes", "Contents of files that programs have mapped."),
    bytes("Shmem:", "shmem_bytes", "Shared memory and tmpfs."),
    bytes("Slab:", "slab_bytes", "The kernel's data structures."),
    bytes("SReclaimable:", "slab_reclaimable_bytes", "Part of slab that can be reclaimed, such as caches."),
    bytes("SUnreclaim:", "slab_unreclaimable_bytes", "Part of slab that cannot be reclaimed."),
    bytes("KernelStack:", "kernel_stack_bytes", "The kernel's stacks of all threads."),
    bytes("PageTables:", "page_tables_bytes", "Page tables."),
    bytes("AnonHugePages:", "anon_huge_pages_bytes", "Memory of no file in transparent huge pages."),
    pages("HugePages_Total:", "hugepages_total", "Huge pages in the pool of the default size."),
    pages("HugePages_Free:", "hugepages_free", "Huge pages of the pool that nobody uses."),
    pages("HugePages_Surp:", "hugepages_surplus", "Huge pages above the size of the pool."),
    counter("numa_hit", "numa_hits", "Pages that were wanted from this node and came from it."),
    counter("numa_miss", "numa_misses", "Pages that came from this node, though another one was preferred."),
    counter("numa_foreign", "numa_foreign",
            "Pages that were wanted from this node and came from another one."),
    counter("interleave_hit", "numa_interleave_hits",
            "Pages of an interleaved policy that came from this node as wanted."),
    counter("local_node", "numa_local", "Pages that came from this node to a processor of it."),
    counter("other_node", "numa_other", "Pages that came from this node to a processor of another one."),
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
    const std::string_view number = next_word(line), unit = next_word(line);
    values.add(key, unit.empty() || unit == "kB" ? number : std::string_view());
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
    .name = "memory",
    .help = "What memory is used for.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Memory>(s.host);
    },
};

}  // namespace spotter::collect
