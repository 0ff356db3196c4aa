#include "render/source_links.h"

#include <gtest/gtest.h>

#include "base/text/utf8.h"
#include "render/list.h"

namespace spotter::render {
namespace {

SourceLinks links_of(std::string_view words) {
  auto links = SourceLinks::parse(words);
  EXPECT_TRUE(links) << words;
  return links ? *links : SourceLinks();
}

std::string address(std::string_view words, std::string_view frame) { return links_of(words).address(frame); }

constexpr const char* kCode = "vscode://file{path}:{line}:{column}";
constexpr const char* kGit = "/w=https://github.com/o/r/blob/abc/{relative}#L{line}";

TEST(SourceLinks, AddressesOfWhatTracesWrite) {
  EXPECT_EQ(address(kCode, "/w/my model/train.py(118): step"), "vscode://file/w/my%20model/train.py:118:1");
  EXPECT_EQ(address(kCode, "/w/a (1)/b.py(7): <module>"), "vscode://file/w/a%20%281%29/b.py:7:1");
  EXPECT_EQ(address(kCode, "/w/b.py(7)"), "vscode://file/w/b.py:7:1");
  EXPECT_EQ(address(kCode, "/w/b.py:7"), "vscode://file/w/b.py:7:1");
  EXPECT_EQ(address(kCode, "/w/b.cu:7:4"), "vscode://file/w/b.cu:7:1");
  EXPECT_EQ(address(kCode, "/w/./x/../b.py(7): f"), "vscode://file/w/b.py:7:1");
  EXPECT_EQ(address(kGit, "/w/a/b.py(7): f"), "https://github.com/o/r/blob/abc/a/b.py#L7");
  EXPECT_EQ(address("https://gitlab.com/o/r/-/blob/abc/", "a/b.py(7): f"),
            "https://gitlab.com/o/r/-/blob/abc/a/b.py#L7");
}

TEST(SourceLinks, TheLongestRootCounts) {
  const std::string both = std::string(kGit) + " /w/lib=https://h/{relative} " + kCode;
  EXPECT_EQ(address(both, "/w/lib/b.py(7): f"), "https://h/b.py");
  EXPECT_EQ(address(both, "/w/library/b.py(7): f"), "https://github.com/o/r/blob/abc/library/b.py#L7");
  EXPECT_EQ(address(both, "/other/b.py(7): f"), "vscode://file/other/b.py:7:1");
  EXPECT_EQ(address("/=https://h/{relative}", "/a/b.py(7)"), "https://h/a/b.py");
}

TEST(SourceLinks, NoLineOfAFileThatIsKnown) {
  for (const char* frame :
       {"", "aten::mm", "nn.Module: Linear_3", "<string>(2): f", "<frozen os>(8): getenv", "Iteration(3)",
        "node1.cluster:8080", "b.py(7): f", "/../b.py(7): f", "\\\\evil\\share\\b.py(7): f", "/w/(7): f",
        "/w/b.py(12345678901): f", "/w/b.py()", "/w/b.py(7"})
    EXPECT_EQ(address(kCode, frame), "") << frame;
  EXPECT_EQ(address(kGit, "/x/b.py(7): f"), "");
  EXPECT_EQ(address("https://h/{relative}", "torch/nn/functional.py(7): f"), "");
  EXPECT_EQ(SourceLinks().address("/w/b.py(7): f"), "");
}

TEST(SourceLinks, NothingOfAPathEndsTheLink) {
  const std::string hostile = "/w/\x1b]8;;\x07\"?#%&:\xe2\x80\xae{line}.py(7): f";
  EXPECT_EQ(address(kCode, hostile),
            "vscode://file/w/%1B%5D8%3B%3B%07%22%3F%23%25%26%3A%E2%80%AE%7Bline%7D.py:7:1");
  EXPECT_EQ(address(kGit, "/w/../../evil/b.py(7): f"), "");
  EXPECT_EQ(address(kGit, "/w/@evil.example/b.py(7): f"),
            "https://github.com/o/r/blob/abc/%40evil.example/b.py#L7");
}

TEST(SourceLinks, AddressesThatAreNone) {
  for (const char* words :
       {"javascript:alert({path})", "JavaScript://x/{path}", "data:text/html,{path}", "file://{path}",
        "{path}", "x", "https://{relative}", "https:///{relative}", "https://h/{path}{evil}", "https://h/{",
        "/w=", "/w=x/{path}", "https:\\\\h\\{path}", "https://h/\x1b{path}", "x y://{path}"})
    EXPECT_FALSE(SourceLinks::parse(words)) << words;
  EXPECT_TRUE(links_of("").empty());
  EXPECT_TRUE(links_of(" \n").empty());
  EXPECT_FALSE(links_of("https://h/x?a={relative}").empty());
}

constexpr const char* kEnd = "\x1b]8;;\x1b\\";

TEST(SourceLinks, InProseAndStacks) {
  const SourceLinks links = links_of(kCode);
  const std::string b = "\x1b]8;;vscode://file/w/b.py:7:1\x1b\\/w/b.py(7)" + std::string(kEnd);
  EXPECT_EQ(links.linked("/w/b.py(7): f;/w/b.py(7): g"), b + ": f;" + b + ": g");
  EXPECT_EQ(links.linked("at (/w/b.py(7)), twice, in /w/b.py(7)."), "at (" + b + "), twice, in " + b + ".");
  EXPECT_EQ(links.linked("see\n  /w/b.py(7): it"), "see\n  " + b + ": it");
  EXPECT_EQ(links.linked("nothing: a(1) 3:4"), "nothing: a(1) 3:4");
  EXPECT_EQ(SourceLinks().linked("/w/b.py(7): f"), "/w/b.py(7): f");
}

const Field kPlaces[] = {
    {"name", Type::text, Unit::none, Role::key, "The function."},
    {"calls", Type::integer, Unit::count, Role::value, "How often."},
};

// What a terminal shows of a text with links.
std::string without_links(std::string text) {
  for (size_t at = text.find("\x1b]8;;"); at != text.npos; at = text.find("\x1b]8;;"))
    text.erase(at, text.find("\x1b\\", at) + 2 - at);
  return text;
}

TEST(SourceLinks, CellsOfATableKeepTheirPlaces) {
  Table table("t", kPlaces);
  table.append({"/a/rather/long/path/to/the/file/which/is/called/train.py(118): train_step", 3});
  table.append({"aten::mm", 12345});
  const TextStyle plain{.width = 40};
  TextStyle style = plain;
  style.source_links = links_of(kCode);
  const std::string linked = render_text_table(table, style);
  EXPECT_EQ(without_links(linked), render_text_table(table, plain));
  EXPECT_NE(linked.find("vscode://file/a/rather/long/path/to/the/file/which/is/called/train.py:118:1"),
            linked.npos);
}

}  // namespace
}  // namespace spotter::render
