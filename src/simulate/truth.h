// truth.json: what a simulated job is and what was put into it, for whoever tests a tool against it.
//
//   version, exact         1; whether times in the traces are those below to the nanosecond: not where the
//   era rounds
//                          to microseconds, nor where clocks differ
//   options                of `spotter simulate`, which gives the same bytes with them
//   ranks, hosts, files, events, groups, steps
//                          files: null where the rank is omitted, which has all other numbers
//   clock_offset_ns, clock_drift_ns_per_s
//                          with --clock-offset, [rank], of its host: what its trace tells too much when the
//                          job begins, and gains from then on. Times below are right
//   step_flops             with --all-shapes: [rank], of the products of matrices and of attention in a step:
//   2 for
//                          each multiplication and the addition behind it, causal pairs alone
//   iterations             with --inference, of each step the phase and its context and generation requests
//                          and tokens, the same for all ranks
//   by_rank_and_step       [rank][step]: start_ns (Unix), step_ns (null: it did not end) of the host;
//                          of the device work that the step launched, each moment counted once:
//                          device_window_ns (first start to last end), compute_ns, communication_ns,
//                          memory_ns, hidden_communication_ns (while something computes),
//                          exposed_communication_ns (the rest), idle_ns (nothing runs);
//                          transfer_ns, wait_ns (a collective that is no send or receive transfers, as all
//                          its ranks have come; some wait and none does)
//   by_rank                [rank]: the same of all device work
//   collectives[]          of each group, name and size, all calls of all ranks together: in_bytes and
//                          out_bytes of a call, sent_bytes that a rank sends in it, calls, and the sums
//                          time_ns, transfer_ns, wait_ns
//   memory_at_peak         with --all-memory-events, [rank] each: peak_time_ns (Unix), when the most is held
//                          first; peak_bytes, what; of that before, allocated before the first step, and
//                          parameters, gradients, optimizer_state, activations, temporaries
//   faults[]               [rank][step] each: injected_ns, what it added to host and device by itself
//                          (transfers on each rank that takes part); effect_ns, step_ns minus that of
//                          the job without this fault but with all others (null: a step did not end).
//                          [step]: job_effect_ns, the same of the job's steps, and job_effect_alone_ns, of
//                          the job with this fault alone against that without any; job_effect_total_ns and
//                          job_effect_alone_total_ns, their sums: how much later the job ends
//   job                    [step]: step_ns, from the end of the step before on its last rank to that on the
//                          last (null: it did not end everywhere); step_without_faults_ns; effect_ns, of all
//                          faults together, and its sum effect_total_ns
#pragma once
#include "simulate/faults/effects.h"
#include "simulate/tally.h"

namespace spotter::simulate {

std::string truth_text(const Job& job, const std::vector<std::string>& files,
                       const std::vector<RankNumbers>& ranks, const Effects& effects);

}  // namespace spotter::simulate
