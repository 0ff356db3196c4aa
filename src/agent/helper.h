// The helper: what an agent that is not root leaves to root. A process for each connection, begun by
// whoever listens for it (systemd does, by packaging/spotter-helper.socket), so that nothing of it runs while
// nothing is asked. It knows two things. It runs `spotter analyze-part` as the user whose traces these are,
// opens nothing and answers nothing but how that ended: all that is read and written comes as open files. And
// it opens a probe on the steps of a process (collect/steps/step_probe.h), where PyTorch's own library, which
// comes open, says that they end, and nowhere else.
//
// The one that asks is `spotter ask-helper`, which the agent starts in the place of analyze-part. It ends as
// that ends; when it is killed the connection is closed, and the helper kills the reader.
//
// The way of an analysis: AnalysisProcesses -> `ask-helper` (app/agent/ask_helper_command.cc) -> ask_helper()
// -> systemd's socket -> `helper` (app/agent/helper_command.cc) -> serve_helper() -> `analyze-part`
// (app/job/analyze_part_command.cc).
//
// Packets (net/descriptor_packets.h): "analyze UID FILES", then "more", with so many open files in all: the
// names, in a file of memory, a NUL behind each; standard input, output and error; those that the names are
// of. The answer is "ended STATUS", as wait(2) has it, or "failed REASON". Or "probe THREAD" with the
// library; then the answer is "probe" with the descriptor.
#pragma once
#include <span>
#include <string>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/types.h"
#include "collect/steps/torch_step.h"

namespace spotter::agent {

constexpr i64 kMostUid = 0xfffffffe;  // the next is none at all
constexpr u32 kNobody = 65534;        // who reads what is root's

// The helper's side, until the reader has ended or nobody waits for it any more. `client`: the user who may
// ask. Errors: denied (somebody else asks; the reader would be root; a file is not that user's), invalid (no
// such order), io. They are told to who asks, too.
Result<void> serve_helper(int connection, i64 client);

// The asking side, with the files of this process: 0 to 2, and from 3 on one for each name. How the reader
// ended, as wait(2) has it. Errors: io (nobody answers at `socket`; the helper has gone), denied (it is not
// root who listens, or the helper refuses).
Result<int> ask_helper(const std::string& socket, u32 uid, std::span<const std::string> names);

// A probe that the helper opens. It waits some seconds at most. Errors: as above, and those of the helper.
Result<Descriptor> ask_for_probe(const std::string& socket, i64 thread, const collect::TorchStep& step);

}  // namespace spotter::agent
