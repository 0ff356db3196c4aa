#include "read/receipts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/text/utf8.h"
#include "read/test_read.h"

namespace spotter::read {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrace =
    R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2}]})";

std::string receipts_of(std::string_view rows,
                        std::string_view columns = "host,pid,rank,state,file,size_bytes,took_ns,reason") {
  std::string fields;
  for (size_t at = 0; at <= columns.size(); at = std::min(columns.find(',', at), columns.size()) + 1) {
    const std::string_view name = columns.substr(at, columns.find(',', at) - at);
    fields += fmt::format("{}{{\"name\":\"{}\",\"type\":\"text\"}}", at == 0 ? "" : ",", name);
  }
  return fmt::format(R"({{"tables":[{{"name":"receipts","columns":[{}],"rows":[{}]}}],"notes":[]}})", fields,
                     rows);
}

TEST(ParseReceipts, TheColumnsByName) {
  const auto receipts = parse_receipts(receipts_of(
      R"(["n1",11,0,"written","/out/a.json",5,6,null],["n\u0032",12,null,"failed",null,null,7,"gone"])"));
  ASSERT_TRUE(receipts) << receipts.error().message;
  ASSERT_EQ(receipts->size(), 2u);
  const Receipt &a = receipts->at(0), &b = receipts->at(1);
  EXPECT_EQ(std::tie(a.host, a.state, a.file, a.reason), std::tuple("n1", "written", "/out/a.json", ""));
  EXPECT_EQ(std::tie(a.pid, a.rank), std::tuple(11, 0));
  EXPECT_EQ(std::tie(b.host, b.state, b.file, b.reason), std::tuple("n2", "failed", "", "gone"));
  EXPECT_EQ(std::tie(b.pid, b.rank), std::tuple(12, std::nullopt));
}

TEST(ParseReceipts, FromLaterAndEarlierWriters) {
  const auto later = parse_receipts(
      R"({"version": 2, "tables": [{"name": "processes"},
          {"x": [], "rows": [[3, "f", "written", {"a": [1]}, "h"]], "name": "receipts", "columns":
           [{"name": "rank"}, {"help": "]", "name": "file"}, {"name": "state"}, {"name": "x"}, {"name": "host"}]}]})");
  ASSERT_TRUE(later) << later.error().message;
  ASSERT_EQ(later->size(), 1u);
  EXPECT_EQ(later->at(0).rank, 3);
  EXPECT_EQ(later->at(0).file, "f");
  EXPECT_EQ(later->at(0).host, "h");
  const auto least = parse_receipts(receipts_of(R"(["written","f"])", "state,file"));
  ASSERT_TRUE(least);
  EXPECT_EQ(least->at(0).rank, std::nullopt);
}

TEST(ParseReceipts, CellsOfAnotherTypeAreEmpty) {
  const auto receipts = parse_receipts(
      receipts_of(R"([1,"x",-3,"written",["f"]],["n1",1.5,99999999999999999999,"written"],[],7)"));
  ASSERT_TRUE(receipts);
  ASSERT_EQ(receipts->size(), 4u);
  for (const Receipt& r : *receipts) {
    EXPECT_EQ(r.rank, std::nullopt);
    EXPECT_EQ(r.pid, std::nullopt);
    EXPECT_EQ(r.file, "");
  }
}

