"""tools/batches on small made-up sources."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "batches"


def batches(folder: pathlib.Path, files: dict, lines: int = 100) -> list:
    for name, text in files.items():
        (folder / name).write_text(text)
    done = subprocess.run([TOOL, str(lines), *(folder / name for name in files)], capture_output=True, text=True, check=True)
    return [[pathlib.Path(path).name for path in batch.split("\n")] for batch in done.stdout.strip().split("\n\n") if batch]


def unnamed(text: str) -> str:
    return f"namespace spotter {{\nnamespace {{\n\n{text}\n\n}}  // namespace\n}}  // namespace spotter\n"


@pytest.mark.parametrize("own, use", [
    ("constexpr int kMost = 3;", unnamed("constexpr int kMost = 4;")),
    ("constexpr int kMost = 3;", "int f() { return kMost; }\n"),  # of a header
    ("constexpr Field kFields[] = {{1}, {2}};", "int f() { return kFields; }\n"),
    ("const std::vector<int> names{1};", "int f() { return names; }\n"),
    ("int sum(int a) {\n  return a;\n}", "int f() { return sum(1); }\n"),
    ("std::vector<std::string>\nsum(int a);", "int f() { return sum(1); }\n"),
    ("struct Row {\n  int a;\n};", "Row f();\n"),
    ("enum class Kind : u8 { a, b };", "Kind f();\n"),
    ("enum {\n  kStart,\n  kEnd = 7,\n};", "int f() { return kEnd; }\n"),
    ("using Rows = std::vector<int>;", "Rows f();\n"),
    ("namespace fs = std::filesystem;", "fs::path f();\n"),
    ("}\nusing std::chrono::steady_clock;\nnamespace {", "steady_clock f();\n"),
    ("}\nusing namespace std::literals;\nnamespace {", "int f();\n"),
    ("}\nusing std::string_literals::operator\"\"s;\nnamespace {", "int f();\n"),
    ("template <class T>\nT sum(T a);", "int f() { return sum(1); }\n"),
    ("TEST(Suite, Case) {}\n\n#define HERE 3", "int f() { return HERE; }\n"),
])
def test_apart(tmp_path, own, use):
    assert batches(tmp_path, {"a.cc": unnamed(own), "b.cc": use}) == []
    assert batches(tmp_path, {"a.cc": use, "b.cc": unnamed(own)}) == []


def test_names_of_headers(tmp_path):
    """A file's own name is not to meet that of a header which only its neighbour has."""
    src = tmp_path / "src"
    src.mkdir()
    (src / "row.h").write_text("namespace spotter {\nstruct Row {};\n}\n")
    (src / "table.h").write_text('#include "row.h"\n')
    own, use = unnamed("struct Row {};"), '#include "table.h"\n'
    assert batches(src, {"a.cc": own, "b.cc": use}) == batches(src, {"a.cc": use, "b.cc": own}) == []
    assert batches(src, {"a.cc": '#include "row.h"\n' + own, "b.cc": use}) == [["a.cc", "b.cc"]]  # alone it has both, too


@pytest.mark.parametrize("own, use", [
    ("constexpr int kMost = 3;", unnamed("constexpr int kLeast = 4;")),
    ("constexpr Field kColumns[] = {{1}, {2}};", unnamed("constexpr Field kColumns[] = {{3}};")),  # own_names.h
    ("constexpr int kMost = 3;", '// As kMost.\nconst char* f() { return "kMost"; }\n'),
    ("TEST(Suite, Case) {}", unnamed("TEST(Suite, Other) {}")),
    ("void f() const noexcept {\n  a = 1;\n}", "const int a = 1;\n"),
])
def test_together(tmp_path, own, use):
    assert batches(tmp_path, {"a.cc": unnamed(own), "b.cc": use}) == [["a.cc", "b.cc"]]


def test_each_batch_has_its_size(tmp_path):
    files = {f"{name}.cc": f"int {name};\n" * 40 for name in "abcde"}
    assert batches(tmp_path, files) == [["a.cc", "b.cc"], ["c.cc", "d.cc"]]


def test_who_cannot_join_one_joins_another(tmp_path):
    files = {"a.cc": unnamed("int x = 1;"), "b.cc": unnamed("int x = 2;"), "c.cc": unnamed("int y = 1;"), "d.cc": unnamed("int y = 2;")}
    assert batches(tmp_path, files) == [["a.cc", "c.cc"], ["b.cc", "d.cc"]]


def test_no_header_has_a_name_that_is_another_one_in_each_file(tmp_path):
    src = tmp_path / "src"
    src.mkdir()
    (src / "row.h").write_text("namespace spotter {\nextern const int kColumns;\n}\n")
    for name, text in (("a.cc", '#include "row.h"\n'), ("b.cc", unnamed("int x = 1;"))):
        (src / name).write_text(text)
    done = subprocess.run([TOOL, "100", src / "a.cc", src / "b.cc"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "row.h has kColumns" in done.stderr
