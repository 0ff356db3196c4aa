// storage_hangs: a file system does not answer. Which ones a job uses is not known: all that hold data are
// looked at.
#include "respond/rules/columns.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"filesystem"};
constexpr const char* kNames[] = {"mount_point", "reachable", "device"};
enum : size_t { kMount, kReachable, kDevice };

class StorageHangs : public Watch {
 public:
  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto reachable = columns_.flag(row, kReachable);
      if (!reachable) continue;
      Sign& sign = signs.emplace_back(Condition(), !*reachable);
      sign.is_of_host = true;
      sign.condition.job = facts.only_job();
      sign.condition.user = facts.user_of(sign.condition.job);
      sign.condition.device = columns_.text(row, kMount);
      sign.condition.text = columns_.text(row, kDevice);
      sign.condition.source = "statfs";
    }
  }

 private:
  Columns columns_{kNames};
};

}  // namespace

const Rule kStorageHangs = {
    .name = "storage_hangs",
    .family = "storage",
    .urgency = Urgency::critical,
    .meaning = "A mounted file system has not answered for 20 s.",
    .remedy = "look at the file server and the network to it",
    .rank_as_cause = 2,
    .hold = "20s",
    .recover = "30s",
    .tables = kTables,
    .settings = {},
    .make = [](const Settings&) -> std::unique_ptr<Watch> { return std::make_unique<StorageHangs>(); },
};

}  // namespace spotter::respond
