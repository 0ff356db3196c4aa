#include "respond/rules/ras_rows.h"

#include "base/text/utf8.h"

namespace spotter::respond {
namespace {

constexpr Field kColumns[] = {
    {"job", Type::text, Unit::none, Role::key, "Job of the scheduler or launcher."},
    {"user", Type::text, Unit::none, Role::detail, "Whose job it is."},
    {"communicator", Type::text, Unit::none, Role::key, "Its hash; null: the job has answered."},
    {"operation", Type::text, Unit::none, Role::key,
     "What ranks have launched differently; null: a rank is missing."},
    {"rank", Type::integer, Unit::none, Role::key, "Rank in the job, where it is known."},
    {"host", Type::text, Unit::none, Role::detail, "Where it is."},
    {"launched", Type::integer, Unit::count, Role::value, "How many of them it has launched."},
    {"most", Type::integer, Unit::count, Role::value, "How many the ranks that are ahead have launched."},
    {"ranks", Type::integer, Unit::count, Role::value, "Ranks that are as far behind, or missing."},
    {"counts", Type::text, Unit::none, Role::detail, "LAUNCHED:RANKS of all ranks."},
};
constexpr const char* kNames[] = {"job",  "user",     "communicator", "operation", "rank",
                                  "host", "launched", "most",         "ranks",     "counts"};
enum : size_t { kJob, kUser, kCommunicator, kOperation, kRank, kHost, kLaunched, kMost, kRanks, kCounts };

}  // namespace

std::span<const Field> ras_columns() { return kColumns; }

void append(Table& table, const RasRow& row) {
  table.append({std::string_view(row.job), or_null(std::string_view(row.user)),
                or_null(std::string_view(row.communicator)), or_null(std::string_view(row.operation)),
                or_null(row.rank), or_null(std::string_view(row.host)), row.launched, row.most, row.ranks,
                or_null(std::string_view(row.counts))});
}

RasRows::RasRows() : columns_(kNames) {}

// Who answers may be anybody who listens there: a program of the job's user.
RasRow RasRows::at(size_t row) const {
  return {.job = std::string(columns_.text(row, kJob)),
          .user = std::string(columns_.text(row, kUser)),
          .communicator = to_printable(columns_.text(row, kCommunicator)),
          .operation = to_printable(columns_.text(row, kOperation)),
          .rank = columns_.integer(row, kRank),
          .host = to_printable(columns_.text(row, kHost)),
          .launched = columns_.integer(row, kLaunched).value_or(0),
          .most = columns_.integer(row, kMost).value_or(0),
          .ranks = columns_.integer(row, kRanks).value_or(0),
          .counts = std::string(columns_.text(row, kCounts))};
}

}  // namespace spotter::respond
