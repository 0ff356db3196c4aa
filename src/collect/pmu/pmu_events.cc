#include "collect/pmu/pmu_events.h"

namespace spotter::collect {
namespace {

using enum PmuColumn;

constexpr PmuEvent hardware(PmuColumn column, u64 config) {
  return {.terms = {{{column, 1}}}, .type = PERF_TYPE_HARDWARE, .config = config};
}
constexpr PmuEvent software(PmuColumn column, u64 config) {
  return {.terms = {{{column, 1}}}, .type = PERF_TYPE_SOFTWARE, .config = config};
}
// Misses of a cache as the kernel names them: cache, operation, result.
constexpr PmuEvent cache(PmuColumn column, u64 level, u64 operation) {
  return {.terms = {{{column, 1}}},
          .type = PERF_TYPE_HW_CACHE,
          .config = level | operation << 8 | u64{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16};
}
constexpr PmuEvent raw(PmuColumn column, u64 config, const char* name = nullptr) {
  return {.terms = {{{column, 1}}}, .name = name, .config = config};
}
constexpr PmuEvent alias(PmuColumn column, const char* name, i64 weight = 1) {
  return {.terms = {{{column, weight}}}, .alias = name};
}

constexpr PmuEvent kCycles = hardware(cycles, PERF_COUNT_HW_CPU_CYCLES);
constexpr PmuEvent kInstructions = hardware(instructions, PERF_COUNT_HW_INSTRUCTIONS);
constexpr PmuEvent kRefCycles = hardware(ref_cycles, PERF_COUNT_HW_REF_CPU_CYCLES);

// Intel. Three counters are fixed (cycles, instructions, reference cycles), and a fourth for slots; of the
// others a thread has 4 where two share a core, and 8 since Ice Lake. So no group has more than 3 of these,
// which leaves one for the kernel's watchdog.
constexpr PmuEvent kIntelCore[] = {kCycles, kInstructions, kRefCycles,
                                   raw(branch_misses, 0xc5, "BR_MISP_RETIRED:ALL_BRANCHES"),
                                   raw(llc_misses, 0x412e, "LONGEST_LAT_CACHE:MISS")};
// The fraction of slots that each kind took, of the PMU's metrics register: the kernel makes slots of it.
constexpr PmuEvent kIntelTopDown[] = {alias(slots, "slots"), alias(retiring_slots, "topdown-retiring"),
                                      alias(bad_speculation_slots, "topdown-bad-spec"),
                                      alias(frontend_bound_slots, "topdown-fe-bound"),
                                      alias(backend_bound_slots, "topdown-be-bound")};
constexpr PmuEvent kSprCaches[] = {raw(l1d_misses, 0x151, "L1D:REPLACEMENT"),
                                   raw(l2_misses, 0x1f25, "L2_LINES_IN:ALL"),
                                   raw(itlb_misses, 0xe11, "ITLB_MISSES:WALK_COMPLETED")};
constexpr PmuEvent kSprTlb[] = {raw(dtlb_misses, 0xe12, "DTLB_LOAD_MISSES:WALK_COMPLETED"),
                                raw(dtlb_misses, 0xe13, "DTLB_STORE_MISSES:WALK_COMPLETED")};
constexpr PmuEvent kSkxCaches[] = {raw(l1d_misses, 0x151, "L1D:REPLACEMENT"),
                                   raw(l2_misses, 0x1ff1, "L2_LINES_IN:ALL"),
                                   raw(itlb_misses, 0xe85, "ITLB_MISSES:WALK_COMPLETED")};
constexpr PmuEvent kSkxTlb[] = {raw(dtlb_misses, 0xe08, "DTLB_LOAD_MISSES:WALK_COMPLETED"),
                                raw(dtlb_misses, 0xe49, "DTLB_STORE_MISSES:WALK_COMPLETED")};
constexpr PmuEvent kBdxCaches[] = {raw(l1d_misses, 0x151, "L1D:REPLACEMENT"),
                                   raw(l2_misses, 0x7f1, "L2_LINES_IN:ALL"),
                                   raw(itlb_misses, 0xe85, "ITLB_MISSES:WALK_COMPLETED")};
constexpr PmuGroup kSpr[] = {
    {"core", kIntelCore}, {"caches", kSprCaches}, {"tlb", kSprTlb}, {"topdown", kIntelTopDown}};
constexpr PmuGroup kIcx[] = {
    {"core", kIntelCore}, {"caches", kSkxCaches}, {"tlb", kSkxTlb}, {"topdown", kIntelTopDown}};
constexpr PmuGroup kSkx[] = {{"core", kIntelCore}, {"caches", kSkxCaches}, {"tlb", kSkxTlb}};
constexpr PmuGroup kBdx[] = {{"core", kIntelCore}, {"caches", kBdxCaches}, {"tlb", kSkxTlb}};
constexpr PmuGroup kSrf[] = {{"core", kIntelCore}, {"tlb", kSkxTlb}, {"topdown", kIntelTopDown}};
constexpr PmuRange kSprModels[] = {{143, 143}, {207, 207}, {173, 174}};  // and Emerald, Granite Rapids
constexpr PmuRange kIcxModels[] = {{106, 106}, {108, 108}};
constexpr PmuRange kSkxModels[] = {{85, 85}};  // and Cascade, Cooper Lake
constexpr PmuRange kBdxModels[] = {{79, 79}, {86, 86}};
constexpr PmuRange kSrfModels[] = {{175, 175}};

// AMD. A thread has 6 counters, and the watchdog takes one of them.
constexpr PmuEvent kZenBranches = raw(branch_misses, 0xc3, "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED");
constexpr PmuEvent kZenL2 =
    raw(l2_misses, 0x964, "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:IC_FILL_MISS:LS_RD_BLK_C");
constexpr PmuEvent kZenDtlb =
    raw(dtlb_misses, 0xf045,
        "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS:"
        "TLB_RELOAD_COALESCED_PAGE_MISS");
constexpr PmuEvent kZenCore[] = {kCycles, kInstructions, kZenBranches, kZenL2};
constexpr PmuEvent kZen2Tlb[] = {kZenDtlb, raw(itlb_misses, 0x785)};
constexpr PmuEvent kZen4Tlb[] = {
    raw(l1d_misses, 0xff44),  // fills from all sources
    kZenDtlb, raw(itlb_misses, 0xf85, "L1_ITLB_MISS_L2_ITLB_MISS:COALESCED4K:IF1G:IF2M:IF4K")};
// Slots are those of dispatch: 6 a cycle, and 8 of Zen 5. What was dispatched and not retired was in vain.
constexpr PmuEvent slots_of(i64 width) {
  return {.terms = {{{slots, width}}}, .name = "CYCLES_NOT_IN_HALT", .config = 0x76};
}
constexpr PmuEvent kZenFrontend = raw(frontend_bound_slots, 0x1000001a0, "DISPATCH_STALLS_1:FE_NO_OPS");
constexpr PmuEvent kZenBackend = raw(backend_bound_slots, 0x100001ea0, "DISPATCH_STALLS_1:BE_STALLS");
constexpr PmuEvent kZenContention = raw(smt_contention_slots, 0x1000060a0);
constexpr PmuEvent kZen4Stalls[] = {slots_of(6), kZenFrontend, kZenBackend, kZenContention};
constexpr PmuEvent kZen5Stalls[] = {slots_of(8), kZenFrontend, kZenBackend, kZenContention};
constexpr PmuEvent kZenOps[] = {
    raw(bad_speculation_slots, 0x7aa),  // dispatched
    {.terms = {{{retiring_slots, 1}, {bad_speculation_slots, -1}}}, .name = "RETIRED_OPS", .config = 0xc1}};
constexpr PmuGroup kZen2[] = {{"core", kZenCore}, {"tlb", kZen2Tlb}};
constexpr PmuGroup kZen3[] = {{"core", kZenCore}, {"tlb", kZen4Tlb}};
constexpr PmuGroup kZen4[] = {
    {"core", kZenCore}, {"tlb", kZen4Tlb}, {"topdown", kZen4Stalls}, {"topdown", kZenOps}};
constexpr PmuGroup kZen5[] = {
    {"core", kZenCore}, {"tlb", kZen4Tlb}, {"topdown", kZen5Stalls}, {"topdown", kZenOps}};
constexpr PmuRange kZen2Models[] = {{0x30, 0xff}};
constexpr PmuRange kZen3Models[] = {{0x00, 0x0f}, {0x20, 0x5f}};
constexpr PmuRange kZen4Models[] = {{0x10, 0x1f}, {0x60, 0x7f}, {0xa0, 0xaf}};

// Arm. The kernel lists the events that a processor has; Neoverse V2 has 6 counters besides that of cycles.
constexpr PmuEvent kArmCore[] = {alias(cycles, "cpu_cycles"), alias(instructions, "inst_retired"),
                                 alias(ref_cycles, "cnt_cycles"), alias(branch_misses, "br_mis_pred_retired"),
                                 alias(llc_misses, "ll_cache_miss_rd")};
constexpr PmuEvent kArmCaches[] = {alias(l1d_misses, "l1d_cache_refill"),
                                   alias(l2_misses, "l2d_cache_refill"), alias(dtlb_misses, "dtlb_walk"),
                                   alias(itlb_misses, "itlb_walk")};
constexpr PmuEvent kArmTopDown[] = {
    {.terms = {{{slots, 1}}}, .alias = "cpu_cycles", .is_per_slot = true},
    alias(frontend_bound_slots, "stall_slot_frontend"),
    alias(backend_bound_slots, "stall_slot_backend"),
    alias(bad_speculation_slots, "op_spec"),
    {.terms = {{{retiring_slots, 1}, {bad_speculation_slots, -1}}}, .alias = "op_retired"}};
constexpr PmuGroup kArm[] = {{"core", kArmCore}, {"caches", kArmCaches}, {"topdown", kArmTopDown}};

// What the kernel itself knows of any processor.
constexpr PmuEvent kAnyCore[] = {kCycles, kInstructions, kRefCycles,
                                 hardware(branch_misses, PERF_COUNT_HW_BRANCH_MISSES)};
constexpr PmuEvent kAnyCaches[] = {cache(l1d_misses, PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ),
                                   cache(llc_misses, PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_READ),
                                   cache(dtlb_misses, PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ),
                                   cache(itlb_misses, PERF_COUNT_HW_CACHE_ITLB, PERF_COUNT_HW_CACHE_OP_READ)};
constexpr PmuGroup kAny[] = {{"core", kAnyCore}, {"caches", kAnyCaches}};

constexpr PmuModel kModels[] = {
    {"Intel Sapphire Rapids or later", "GenuineIntel", 6, kSprModels, "spr", kSpr},
    {"Intel Ice Lake", "GenuineIntel", 6, kIcxModels, "icx", kIcx},
    {"Intel Skylake or Cascade Lake", "GenuineIntel", 6, kSkxModels, "skx", kSkx},
    {"Intel Broadwell", "GenuineIntel", 6, kBdxModels, "bdw_ep", kBdx},
    {"Intel Sierra Forest", "GenuineIntel", 6, kSrfModels, nullptr, kSrf},
    {"AMD Zen 2", "AuthenticAMD", 0x17, kZen2Models, "amd64_fam17h_zen2", kZen2},
    {"AMD Zen 3", "AuthenticAMD", 0x19, kZen3Models, "amd64_fam19h_zen3", kZen3},
    {"AMD Zen 4", "AuthenticAMD", 0x19, kZen4Models, "amd64_fam19h_zen4", kZen4},
    {"AMD Zen 5", "AuthenticAMD", 0x1a, {}, nullptr, kZen5},
    {"Arm", "Arm", -1, {}, nullptr, kArm},
    {"any", "", -1, {}, nullptr, kAny},
};

// A command to a memory controller moves a line of 64 bytes, and a beat of Grace's fabric has 32.
constexpr i64 kLine = 64, kBeat = 32;
constexpr PmuEvent memory_raw(PmuColumn column, u64 config) {
  return {.terms = {{{column, kLine}}}, .config = config};
}
constexpr PmuUncore kUncore[] = {
    {"GenuineIntel", 6, 6, "uncore_imc", alias(memory_read_bytes, "cas_count_read", kLine)},
    {"GenuineIntel", 6, 6, "uncore_imc", alias(memory_write_bytes, "cas_count_write", kLine)},
    // Granite Rapids and Sierra Forest: a controller has two schedulers.
    {"GenuineIntel", 6, 6, "uncore_imc", alias(memory_read_bytes, "cas_count_read_sch0", kLine)},
    {"GenuineIntel", 6, 6, "uncore_imc", alias(memory_read_bytes, "cas_count_read_sch1", kLine)},
    {"GenuineIntel", 6, 6, "uncore_imc", alias(memory_write_bytes, "cas_count_write_sch0", kLine)},
    {"GenuineIntel", 6, 6, "uncore_imc", alias(memory_write_bytes, "cas_count_write_sch1", kLine)},
    // umc_cas_cmd with rdwrmask, since Zen 4 and Linux 6.8.
    {"AuthenticAMD", 0x19, 0x1a, "amd_umc", memory_raw(memory_read_bytes, 0x10a)},
    {"AuthenticAMD", 0x19, 0x1a, "amd_umc", memory_raw(memory_write_bytes, 0x20a)},
    // l3_lookup_state.l3_miss, of all slices, cores and threads.
    {"AuthenticAMD", 0x17, 0x17, "amd_l3", raw(llc_misses, 0xff0f000000000104)},
    {"AuthenticAMD", 0x19, 0x1a, "amd_l3", raw(llc_misses, 0x0300c00000000104)},
    {"Arm", -1, -1, "nvidia_scf_pmu", alias(memory_read_bytes, "cmem_rd_data", kBeat)},
    {"Arm", -1, -1, "nvidia_scf_pmu", alias(memory_write_bytes, "cmem_wr_total_bytes")},
};

constexpr PmuEvent kSoftwareEvents[] = {software(context_switches, PERF_COUNT_SW_CONTEXT_SWITCHES),
                                        software(cpu_migrations, PERF_COUNT_SW_CPU_MIGRATIONS),
                                        software(page_faults, PERF_COUNT_SW_PAGE_FAULTS),
                                        software(minor_faults, PERF_COUNT_SW_PAGE_FAULTS_MIN),
                                        software(major_faults, PERF_COUNT_SW_PAGE_FAULTS_MAJ)};
constexpr PmuGroup kSoftware = {"software", kSoftwareEvents};

}  // namespace

std::span<const PmuModel> pmu_models() { return kModels; }
std::span<const PmuUncore> pmu_uncore() { return kUncore; }
const PmuGroup& pmu_software() { return kSoftware; }

}  // namespace spotter::collect
