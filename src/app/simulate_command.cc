// simulate: a synthetic job -> its traces, and what is in them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>

#include "app/commands.h"
#include "app/interruption.h"
#include "app/output.h"
#include "app/words.h"
#include "base/parallel_for.h"
#include "simulate/simulate.h"

namespace spotter::app {
namespace {

using simulate::Era, simulate::Sharding, simulate::Spec;

struct Options {
  simulate::SimulateRequest request;
  std::vector<std::string> faults;
  bool list_faults = false;
};

Result<simulate::Sharding> parse_sharding(const std::string& text) {
  const auto* found = std::ranges::find(simulate::kShardingNames, text);
  if (found == simulate::kShardingNames.end())
    return fail(Code::invalid, "\"{}\" is not {}", text, fmt::join(simulate::kShardingNames, ", "));
  return static_cast<simulate::Sharding>(found - simulate::kShardingNames.begin());
}

Result<const simulate::Era*> parse_era(const std::string& text) {
  std::string names;
  for (const simulate::Era& era : simulate::eras()) {
    if (text == era.name) return &era;
    names += (names.empty() ? "" : ", ") + std::string(era.name);
  }
  return fail(Code::invalid, "there is no era \"{}\"; there are {}", text, names);
}

std::string era_help() {
  std::string text = "how the trace is spelled:";
  for (const simulate::Era& era : simulate::eras())
    text += fmt::format("{} {} ({})", &era == &simulate::eras()[0] ? "" : ",", era.name, era.releases);
  return text + "; truth.json is exact for those that write nanoseconds (default today)";
}

Result<int> run_simulate(Options& options) {
  if (options.list_faults) {
    TRY(write_output({}, simulate::describe_faults()));
    return 0;
  }
  simulate::SimulateRequest& request = options.request;
  if (request.folder.empty()) return fail(Code::invalid, "where to? Name a folder with -o");
  for (const std::string& text : options.faults) {
    TRY_ASSIGN(simulate::Fault fault, simulate::parse_fault(text, request.spec.last_step()));
    request.spec.faults.push_back(std::move(fault));
  }
  request.cancelled = interruption();
  const Result<simulate::SimulateReceipt> receipt = simulate::simulate(request);
  if (!receipt && receipt.error().code == Code::cancelled)
    return fail(Code::cancelled, "interrupted; {} does not hold the whole job", request.folder);
  if (!receipt) return tl::unexpected<Error>(receipt.error());
  TRY(write_output({}, fmt::format("{}: traces of {} ranks with {} events, and truth.json\n", request.folder,
                                   request.spec.ranks, receipt->events)));
  return 0;
}

}  // namespace

Action declare_simulate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();  // the action, which owns them, outlives every parse
  simulate::Spec* spec = &o->request.spec;
  app.add_option("-o,--output", o->request.folder,
                 "folder for the traces; made if need be, else without traces")
      ->type_name("DIR");
  for (const simulate::NumberOption& option : simulate::number_options())
    add_option(app, option.flag, "N", fmt::format("{} (default {})", option.help, spec->*option.value),
               [spec, &option](const std::string& word) -> Result<void> {
                 TRY_ASSIGN(spec->*option.value, parse_number(word, option.least, option.most));
                 return {};
               });
  for (const simulate::SwitchOption& option : simulate::switch_options())
    app.add_flag(option.flag, spec->*option.value, option.help);
  add_option(app, "--sharding", "HOW",
             "none, ddp (gradients are reduced) or fsdp (parameters are gathered) (default ddp)",
             [spec](const std::string& word) -> Result<void> {
               TRY_ASSIGN(spec->sharding, parse_sharding(word));
               return {};
             });
  add_option(app, "--era", "ERA", era_help(), [spec](const std::string& word) -> Result<void> {
    TRY_ASSIGN(spec->era, parse_era(word));
    return {};
  });
  add_option(
      app, "--scale", "NAME=FACTOR",
      "kernels, copies and host operators with this in their name take so many times as long; repeatable",
      [spec](const std::string& word) -> Result<void> {
        TRY_ASSIGN(NameFactor scale, parse_name_factor(word));
        if (spec->scales.size() == simulate::kMostScales)
          return fail(Code::invalid, "there are more than {} of them", simulate::kMostScales);
        spec->scales.push_back(std::move(scale));
        return {};
      })
      ->take_all();
  app.add_option("--fault", o->faults,
                 "something wrong with the job, such as slow-rank:rank=3,factor=1.5; repeatable")
      ->type_name("FAULT")
      ->take_all();
  app.add_flag("--list-faults", o->list_faults, "print the faults with their parameters and defaults");
  app.add_flag_callback("--no-gzip", [o] { o->request.gzip = false; }, "plain JSON");
  app.add_flag("--force", o->request.force, "replace an earlier simulation in the folder");
  o->request.threads = all_processors();
  add_option(app, "--threads", "N",
             "ranks written at a time (default: all cores); the traces are the same with any number",
             [o](const std::string& word) -> Result<void> {
               TRY_ASSIGN(const i64 threads, parse_number(word, 1, 1024));
               o->request.threads = static_cast<int>(threads);
               return {};
             });
  app.footer(
      "Example: spotter simulate -o job --ranks 16 --steps 8 --fault slow-rank:rank=3 && spotter analyze job");
  return [options]() -> Result<int> { return run_simulate(*options); };
}

}  // namespace spotter::app
