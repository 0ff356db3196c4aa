// map: a share of a job's files, mapped, as a part for `spotter reduce`. One process of many runs it, on any
// host that sees the files.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "analyze/list.h"
#include "analyze/mapped_shard.h"
#include "app/cli/command.h"
#include "app/cli/interruption.h"
#include "app/cli/job_options.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/terminal.h"
#include "app/cli/words.h"
#include "app/job/open_paths.h"
#include "app/job/table_options.h"
#include "base/parallel_for.h"
#include "base/system/file.h"
#include "base/system/memory.h"
#include "base/text/number.h"
#include "diagnose/run.h"
#include "diagnose/tables.h"
#include "read/open.h"
#include "wire/mapped_shard.h"

namespace spotter::app {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::optional<analyze::Shard> shard;
  std::string folder;
  analyze::RunRequest request;
  bool names_findings = false;  // which need no naming here
};

// "0/4" to "3/4", or "1/4" to "4/4".
Result<analyze::Shard> parse_shard(const std::string& word) {
  const size_t slash = word.find('/');
  const std::string behind = slash == word.npos ? "" : word.substr(slash + 1);
  const auto number = number_in<i64>(word.substr(0, slash)), count = number_in<i64>(behind);
  if (!number || !count || *count < 1 || *number < 0 || *number > *count)
    return fail(Code::invalid,
                "\"{}\" is no share of a job; write 1/8 to 8/8, or 0/8 to 7/8, in each of eight processes",
                word);
  return analyze::Shard{*number, *count};
}

std::optional<i64> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? number_in<i64>(text) : std::nullopt;
}

// Of one of those that a launcher has started: each tells the process its number, from 0, and how many there
// are.
std::optional<analyze::Shard> shard_of_launcher() {
  i64 number = 0, count = 1;
  const auto add = [&](std::optional<i64> own, std::optional<i64> all) {
    if (!own || !all || *all < 2 || *own < 0 || *own >= *all) return;
    number = number * *all + *own;
    count *= *all;
  };
  if (const auto id = number_of("SLURM_ARRAY_TASK_ID"), first = number_of("SLURM_ARRAY_TASK_MIN");
      id && first)
    add((*id - *first) / std::max<i64>(1, number_of("SLURM_ARRAY_TASK_STEP").value_or(1)),
        number_of("SLURM_ARRAY_TASK_COUNT"));
  if (const auto own = number_of("SLURM_PROCID"))
    add(own, number_of("SLURM_NTASKS"));
  else if (const auto of_mpi = number_of("OMPI_COMM_WORLD_RANK"))
    add(of_mpi, number_of("OMPI_COMM_WORLD_SIZE"));
  else
    add(number_of("PMI_RANK"), number_of("PMI_SIZE"));
  if (count < 2) return {};
  return analyze::Shard{number, count};
}

Result<int> map(Options options) {
  keep_freed_memory();
  if (!options.shard) options.shard = shard_of_launcher();
  const analyze::Shard shard = options.shard.value_or(analyze::Shard{1, 1});
  TRY_ASSIGN(const Job job, open_paths(options.paths));
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return fail(Code::io, "{}: {}", options.folder, error.message());
  const std::string path = fmt::format("{}/part-{}-of-{}.sptr", options.folder, shard.number, shard.count);
  say_when_interrupted(untouched(path));
  const std::atomic<bool>* interrupted = interruption();
  analyze::RunRequest request = diagnose::with_facts(options.request);
  request.cancelled = interrupted;
  Result<analyze::MappedShard> part;
  {
    Progress progress;
    request.on_progress = [&](i64 done, i64 total) { progress.update(done, total); };
    part = analyze::map_shard(job, shard, request, read::load);
  }
  TRY(part);
  part->paths = options.paths;
  if (*interrupted) return fail(Code::cancelled, "interrupted; nothing was written");
  TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  TRY(wire::write_shard(*part, [&](std::string_view bytes) { return file.write(bytes); }));
  TRY(file.commit());
  fmt::print("{}: {} of {} files\n", path, part->files.size(), part->job.size());
  return 0;
}

}  // namespace

Command map_command() {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();
  analyze::RunRequest& r = o->request;
  r.analyses = analyze::usual_analyses();
  r.threads = all_processors();
  Command command = {
      .name = "map",
      .summary = "Map a share of a job's traces, as one of many processes.",
      .arguments = {{.name = "PATH",
                     .help = "the job's trace files, folders of them or patterns: the same in each process",
                     .read = keep_each(o->paths),
                     .offer = offer_files(),
                     .many = true}},
      .footer =
          "Examples:\n"
          "  for i in 1 2 3 4; do spotter map traces/ --shard $i/4 -o parts; done; spotter reduce parts\n"
          "  srun --ntasks=16 spotter map /shared/traces -o /shared/parts && spotter reduce /shared/parts",
      .check = [o] { return check_params(o->request.analyses, o->request.params); },
      .action = [options]() -> Result<int> { return map(*options); },
  };
  command.options = {
      {.names = {"--shard"},
       .value = "I/N",
       .help =
           "the share: 1/8 to 8/8, or 0/8 to 7/8. Default: what srun, a Slurm array or mpirun says, else all",
       .read = parsed(o->shard, parse_shard)},
      {.names = {"-o", "--output"},
       .value = "DIR",
       .help = "the folder for part-I-of-N.sptr; it is made if it is not there",
       .read = keep(o->folder),
       .offer = offer_files(),
       .required = true},
      {.names = {"--table"},
       .value = "NAME",
       .help = "map what this analysis needs, too; may be repeated. Without it: those of the report and of "
               "`spotter analyze --format json`",
       .read =
           [o](const std::string& word) { return add_table(word, o->request.analyses, o->names_findings); },
       .offer = offer_words(diagnose::table_names),
       .repeatable = true}};
  append(command.options, job_part_options(r.ranks, r.steps));
  for (const Param& param : all_params()) command.options.push_back(option_of(param, r.params));
  append(command.options, reading_options(r));
  return command;
}

}  // namespace spotter::app
