// textfile: metrics that other programs leave in files NAME.prom of one folder, under their own names: what
// node_exporter's collector of this name does. A file that is wrong anywhere is left out as a whole, tells
// why, and hides no other.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "base/time.h"
#include "collect/list.h"
#include "collect/textfile/exposition.h"
#include "table/named_samples.h"

namespace spotter::collect {
namespace {

constexpr i64 kMostBytes = i64{4} << 20;  // of a file
constexpr size_t kMostSamples = 10'000;   // of all: each is a series in somebody's database
constexpr std::string_view kEnding = ".prom", kOurs = "spotter_";

constexpr Field kFileColumns[] = {
    {"file", Type::text, Unit::none, Role::key, "Name of the file."},
    {"mtime_ns", Type::integer, Unit::ns, Role::value,
     "When it was written, since 1970; null where it is wrong, so that it does not look fresh."},
    {"samples", Type::integer, Unit::count, Role::value, "Samples of it that are told."},
    {"samples_left_out", Type::integer, Unit::count, Role::value,
     "Samples that an earlier line or file has, or whose metric has another type there."},
    {"failed", Type::flag, Unit::none, Role::value, "Whether it could not be read and is left out."},
    {"error", Type::text, Unit::none, Role::value, "Why it is left out."},
};
constexpr TableKind kTables[] = {
    {"textfile", "NAME.prom", "A file of metrics that another program wrote.", kFileColumns},
    {"textfile_sample", "NAME.prom", "A sample that is in one of them.", table::kNamedSampleColumns},
};

struct File {
  struct stat state{};
  std::vector<ExposedFamily> families;
  std::string error;  // empty: none
  i64 samples = 0, left_out = 0;
};

bool is_same(const struct stat& a, const struct stat& b) {
  const auto is_same_time = [](const timespec& x, const timespec& y) {
    return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
  };
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
         is_same_time(a.st_mtim, b.st_mtim) && is_same_time(a.st_ctim, b.st_ctim);
}

Result<std::vector<ExposedFamily>> read_families(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_small_file(path, size_t{kMostBytes}));
  TRY_ASSIGN(std::vector<ExposedFamily> families, read_exposition(text));
  for (const ExposedFamily& family : families) {
    if (family.name.starts_with(kOurs))
      return fail(Code::invalid, "{} is a name of the agent's own metrics", family.name);
  }
  return families;
}

// Whoever may write into the folder may put a pipe there: nothing but a file is opened for reading.
File read_file(const std::string& path) {
  File file;
  const Descriptor there(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (there.fd < 0 || fstat(there.fd, &file.state) != 0) {
    file.error = fmt::format("it cannot be opened: {}", errno_text(errno));
  } else if (!S_ISREG(file.state.st_mode)) {
    file.error = "it is no file";
  } else if (file.state.st_size > kMostBytes) {
    file.error = fmt::format("it is longer than {} MiB", kMostBytes >> 20);
  } else {
    auto families = read_families(fmt::format("/proc/self/fd/{}", there.fd));
    if (families)
      file.families = std::move(*families);
    else
      file.error = families.error().message;
  }
  return file;
}

// The samples of all files, family by family: of two that are the same, that of the first file.
class Samples {
 public:
  void add(const std::string& name, File& file) {
    file.samples = file.left_out = 0;
    for (const ExposedFamily& family : file.families) {
      const auto [it, is_new] = families_.emplace(family.name, Family{&family, {}});
      for (const ExposedSample& sample : family.samples) {
        const bool has_other_type = it->second.first->type != family.type;
        if (has_other_type || count_ == kMostSamples || !seen_.emplace(sample.name, sample.labels).second) {
          ++file.left_out;
          continue;
        }
        it->second.rows.push_back({&family, &sample, name});
        ++count_;
        ++file.samples;
      }
    }
  }

  Table table() const {
    Table table("textfile_sample", table::kNamedSampleColumns);
    for (const auto& [name, family] : families_) {
      for (const Row& row : family.rows) {
        const bool is_total = row.family->is_total(*row.sample);
        const Value value = row.sample->value;
        table.append({std::string_view(row.sample->name), or_null(row.sample->labels), std::string_view(name),
                      std::string_view(family.first->type), or_null(family.first->help), row.file,
                      is_total ? Value() : value, is_total ? value : Value()});
      }
    }
    return table;
  }

 private:
  struct Row {
    const ExposedFamily* family;
    const ExposedSample* sample;
    std::string_view file;
  };
  struct Family {
    const ExposedFamily* first;  // whose type and help count
    std::vector<Row> rows;
  };
  std::map<std::string_view, Family> families_;
  std::set<std::pair<std::string_view, std::string_view>> seen_;
  size_t count_ = 0;
};

class TextFile : public Collector {
 public:
  explicit TextFile(std::string folder) : folder_(std::move(folder)) {}

  Result<std::vector<Table>> sample() override {
    TRY(read_folder());
    std::vector<Table> tables;
    Table& table = tables.emplace_back("textfile", kFileColumns);
    for (const auto& [name, file] : files_) {
      const Ns mtime = file.state.st_mtim.tv_sec * kSecond + file.state.st_mtim.tv_nsec;
      table.append({std::string_view(name), file.error.empty() ? Value(mtime) : Value(), file.samples,
                    file.left_out, !file.error.empty(), or_null(file.error)});
      if (!file.error.empty())
        table.notes.add("files_left_out", Severity::loss, "text files are wrong and were left out");
      if (file.left_out > 0)
        table.notes.add("samples_left_out", Severity::loss,
                        "samples of text files are there twice, of two types, or too many", -1,
                        file.left_out);
    }
    tables.push_back(samples_);  // also without rows: what is in no file any more is not told on
    return tables;
  }

 private:
  // Files that are as they were are not read again.
  Result<void> read_folder() {
    std::error_code error;
    auto entry = std::filesystem::directory_iterator(folder_, error);
    if (error) return fail(Code::not_found, "{} cannot be read: {}", folder_, error.message());
    std::map<std::string, File> files;
    bool is_changed = false;
    for (const auto end = std::filesystem::directory_iterator(); !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.ends_with(kEnding)) continue;
      const auto known = files_.find(name);
      struct stat state{};
      const bool is_known = known != files_.end() && stat(entry->path().c_str(), &state) == 0 &&
                            is_same(state, known->second.state);
      is_changed = is_changed || !is_known;
      File file = is_known ? std::move(known->second) : read_file(entry->path().string());
      files.emplace(name, std::move(file));
    }
    is_changed = is_changed || files.size() != files_.size();
    files_ = std::move(files);
    if (is_changed) join();
    return {};
  }

  void join() {
    Samples samples;
    for (auto& [name, file] : files_) samples.add(name, file);
    samples_ = samples.table();
  }

  std::string folder_;
  std::map<std::string, File> files_;  // by name
  Table samples_ = Samples().table();
};

}  // namespace

const CollectorKind kTextFile = {
    .name = "textfile",
    .help = "Metrics that other programs leave in files of one folder, under their own names.",
    .period = 10 * kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      if (s.textfile_directory.empty())
        return fail(Code::not_found, "no folder of text files is named (textfile_directory)");
      auto files = std::make_unique<TextFile>(s.textfile_directory);
      TRY(files->sample());
      return files;
    },
};

}  // namespace spotter::collect