TEST(ParseReceipts, WhatIsSomethingElseIsAnError) {
  const std::string good = receipts_of(R"(["n1",1,0,"written","a.json",1,1,null])");
  for (size_t n = 0; n < good.size(); n++) EXPECT_FALSE(parse_receipts(good.substr(0, n))) << n;
  for (const std::string& text :
       {std::string("<html>"), std::string("[1, 2]"), std::string("{}"), std::string(R"({"tables": 7})"),
        std::string(R"({"tables": [{"name": "processes", "columns": [], "rows": []}]})"), std::string(kTrace),
        receipts_of("", "state,rank"), receipts_of("", "file"), std::string(100'000, '[')})
    EXPECT_FALSE(parse_receipts(text)) << text.substr(0, 100);
}

TEST(ParseReceipts, NoMoreThanAMillion) {
  std::string rows = "[]";
  for (int i = 1; i < 1'000'000; i++) rows += ",[]";
  EXPECT_TRUE(parse_receipts(receipts_of(rows)));
  EXPECT_FALSE(parse_receipts(receipts_of(rows + ",[]")));
}

class AddReceipts : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
  }
  fs::path folder() const { return file_.folder(); }
  std::string path(const std::string& name) const { return (folder() / name).string(); }
  // The files with the ranks and hosts of the receipts: "a.json 0 n1".
  std::vector<std::string> files(const Job& job) const {
    std::vector<std::string> out;
    for (const TraceFile& f : job.files) {
      const std::string rank = f.receipt_rank ? fmt::format("{}", *f.receipt_rank) : "-";
      out.push_back(fmt::format("{} {} {}", fs::path(f.path).filename().string(), rank, f.host));
    }
    return out;
  }
  Job open(const std::vector<std::string>& paths) const {
    auto job = open_job(paths);
    EXPECT_TRUE(job) << job.error().message;
    return job ? *job : Job();
  }
  Job open_folder() const { return open({folder().string()}); }
  // The only note, as text.
  static std::string note(const Job& job) {
    return job.notes.all().size() == 1 ? to_text(job.notes.all()[0])
                                       : fmt::format("{} notes", job.notes.all().size());
  }

 private:
  TemporaryFile file_{kTrace, "x.pt.trace.json"};
};

using Lines = std::vector<std::string>;

TEST_F(AddReceipts, ByNameWhereverTheFolderIsAndHoweverFilesArePacked) {
  write("y.pt.trace.json.gz", kTrace);
  write("z.json", kTrace);
  write("capture.json", receipts_of(R"(["n1",1,4,"written","/elsewhere/x.pt.trace.json",1,1,null],)"
                                    R"(["n2",2,2,"written","/elsewhere/y.pt.trace.json",1,1,null])"));
  const Lines expected = {"x.pt.trace.json 4 n1", "y.pt.trace.json.gz 2 n2", "z.json - "};
  EXPECT_EQ(files(open_folder()), expected);
  EXPECT_EQ(files(open({folder().string() + "/"})), expected);
  EXPECT_EQ(files(open({path("*.json*")})), expected);
  EXPECT_EQ(files(open({path("x.pt.trace.json")})), Lines{expected[0]});
  EXPECT_TRUE(open_folder().notes.empty());
}

TEST_F(AddReceipts, OfSeveralCaptures) {
  write("y.json", kTrace);
  write("capture.json", receipts_of(R"(["n1",1,4,"written","x.pt.trace.json",1,1,null])"));
  write("capture-20260101T000000-1.json", receipts_of(R"(["n1",1,5,"written","y.json",1,1,null])"));
  EXPECT_EQ(files(open_folder()), (Lines{"x.pt.trace.json 4 n1", "y.json 5 n1"}));
  write("capture-20260101T000000-2.json", receipts_of(R"(["n1",1,6,"written","y.json",1,1,null])"));
  const Job job = open_folder();
  EXPECT_EQ(files(job), (Lines{"x.pt.trace.json 4 n1", "y.json 5 n1"}));
  EXPECT_EQ(
      note(job),
      "receipts give a file another rank than a receipt before them, which counts (in capture-20260101T000000-2.json)");
}

TEST_F(AddReceipts, WhereTheSourceIs) {
  const std::string source = "https://github.com/o/r@" + std::string(40, 'a');
  write("y.json", kTrace);
  write("capture.json",
        receipts_of(
            fmt::format(R"(["x.pt.trace.json","written","{0}","/work"],["y.json","written","{0}","/work"])",
                        source),
            "file,state,source,source_root"));
  const std::string web = "https://github.com/o/r/blob/" + std::string(40, 'a');
  EXPECT_EQ(source_url_of(open_folder()), fmt::format("/work={0} {0}", web));
  write("z.json", kTrace);  // of which nothing is known
  EXPECT_EQ(source_url_of(open_folder()), "");
  EXPECT_EQ(source_url_of(open({path("y.json")})), fmt::format("/work={0} {0}", web));
}

TEST_F(AddReceipts, TheFilesOwnHostCounts) {
  write("y.json", R"({"host_name": "n9", "traceEvents": []})");
  write("capture.json", receipts_of(R"(["n1",1,4,"written","y.json",1,1,null])"));
  EXPECT_EQ(files(open({path("y.json"), path("x.pt.trace.json")}))[1], "y.json 4 n9");
  const Result<TracePtr> own = load(open({path("y.json")}).files[0], {});
  ASSERT_TRUE(own);
  EXPECT_EQ((*own)->info().host_name, "n9");
  write("capture.json", receipts_of(R"(["n1",1,4,"written","x.pt.trace.json",1,1,null])"));
  const Result<TracePtr> given = load(open({path("x.pt.trace.json")}).files[0], {});
  ASSERT_TRUE(given);
  EXPECT_EQ((*given)->info().host_name, "n1");
  EXPECT_EQ((*given)->info().rank, std::nullopt);
}

TEST_F(AddReceipts, WhatLeftNoTraceIsTold) {
  write("capture.json", receipts_of(R"(["n1",11,4,"written","/t/x.pt.trace.json",1,1,null],)"
                                    R"(["n2",12,3,"failed","/t/r3.json",null,1,"the process ended"],)"
                                    R"(["n2",13,5,"written","/t/r5.json",9,1,null],)"
                                    R"([null,14,null,"expired",null,null,1,null])"));
  const std::string told =
      "the capture of 4 processes is incomplete: rank 3 (n2, pid 12) failed: the process ended; "
      "rank 5 (n2, pid 13) wrote r5.json, which is not here; process 14 expired (in capture.json)";
  EXPECT_EQ(note(open_folder()), told);
  EXPECT_EQ(note(open({path("x.pt.trace.json"), path("capture.json")})), told);
  EXPECT_EQ(open_folder().notes.all()[0].severity, Severity::loss);
  // Whoever chooses one file does not ask for the others.
  EXPECT_TRUE(open({path("x.pt.trace.json")}).notes.empty());
}

TEST_F(AddReceipts, OfManyThatLeftNoTraceSomeAreNamed) {
  std::string rows;
  for (int i = 0; i < 1000; i++)
    rows += fmt::format(R"({}["n",1,{},"failed",null,null,1,"{}"])", i ? "," : "", i, std::string(9000, 'r'));
  write("capture.json", receipts_of(rows));
  const std::string told = note(open_folder());
  EXPECT_LT(told.size(), 3000u);
  EXPECT_NE(told.find("; and 995 more (in"), std::string::npos) << told;
}

TEST_F(AddReceipts, LongTextsAreToldInShort) {
  // Two bytes a letter, so that a cut may fall into one.
  std::string letters = "x";
  for (int i = 0; i < 100'000; i++) letters += "\xC3\xA4";
  write("capture.json",
        receipts_of(fmt::format(R"(["{0}",11,4,"failed","/{0}",1,1,"{0}"],["n",12,5,"{0}",null,1,1,null])",
                                letters)));
  const std::string told = note(open_folder());
  EXPECT_LT(told.size(), 10'000u);
  EXPECT_TRUE(is_valid_utf8(told));
}

TEST_F(AddReceipts, OfMoreThanAThousandCapturesInAFolderSomeAreLeftOut) {
  for (int i = 0; i < 1003; i++) write(fmt::format("capture-{}.json", i), receipts_of(""));
  const Job job = open_folder();
  EXPECT_EQ(job.receipts.size(), 1003u);
  EXPECT_EQ(note(job), "the receipts of 3 captures in one folder were left out; 1000 are read at most");
}

TEST_F(AddReceipts, ReceiptsThatCannotBeUsedAreALoss) {
  const auto told = [&](std::string_view text) {
    write("capture.json", text);
    const Job job = open_folder();
    EXPECT_EQ(job.files.size(), 1u);
    EXPECT_TRUE(!job.notes.empty() && job.notes.all()[0].severity == Severity::loss);
    return note(job);
  };
  const std::string start = "the receipts of a capture could not be used: ", end = " (in capture.json)";
  EXPECT_EQ(told(kTrace), start + "it has no table of receipts" + end);
  EXPECT_EQ(told(R"({"tables":[{"name":)"), start + "it is damaged or was cut off" + end);
  EXPECT_EQ(told(""),
            start + "the file is empty; the process that wrote it may have ended before its trace did" + end);
  EXPECT_EQ(told(std::string((size_t{64} << 20) + 1, ' ')), start + "it is longer than 64 MiB" + end);
  fs::remove(path("capture.json"));
  fs::create_directory(path("capture.json"));
  EXPECT_EQ(note(open_folder()), start + "is a directory" + end);
}

TEST_F(AddReceipts, ATraceOfSuchANameStaysATrace) {
  write("capture_rank3.json", kTrace);
  write("capture.json", kTrace);
  EXPECT_EQ(files(open({path("capture.json")})), Lines{"capture.json - "});
  EXPECT_EQ(files(open({path("cap*")})), (Lines{"capture.json - ", "capture_rank3.json - "}));
  EXPECT_EQ(files(open_folder()), (Lines{"capture_rank3.json - ", "x.pt.trace.json - "}));
  ASSERT_EQ(::mkfifo(path("capture-1.json").c_str(), 0600), 0);
  EXPECT_EQ(open({path("x.pt.trace.json")}).files.size(), 1u);  // does not wait
}

TEST_F(AddReceipts, AloneTheyAreNoTrace) {
  write("capture.json", receipts_of(""));
  const Result<Job> job = open_job(std::vector{path("capture.json")});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::not_found);
}

}  // namespace
}  // namespace spotter::read
