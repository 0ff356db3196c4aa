#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

#include "analyze/list.h"

namespace spotter {
namespace {

std::optional<i64> number(std::string_view text) {
  i64 value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

// --consecutive-kernel-delay-ns from consecutive_kernel_delay_ns.
std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

// The raw words of `analyze`, before they are understood.
struct Words {
  AnalyzeOptions options;
  std::string ranks, steps, format = "text", memory;
  std::map<std::string, i64> params;
};

void declare_analyze(CLI::App& app, Words& words) {
  AnalyzeOptions& o = words.options;
  app.add_option(
         "PATH", o.paths,
         "trace files (.json, .json.gz, .json.zst), folders of them, patterns, or - for standard input")
      ->required();
  app.add_option("--table", o.tables,
                 "print this analysis (may be repeated; see `spotter analyses`); default: a report");
  app.add_option("--ranks", words.ranks, "only these ranks: 0,3-7");
  app.add_option("--steps", words.steps, "only these steps: 2-5");
  app.add_option("--format", words.format, "text, json or csv; times are humanised in text and ns elsewhere");
  app.add_option("--output", o.output, "write to this file, whole or not at all");
  app.add_option("--threads", o.threads, "threads to use; default: one per processor")
      ->check(CLI::Range(1, 1024));
  app.add_option("--memory", words.memory,
                 "memory for traces held at one time: 8G; default: half of the machine");
  app.add_flag("--timing", o.timing, "say on standard error where the time went");
  for (const Analysis* analysis : all_analyses()) {
    for (const Param& p : analysis->params) {
      if (words.params.contains(p.name)) continue;
      words.params[p.name] = p.fallback;
      app.add_option(flag_of(p.name), words.params[p.name],
                     fmt::format("{} (default {})", p.help, p.fallback))
          ->check([](const std::string& text) {
            return number(text) ? std::string() : "must be a whole number from 0 on";
          });
    }
  }
}

Result<AnalyzeOptions> understand(const CLI::App& app, Words words) {
  AnalyzeOptions& o = words.options;
  TRY_ASSIGN(o.format, parse_format(words.format));
  if (!words.ranks.empty()) {
    TRY_ASSIGN(o.ranks, parse_ranges(words.ranks));
  }
  if (!words.steps.empty()) {
    TRY_ASSIGN(const std::vector<Range> ranges, parse_ranges(words.steps));
    if (ranges.size() != 1) return fail(Code::invalid, "--steps takes one range, such as 2-5");
    o.steps = ranges[0];
  }
  if (!words.memory.empty()) {
    TRY_ASSIGN(o.memory_bytes, parse_size(words.memory));
  }
  for (const auto& [name, value] : words.params) {
    if (app.get_option(flag_of(name))->count() > 0) o.params.emplace_back(name, value);
  }
  for (const std::string& name : o.tables) {
    if (!find_analysis(name))
      return fail(Code::invalid, "there is no analysis \"{}\"; `spotter analyses` lists them", name);
  }
  return std::move(o);
}

int usage_error(const std::string& message, const std::string& command) {
  std::fprintf(stderr, "spotter: %s (see `spotter%s --help`)\n", message.c_str(), command.c_str());
  return 2;
}

}  // namespace

Result<std::vector<Range>> parse_ranges(const std::string& text) {
  std::vector<Range> ranges;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, comma - at);
    const size_t dash = part.find('-');
    const std::optional<i64> first = number(part.substr(0, dash));
    const std::optional<i64> last = dash == part.npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *first > *last)
      return fail(Code::invalid, "\"{}\" is no list of numbers such as 0,3-7", text);
    ranges.push_back({*first, *last});
    at = comma + 1;
  }
  return ranges;
}

Result<i64> parse_size(const std::string& text) {
  static constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = text;
  i64 scale = 1;
  if (digits.ends_with("iB")) digits.remove_suffix(2);
  if (!digits.empty()) {
    if (const size_t unit = kUnits.find(static_cast<char>(digits.back() & ~32)); unit != kUnits.npos) {
      scale = i64{1} << (10 * (unit + 1));
      digits.remove_suffix(1);
    }
  }
  const std::optional<i64> value = number(digits);
  if (!value || *value == 0 || *value > INT64_MAX / scale)
    return fail(Code::invalid, "\"{}\" is no size such as 512M or 8G", text);
  return *value * scale;
}

CommandLine parse_command_line(int argc, char** argv) {
  CLI::App app("Spotter watches training jobs and says what holds them back.", "spotter");
  app.require_subcommand(1);
  app.set_version_flag("--version", "spotter 0.1.0");
  Words words;
  AnalysesOptions analyses;
  CLI::App* analyze = app.add_subcommand("analyze", "Analyse the PyTorch (Kineto) traces of a job");
  declare_analyze(*analyze, words);
  CLI::App* list = app.add_subcommand("analyses", "List the analyses, or define the numbers of one");
  list->add_option("NAME", analyses.name, "an analysis");

  CommandLine line;
  const auto command = [&] {
    return std::string(analyze->parsed() ? " analyze" : list->parsed() ? " analyses" : "");
  };
  // The library reads a word in brackets as a list; here it is a pattern of file names.
  std::vector<std::string> all(argv + 1, argv + argc);
  for (std::string& word : all) {
    if (word.starts_with('[') && word.ends_with(']')) word = fmt::format("./{}", word);
  }
  std::reverse(all.begin(), all.end());  // as the library wants them
  try {
    app.parse(all);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      line.exit = app.exit(error);
    } else if (command().empty() && argc > 1 && argv[1][0] != '-') {
      line.exit = usage_error(fmt::format("there is no command \"{}\"", argv[1]), "");
    } else {
      line.exit = usage_error(error.what(), command());
    }
    return line;
  }
  if (list->parsed()) {
    line.analyses = analyses;
    return line;
  }
  Result<AnalyzeOptions> options = understand(*analyze, words);
  if (options) {
    line.analyze = std::move(*options);
  } else {
    line.exit = usage_error(options.error().message, command());
  }
  return line;
}

}  // namespace spotter
