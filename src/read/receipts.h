// Receipts: what `spotter trace` leaves beside the traces of a capture (capture.json, capture-2.json ...):
// which processes it asked, on which host, as which rank, and what became of each. It is the program's own
// JSON (src/render/json.cc) of the table of src/capture/captures.cc. Columns go by name; others may come.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/job.h"

namespace spotter::read {

struct Receipt {
  std::string host, state, file, reason;  // empty where there is none
  std::optional<i64> pid, rank;
  std::string source, source_root;  // its repository: URL@COMMIT, and the folder
};

// Errors: corrupt, or invalid where the text is something else.
Result<std::vector<Receipt>> parse_receipts(std::string_view text);

// By its name and first bytes. Traces may be called capture_rank0.json, too.
bool begins_like_receipts(const std::string& path);

// capture.json, packed or not, whatever it holds: in a folder it is no trace.
bool is_named_receipts(std::string_view name);

// Gives the job's files the ranks and hosts of the receipts that lie in their folders. Receipts name files as
// the processes called them; here the name alone counts, without its folder and ending, since folders are
// moved and files packed. Of receipts that were `opened` with the traces, rather than found beside some that
// were chosen, those that left no trace become a note. Receipts that cannot be used are one, too.
void add_receipts(const std::set<std::string>& opened, Job& job);

}  // namespace spotter::read
