#include "wire/file_results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyze/list.h"
#include "analyze/test_trace.h"
#include "base/version.h"
#include "wire/json.h"

namespace spotter::wire {
namespace {

namespace json = boost::json;

// What a job of one random trace gives, a file that failed and one that is not wanted.
std::vector<analyze::FileResult> some_files(std::span<const Analysis* const> analyses) {
  TraceFile file;
  file.path = "node1:/tmp/r\"1\xc3\xa4.json";
  Job job;
  job.files = {file};
  analyze::RunRequest request;
  request.analyses.assign(analyses.begin(), analyses.end());
  const auto load = [](const TraceFile&, const LoadRequest&) -> Result<TracePtr> {
    return analyze::random_trace(7).trace;
  };
  std::vector<analyze::FileResult> files = analyze::map_files(job, request, load)->files;
  files[0].notes.add("truncated", Severity::loss, "the file ends early", 1234, 3);
  files[0].notes.add({"k", Severity::info, 2, -1, "node1:rank", 2, "a sentence"});
  analyze::FileResult bad;
  bad.evidence = {"b.json", {}, 3, true, -5, INT64_MAX};
  bad.error = Error{Code::corrupt, "no JSON"};
  analyze::FileResult unwanted;
  unwanted.evidence = {"c.json", -1, {}, false, 0, 0};
  unwanted.unwanted = true;
  files.push_back(bad);
  files.push_back(unwanted);
  return files;
}

bool same(const Value& a, const Value& b) {
  const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  return a == b || (x && y && std::isnan(*x) && std::isnan(*y));
}

void expect_same(const Table& a, const Table& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_TRUE(has_columns(a, b.schema()));
  ASSERT_EQ(a.rows(), b.rows());
  for (size_t row = 0; row < a.rows(); ++row)
    for (size_t column = 0; column < a.columns(); ++column)
      EXPECT_TRUE(same(a.at(row, column), b.at(row, column))) << a.name() << ' ' << row << ' ' << column;
  EXPECT_TRUE(std::ranges::equal(a.notes.all(), b.notes.all()));
}

void expect_same(const analyze::FileResult& a, const analyze::FileResult& b) {
  EXPECT_EQ(a.evidence.path, b.evidence.path);
  EXPECT_EQ(a.evidence.contents_rank, b.evidence.contents_rank);
  EXPECT_EQ(a.evidence.name_rank, b.evidence.name_rank);
  EXPECT_EQ(a.evidence.has_events, b.evidence.has_events);
  EXPECT_EQ(a.evidence.start, b.evidence.start);
  EXPECT_EQ(a.evidence.end, b.evidence.end);
  EXPECT_EQ(a.unwanted, b.unwanted);
  ASSERT_EQ(a.error.has_value(), b.error.has_value());
  if (a.error) {
    EXPECT_EQ(a.error->code, b.error->code);
    EXPECT_EQ(a.error->message, b.error->message);
  }
  EXPECT_TRUE(std::ranges::equal(a.notes.all(), b.notes.all()));
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (size_t i = 0; i < a.tables.size(); ++i) expect_same(a.tables[i], b.tables[i]);
}

TEST(FileResults, ComeBackTheSame) {
  const auto files = some_files(analyze::all_analyses());
  const auto back =
      read_file_results(file_results_text(files, analyze::all_analyses()), analyze::all_analyses());
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), files.size());
  for (size_t i = 0; i < files.size(); ++i) expect_same(files[i], (*back)[i]);
}

TEST(FileResults, NoFiles) {
  const auto back =
      read_file_results(file_results_text({}, analyze::all_analyses()), analyze::all_analyses());
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->empty());
}

const Analysis kNumbers = [] {
  static const Field columns[] = {kRankField,
                                  {"name", Type::text, Unit::none, Role::key, ""},
                                  {"real", Type::real, Unit::ratio, Role::value, ""},
                                  {"whole", Type::integer, Unit::ns, Role::value, ""},
                                  {"flag", Type::flag, Unit::none, Role::detail, ""}};
  return Analysis{"numbers", "", "", {}, columns, {}, nullptr};
}();
const Analysis* const kOnlyNumbers[] = {&kNumbers};

analyze::FileResult of_numbers() {
  analyze::FileResult file;
  file.evidence = {"a", {}, {}, true, 0, 0};
  file.tables.emplace_back("numbers", map_columns(kNumbers));
  return file;
}

