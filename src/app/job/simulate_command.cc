// simulate: a synthetic job -> its traces, and what is in them.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/interruption.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "base/parallel_for.h"
#include "base/text/utf8.h"
#include "base/time.h"
#include "simulate/simulate.h"

namespace spotter::app {
namespace {

using simulate::Era, simulate::Sharding, simulate::Spec;

struct Options {
  simulate::SimulateRequest request;
  std::vector<std::string> faults;
  bool list_faults = false;
};

std::vector<std::string> sharding_names() {
  return {simulate::kShardingNames.begin(), simulate::kShardingNames.end()};
}

Result<simulate::Sharding> parse_sharding(const std::string& text) {
  const auto* found = std::ranges::find(simulate::kShardingNames, text);
  if (found == simulate::kShardingNames.end())
    return fail(Code::invalid, "\"{}\" is not {}", text, fmt::join(simulate::kShardingNames, ", "));
  return static_cast<simulate::Sharding>(found - simulate::kShardingNames.begin());
}

std::vector<std::string> era_names() {
  std::vector<std::string> names;
  for (const simulate::Era& era : simulate::eras()) names.emplace_back(era.name);
  return names;
}

Result<const simulate::Era*> parse_era(const std::string& text) {
  for (const simulate::Era& era : simulate::eras())
    if (text == era.name) return &era;
  return fail(Code::invalid, "there is no era \"{}\"; there are {}", text, fmt::join(era_names(), ", "));
}

std::vector<std::string> noise_names() {
  return {simulate::kNoiseNames.begin(), simulate::kNoiseNames.end()};
}

Result<simulate::Noise> parse_noise(const std::string& text) {
  const auto* found = std::ranges::find(simulate::kNoiseNames, text);
  if (found == simulate::kNoiseNames.end())
    return fail(Code::invalid, "\"{}\" is not {}", text, fmt::join(simulate::kNoiseNames, " or "));
  return static_cast<simulate::Noise>(found - simulate::kNoiseNames.begin());
}

Result<std::vector<simulate::NumberRange>> parse_ranks(const std::string& text) {
  std::vector<simulate::NumberRange> ranks;
  for (const std::string& word : split_commas(text)) {
    const auto range = simulate::parse_number_range(word);
    if (!range) return fail(Code::invalid, "\"{}\" is no rank and no range of them, such as 3 or 4-7", word);
    ranks.push_back(*range);
  }
  return ranks;
}

Result<Ns> parse_clock_offset(const std::string& text) {
  TRY_ASSIGN(const Ns offset, parse_duration_ns(text));
  if (offset < 0 || offset > kHour) return fail(Code::invalid, "\"{}\" is more than an hour", text);
  return offset;
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
  say_when_interrupted(fmt::format("{} does not hold the whole job", to_printable(request.folder)));
  request.cancelled = interruption();
  TRY_ASSIGN(const simulate::SimulateReceipt receipt, simulate::simulate(request));
  say_when_interrupted(fmt::format("{} holds the whole job", to_printable(request.folder)));
  TRY(write_output({}, fmt::format("{}: traces of {} ranks with {} events, and truth.json\n", request.folder,
                                   receipt.traces, receipt.events)));
  return 0;
}

// What the job is.
std::vector<Option> spec_options(simulate::Spec& spec) {
  std::vector<Option> options;
  for (const simulate::NumberOption& option : simulate::number_options())
    options.push_back({.names = {option.flag},
                       .value = "N",
                       .help = fmt::format("{} (default {})", option.help, spec.*option.value),
                       .read = number(spec.*option.value, option.least, option.most)});
  for (const simulate::SwitchOption& option : simulate::switch_options())
    options.push_back({.names = {option.flag}, .help = option.help, .read = set(spec.*option.value)});
  options.push_back(
      {.names = {"--sharding"},
       .value = "HOW",
       .help = "none, ddp (gradients are reduced) or fsdp (parameters are gathered) (default ddp)",
       .read = parsed(spec.sharding, parse_sharding),
       .offer = offer_words(sharding_names)});
  options.push_back({.names = {"--era"},
                     .value = "ERA",
                     .help = era_help(),
                     .read = parsed(spec.era, parse_era),
                     .offer = offer_words(era_names)});
  options.push_back(
      {.names = {"--scale"},
       .value = "NAME=FACTOR",
       .help =
           "kernels, copies and host operators with this in their name take so many times as long; repeatable",
       .read = [&spec](const std::string& word) -> Result<void> {
         TRY_ASSIGN(NameFactor scale, parse_name_factor(word));
         if (spec.scales.size() == simulate::kMostScales)
           return fail(Code::invalid, "there are more than {} of them", simulate::kMostScales);
         spec.scales.push_back(std::move(scale));
         return {};
       },
       .repeatable = true});
  options.push_back({.names = {"--omit-ranks"},
                     .value = "LIST",
                     .help = "ranks whose traces are not written, such as 3,8-15",
                     .read = parsed(spec.omitted, parse_ranks)});
  options.push_back({.names = {"--clock-offset"},
                     .value = "TIME",
                     .help = "clocks of hosts are up to so much off, such as 5ms, and drift",
                     .read = parsed(spec.clock_offset, parse_clock_offset)});
  options.push_back(
      {.names = {"--noise"},
       .value = "HOW",
       .help = "quiet, or rough: now and then a host stands still, durations have a heavy tail, and devices "
               "are slightly unequal (default quiet)",
       .read = parsed(spec.noise, parse_noise),
       .offer = offer_words(noise_names)});
  return options;
}

}  // namespace

Command simulate_command() {
  const auto options = std::make_shared<Options>();
  Options* o = options.get();  // the action, which owns them, outlives every parse
  simulate::SimulateRequest& r = o->request;
  r.threads = all_processors();
  Command command = {
      .name = "simulate",
      .summary = "Write the traces of a simulated job, with faults if wanted.",
      .options = {{.names = {"-o", "--output"},
                   .value = "DIR",
                   .help = "folder for the traces; made if need be, else without traces",
                   .read = keep(r.folder),
                   .offer = offer_folders()}},
      .footer =
          "Example: spotter simulate -o job --ranks 16 --steps 8 --fault slow-rank:rank=3 && spotter analyze job",
      .action = [options]() -> Result<int> { return run_simulate(*options); },
  };
  append(command.options, spec_options(r.spec));
  append(command.options,
         {{.names = {"--fault"},
           .value = "FAULT",
           .help = "something wrong with the job, such as slow-rank:rank=3,factor=1.5; repeatable",
           .read = keep_each(o->faults),
           .offer = offer_words(simulate::fault_names),
           .repeatable = true},
          {.names = {"--list-faults"},
           .help = "print the faults with their parameters and defaults",
           .read = set(o->list_faults)},
          {.names = {"--no-gzip"}, .help = "plain JSON", .read = set(r.gzip, false)},
          {.names = {"--force"}, .help = "replace an earlier simulation in the folder", .read = set(r.force)},
          {.names = {"--threads"},
           .value = "N",
           .help = "ranks written at a time (default: all cores); the traces are the same with any number",
           .read = number(r.threads, 1, 1024)}});
  return command;
}

}  // namespace spotter::app
