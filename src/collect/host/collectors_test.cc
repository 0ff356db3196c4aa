// All collectors, on this machine, on none, and on recorded ones whose files are cut off or garbled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "base/time.h"
#include "collect/list.h"
#include "collect/process/identities.h"
#include "collect/test_machine.h"

namespace spotter::collect {
namespace {

const char* const kMachines[] = {"small_vm", "intel_8gpu", "amd_epyc", "arm_grace"};
const char* const kAllMachines[] = {"small_vm", "intel_8gpu", "amd_epyc", "arm_grace", "training_node"};

// Each cell of a value or counter by table, keys and column; null cells are left out.
using Cells = std::map<std::string, std::string>;

std::string text_of(const Value& value) {
  if (const auto* word = std::get_if<std::string_view>(&value)) return std::string(*word);
  if (const auto* number = std::get_if<i64>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return "";
}

Cells cells_of(const std::vector<Table>& tables) {
  Cells cells;
  for (const Table& table : tables) {
    for (size_t row = 0; row < table.rows(); ++row) {
      std::string name = table.name();
      for (size_t column = 0; column < table.columns(); ++column) {
        if (table.schema()[column].role == Role::key) name += " " + text_of(table.at(row, column));
      }
      for (size_t column = 0; column < table.columns(); ++column) {
        const Field& field = table.schema()[column];
        if (field.role != Role::value && field.role != Role::counter) continue;
        if (is_null(table.at(row, column))) continue;
        cells[name + " " + field.name] = text_of(table.at(row, column));
      }
    }
  }
  return cells;
}

std::vector<std::string> names_of(const Cells& cells) {
  std::vector<std::string> names;
  for (const auto& [name, value] : cells) names.push_back(name);
  return names;
}

bool is_sentence(const Error& error) {
  return !error.message.empty() && error.message.find('\n') == std::string::npos;
}

// Tables of the kind's names, in their order, with their columns.
void expect_own_tables(const CollectorKind& kind, const std::vector<Table>& tables) {
  size_t next = 0;
  for (const Table& table : tables) {
    while (next < kind.tables.size() && table.name() != kind.tables[next].name) ++next;
    ASSERT_LT(next, kind.tables.size())
        << kind.name << " gives a table " << table.name() << " that it has not";
    const auto columns = kind.tables[next++].columns;
    ASSERT_EQ(table.columns(), columns.size()) << table.name();
    for (size_t i = 0; i < columns.size(); ++i) {
      EXPECT_STREQ(table.schema()[i].name, columns[i].name);
      EXPECT_EQ(table.schema()[i].type, columns[i].type);
      EXPECT_EQ(table.schema()[i].unit, columns[i].unit);
      EXPECT_EQ(table.schema()[i].role, columns[i].role);
    }
  }
}

// A collector that stays open, as in an agent.
struct Opened {
  const CollectorKind* kind;
  std::unique_ptr<Collector> collector;

  Cells sample() const {
    const auto tables = collector->sample();
    if (!tables) {
      EXPECT_TRUE(is_sentence(tables.error())) << kind->name;
      return {};
    }
    expect_own_tables(*kind, *tables);
    return cells_of(*tables);
  }
};

bool always(const CollectorKind&) { return true; }

std::vector<Opened> open_all(const Surroundings& surroundings,
                             const std::function<bool(const CollectorKind&)>& is_wanted = always) {
  std::vector<Opened> opened;
  for (const CollectorKind* kind : all_collectors()) {
    if (!is_wanted(*kind)) continue;
    auto collector = kind->open(surroundings);
    if (collector)
      opened.push_back({kind, std::move(*collector)});
    else
      EXPECT_TRUE(is_sentence(collector.error())) << kind->name;
  }
  return opened;
}

// Of a recorded machine, where nothing changes: those that also look at the one that this runs on, such as
// the agent's own, are none of it.
std::set<std::string_view> names_of_recorded(const Surroundings& surroundings) {
  std::set<std::string_view> names;
  for (const Opened& one : open_all(surroundings)) {
    if (one.sample() == one.sample()) names.insert(one.kind->name);
  }
  return names;
}

// The collectors that read a file: whose cells change when it is not there.
std::vector<const Opened*> readers_of(TestMachine& machine, const std::string& file,
                                      const std::vector<Opened>& opened, const std::vector<Cells>& whole) {
  const std::string text = machine.read(file);
  machine.write(file, "");
  machine.pass(2 * kMinute);
  std::vector<const Opened*> readers;
  for (size_t i = 0; i < opened.size(); ++i) {
    if (opened[i].sample() != whole[i]) readers.push_back(&opened[i]);
  }
  machine.write(file, text);
  return readers;
}

// SPOTTER_LONG in the environment: every cut and more garbage, which takes minutes with sanitizers.
const bool kIsLong = std::getenv("SPOTTER_LONG") != nullptr;

// A machine's files; of those whose paths differ in numbers alone (processors, devices), which are read
// alike, the first.
std::vector<std::string> files_of(const TestMachine& machine) {
  std::vector<std::string> files = machine.files();
  if (kIsLong) return files;
  std::set<std::string> seen;
  std::erase_if(files, [&](const std::string& file) {
    std::string form;
    for (const char c : file)
      if (c < '0' || c > '9')
        form += c;
      else if (!form.ends_with('#'))
        form += '#';
    return !seen.insert(form).second;
  });
  return files;
}

// Where a file of this length is cut off: everywhere, or at so many places of a long one.
std::vector<size_t> cuts_of(size_t length) {
  const size_t most = kIsLong ? length : 100;
  static std::mt19937 random(7);
  std::vector<size_t> all(length), cuts;
  std::iota(all.begin(), all.end(), size_t{0});
  std::ranges::sample(all, std::back_inserter(cuts), most, random);
  return cuts;
}

TEST(Collectors, HaveNamesOfTheirOwn) {
  std::map<std::string, const Field*> tables;  // of one name: the same one, of another source
  for (const CollectorKind* kind : all_collectors()) {
    for (const TableKind& table : kind->tables) {
      EXPECT_EQ(tables.emplace(table.name, table.columns.data()).first->second, table.columns.data())
          << table.name;
      const bool has_times =
          std::ranges::any_of(table.columns, [](Role r) { return r == Role::time; }, &Field::role);
      EXPECT_TRUE(has_times || !table.is_events) << table.name;
      std::set<std::string> names;
      for (const Field& field : table.columns) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_EQ(std::string_view(field.help).back(), '.') << field.name;
      }
    }
  }
}

TEST(Collectors, SampleThisMachine) {
  const Host host;
  const auto identities = std::make_shared<Identities>(host);
  const auto opened = open_all({.host = host, .identities = identities, .per_core = true});
  std::set<std::string> names;
  for (const Opened& one : opened) {
    if (!one.sample().empty()) names.insert(one.kind->name);
    one.sample();
  }
  for (const char* name :
       {"cpu", "load", "memory", "vmstat", "network", "network_stack", "filesystem", "uptime"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Collectors, SayWhyThereIsNothing) {
  const TestMachine machine("");
  const Host host = machine.host();
  const auto identities = std::make_shared<Identities>(host);
  const auto opened = open_all({.host = host, .identities = identities});
  EXPECT_LT(opened.size(), all_collectors().size());
  // The agent's own is of this process, whatever the machine.
  for (const Opened& one : opened)
    EXPECT_EQ(one.sample().empty(), one.kind->name != std::string_view("agent")) << one.kind->name;
}

// What is cut off is null or not there, but no other number than the whole file gives.
TEST(Collectors, NoWrongNumbersOfFilesThatAreCutOff) {
  // Sums over lines: those of which some are missing are smaller.
  const std::set<std::string> sums = {"vmstat allocation_stalls"};
  for (const char* name : kMachines) {
    TestMachine machine(name);
    const Host host = machine.host();
    const auto identities = std::make_shared<Identities>(host);
    std::vector<Opened> opened = open_all({.host = host, .identities = identities});
    const std::set<std::string_view> exact = {"cpu",  "load",       "memory",  "pressure",      "vmstat",
                                              "disk", "filesystem", "network", "network_stack", "uptime"};
    std::erase_if(opened, [&](const Opened& one) { return !exact.contains(one.kind->name); });
    std::vector<Cells> whole;
    for (const Opened& one : opened) whole.push_back(one.sample());
    size_t compared = 0;
    for (const std::string& file : files_of(machine)) {
      const std::string text = machine.read(file);
      for (const Opened* one : readers_of(machine, file, opened, whole)) {
        const Cells& expected = whole[static_cast<size_t>(one - opened.data())];
        for (const size_t bytes : cuts_of(text.size())) {
          machine.write(file, text);
          machine.cut(file, bytes);
          machine.pass(2 * kMinute);
          for (const auto& [cell, value] : one->sample()) {
            if (sums.contains(cell)) continue;
            const auto it = expected.find(cell);
            ASSERT_TRUE(it != expected.end() && it->second == value)
                << name << " " << file << " cut off at " << bytes << ": " << cell << " is " << value;
            ++compared;
          }
        }
        machine.write(file, text);
        machine.pass(2 * kMinute);
        EXPECT_EQ(one->sample(), expected) << name << " " << file;  // and all is well again
      }
    }
    EXPECT_GT(compared, kIsLong ? 100'000U : 8'000U) << name;
  }
}

// Garbage costs numbers, not tables of another form, and when it has gone every cell is there again. Not with
// the same number: a counter that once was too large does not go back.
TEST(Collectors, OutliveGarbage) {
  std::mt19937 random(6);
  for (const char* name : kAllMachines) {
    TestMachine machine(name);
    const Host host = machine.host();
    const auto identities = std::make_shared<Identities>(host);
    const Surroundings surroundings{.host = host, .identities = identities, .per_core = true};
    const auto names = names_of_recorded(surroundings);
    const auto is_recorded = [&](const CollectorKind& kind) { return names.contains(kind.name); };
    const std::vector<Opened> opened = open_all(surroundings, is_recorded);
    std::vector<Cells> whole;
    for (const Opened& one : opened) whole.push_back(one.sample());
    size_t compared = 0;
    for (const std::string& file : files_of(machine)) {
      const std::string text = machine.read(file);
      const auto readers = readers_of(machine, file, opened, whole);
      const auto sample = [&](const std::string& garbled) {
        machine.write(file, garbled);
        machine.pass(2 * kMinute);
        for (const Opened* one : readers) one->sample();
      };
      const std::string pieces[] = {"9",
                                    "-",
                                    " ",
                                    "\n",
                                    ":",
                                    "=",
                                    std::string(1, '\0'),
                                    "\xff",
                                    "..",
                                    "/",
                                    "99999999999999999999",
                                    "-9223372036854775808",
                                    "9223372036854775807"};
      // Few for the many files that hold one number.
      for (size_t i = 0; i < std::clamp<size_t>(text.size() / 8, 2, kIsLong ? 150 : 3); ++i) {
        std::string garbled = text;
        garbled.replace(random() % (text.size() + 1), random() % 3, pieces[random() % std::size(pieces)]);
        sample(garbled);
      }
      std::string digits;
      for (const char c : text) digits += c >= '0' && c <= '9' ? std::string("9999999") : std::string(1, c);
      sample(digits);  // each number too large
      sample(text + text + text);
      sample(std::string(kIsLong ? 100'000 : 10'000, '9') + "\n" + text);
      sample(std::string(4096, '\0'));
      machine.write(file, text);
      machine.remove(file);
      machine.pass(2 * kMinute);
      for (const Opened* one : readers) one->sample();
      machine.write(file, text);
      machine.pass(2 * kMinute);
      for (const Opened* one : readers)
        EXPECT_EQ(names_of(one->sample()), names_of(whole[static_cast<size_t>(one - opened.data())]))
            << name << " " << file;
      compared += readers.size();
    }
    EXPECT_GT(compared, opened.size()) << name;
  }
}

}  // namespace
}  // namespace spotter::collect