TEST(FileResults, CellsOfEveryKind) {
  analyze::FileResult file = of_numbers();
  Table& table = file.tables[0];
  const double odd[] = {0.1, -0.0, 1e308, 5e-324, 0.1 + 0.2, 1.0 / 3, INFINITY, -INFINITY, NAN};
  for (const double real : odd) table.append({std::string_view("x\0y", 3), real, INT64_MIN, true});
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i)
    table.append({"", std::bit_cast<double>(random()), static_cast<i64>(random()), false});
  table.append({"last", {}, {}, {}});
  const auto back = read_file_results(file_results_text(std::span(&file, 1), kOnlyNumbers), kOnlyNumbers);
  ASSERT_TRUE(back) << back.error().message;
  expect_same(file.tables[0], (*back)[0].tables[0]);
  EXPECT_TRUE(std::signbit((*back)[0].tables[0].real(1, 1)));
}

TEST(FileResults, TextThatIsNoUtf8IsMended) {
  analyze::FileResult file = of_numbers();
  file.tables[0].append({"a\xff", 1.0, i64{1}, true});
  const auto back = read_file_results(file_results_text(std::span(&file, 1), kOnlyNumbers), kOnlyNumbers);
  ASSERT_TRUE(back);
  EXPECT_EQ((*back)[0].tables[0].text(0, 0), "a\xef\xbf\xbd");
}

TEST(FileResults, OfAnotherVersion) {
  std::string text = file_results_text({}, analyze::all_analyses());
  const std::string ours = fmt::format("\"{}\"", kVersion);
  text.replace(text.find(ours), ours.size(), "\"99.7\\u001b\"");
  const auto read = read_file_results(text, analyze::all_analyses());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::unsupported);
  EXPECT_NE(read.error().message.find("99.7"), std::string::npos);
  EXPECT_NE(read.error().message.find(kVersion), std::string::npos);
  EXPECT_EQ(read.error().message.find('\x1b'), std::string::npos);
  EXPECT_NE(read.error().message.find("install one version on both"), std::string::npos);
}

TEST(FileResults, OfOtherAnalyses) {
  const std::string text = file_results_text({}, analyze::all_analyses().first(2));
  EXPECT_EQ(read_file_results(text, analyze::all_analyses()).error().code, Code::unsupported);
  EXPECT_EQ(read_file_results(text, analyze::all_analyses().subspan(0, 1)).error().code, Code::unsupported);
  EXPECT_TRUE(read_file_results(text, analyze::all_analyses().first(2)));
}

TEST(FileResults, OfOtherColumns) {
  std::string text = file_results_text({}, kOnlyNumbers);
  for (const auto& [from, to] : {std::pair("\"ratio\"", "\"ns\""), std::pair("\"real\"", "\"integer\"")}) {
    std::string other = text;
    other.replace(other.find(from), std::string_view(from).size(), to);
    const Error error = read_file_results(other, kOnlyNumbers).error();
    EXPECT_EQ(error.code, Code::unsupported);
    EXPECT_NE(error.message.find(fmt::format("other columns of {}", kOnlyNumbers[0]->name)),
              std::string::npos)
        << error.message;
    EXPECT_NE(error.message.find("install one version on both"), std::string::npos);
  }
}

TEST(FileResults, CutAnywhere) {
  const auto files = some_files(analyze::all_analyses().first(1));
  const std::string text = file_results_text(files, analyze::all_analyses().first(1));
  for (size_t bytes = 0; bytes < text.size(); ++bytes) {
    const auto read =
        read_file_results(std::string_view(text).substr(0, bytes), analyze::all_analyses().first(1));
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, Code::corrupt);
  }
  EXPECT_FALSE(read_file_results(text + "}", analyze::all_analyses().first(1)));
}

// Every value inside `value`, itself included.
void visit(json::value& value, const std::function<void(json::value&)>& act) {
  act(value);
  if (value.is_array())
    for (json::value& element : value.get_array()) visit(element, act);
  if (value.is_object())
    for (auto& member : value.get_object()) visit(member.value(), act);
}

// Whether a changed text is taken. One that is not is an error of the two kinds; one that is has a meaning:
// written and read again it is the same, and it reduces to tables of the analyses' form or to an error.
bool is_taken(const std::string& text, const analyze::RunRequest& request) {
  auto read = read_file_results(text, request.analyses);
  if (!read) {
    EXPECT_TRUE(read.error().code == Code::corrupt || read.error().code == Code::unsupported);
    EXPECT_FALSE(read.error().message.empty());
    return false;
  }
  const auto again = read_file_results(file_results_text(*read, request.analyses), request.analyses);
  EXPECT_TRUE(again && again->size() == read->size()) << text;
  if (again && again->size() == read->size())
    for (size_t i = 0; i < read->size(); ++i) expect_same((*read)[i], (*again)[i]);
  analyze::MappedJob job;
  job.files = std::move(*read);
  const auto reduced = analyze::reduce_files(std::move(job), request);
  if (!reduced) {
    EXPECT_FALSE(reduced.error().message.empty());
    return true;
  }
  EXPECT_EQ(reduced->tables.size(), request.analyses.size());
  for (size_t i = 0; i < reduced->tables.size(); ++i)
    EXPECT_TRUE(has_columns(reduced->tables[i], request.analyses[i]->columns)) << request.analyses[i]->name;
  return true;
}

bool is_whole(const json::value& value) { return value.is_int64() || value.is_uint64(); }

TEST(FileResults, EachValueOfAnotherType) {
  analyze::RunRequest request;
  request.analyses = {&analyze::kSummary, &analyze::kKernelDurationDistribution, &analyze::kKernelBreakdown};
  json::value document = json::parse(file_results_text(some_files(request.analyses), request.analyses));
  const json::value others[] = {nullptr,       true,          -1, 1.5, INT64_MAX, UINT64_MAX, "x",
                                json::array{}, json::object{}};
  size_t taken = 0, refused = 0;
  visit(document, [&](json::value& place) {
    const json::value kept = place;
    for (const json::value& other : others) {
      place = other;
      const bool is_so = is_taken(json::serialize(document), request);
      ++(is_so ? taken : refused);
      // Only what may be there or not has two types.
      const bool is_of_type = kept.kind() == other.kind() || (is_whole(kept) && is_whole(other)) ||
                              kept.is_null() || other.is_null();
      EXPECT_TRUE(!is_so || is_of_type) << json::serialize(kept) << " -> " << json::serialize(other);
    }
    place = kept;
    if (place.is_array() && !place.get_array().empty()) {
      place.get_array().pop_back();
      (void)is_taken(json::serialize(document), request);
      place = kept;
    }
  });
  EXPECT_GT(taken, 100U);
  EXPECT_GT(refused, 1000U);
}

TEST(FileResults, BytesChanged) {
  analyze::RunRequest request;
  request.analyses = {&analyze::kSummary, &analyze::kKernelDurationDistribution};
  const std::string text = file_results_text(some_files(request.analyses), request.analyses);
  std::mt19937 random(1);
  int taken = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string other = text;
    // Most bytes are no part of any text; a printable one is often taken.
    const bool is_printable = i % 2 == 0;
    for (int change = 0; change < 1 + i % 3; ++change)
      other[random() % other.size()] = static_cast<char>(is_printable ? ' ' + random() % 95 : random());
    taken += is_taken(other, request);
  }
  EXPECT_GT(taken, 50);
  EXPECT_LT(taken, 4'000);
}

TEST(FileResults, CellsThatMustBeThere) {
  analyze::FileResult file = of_numbers();
  file.tables[0].append({{}, 1.0, i64{1}, true});
  EXPECT_FALSE(read_file_results(file_results_text(std::span(&file, 1), kOnlyNumbers), kOnlyNumbers));
}

TEST(FileResults, RealsThatAreNone) {
  analyze::FileResult file = of_numbers();
  file.tables[0].append({"a", 0.25, i64{1}, true});
  const std::string text = file_results_text(std::span(&file, 1), kOnlyNumbers), real = "\"0.25\"";
  for (const char* none : {"\"\"", "\"x\"", "\"1x\"", "\" 1\"", "0.25"}) {
    std::string other = text;
    other.replace(other.find(real), real.size(), none);
    const auto read = read_file_results(other, kOnlyNumbers);
    ASSERT_FALSE(read) << none;
    EXPECT_EQ(read.error().code, Code::corrupt);
  }
}

TEST(FileResults, TooMuch) {
  analyze::FileResult file = of_numbers();
  for (int i = 0; i < 10'001; ++i) file.notes.add("k", Severity::info, fmt::format("sentence {}", i));
  EXPECT_FALSE(read_file_results(file_results_text(std::span(&file, 1), kOnlyNumbers), kOnlyNumbers));
  const auto read = read_file_results(std::string(kMostResultsBytes + 1, ' '), kOnlyNumbers);
  EXPECT_EQ(read.error().code, Code::corrupt);
}

}  // namespace
}  // namespace spotter::wire
