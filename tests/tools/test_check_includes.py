"""tools/check_includes on small made-up trees."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_includes"
CMAKE = """
function(spotter_precompile target)
    target_precompile_headers(${target} PRIVATE ${ARGN} <fmt/format.h> <map>
                              <vector>)
endfunction()
spotter_folder(base)
spotter_folder(read base)
"""
ROW = "namespace spotter {\nstruct Row {\n  int a;\n};\n}\n"


def check(root: pathlib.Path, files: dict, cmake: str = CMAKE):
    (root / "CMakeLists.txt").write_text(cmake)
    for path, text in files.items():
        file = root / "src" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return subprocess.run([TOOL, root], capture_output=True, text=True)


@pytest.mark.parametrize("files", [
    {"base/a.cc": "#include <vector>\nstd::vector<int> a;\n"},
    {"base/a.cc": "// std::vector is not used\n"},
    {"base/a.cc": "std::vectors a;\n"},
    {"base/a.cc": "std::string a;\n"},  # not precompiled here
    {"base/a.h": '#include "base/b.h"\n', "base/b.h": "#include <map>\n", "base/a.cc": '#include "base/a.h"\nstd::map<int, int> a;\n'},
    {"base/row.h": ROW, "base/b.h": '#include "base/row.h"\n', "read/a.cc": '#include "base/b.h"\nRow a;\n'},
    {"base/row.h": ROW, "read/a.cc": '// A Row.\nconst char* a = "Row a";\nint b = c.Row();\n'},
    {"base/row.h": ROW, "read/a.cc": "struct Row {};\nRow a;\n"},
    {"base/row.h": ROW, "base/b.h": "class C {\n  struct Row {};\n};\n", "read/a.cc": '#include "base/b.h"\nRow a;\n'},  # C's
    {"base/row.h": ROW, "read/row.h": ROW, "read/a.cc": "Row a;\n"},  # which of them?
    {"read/row.h": ROW, "base/a.cc": "Row a;\n"},  # base may not include read
])
def test_allowed(tmp_path, files):
    result = check(tmp_path, files)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("files, words", [
    ({"base/a.cc": "#include <map>\n\nstd::vector<int> a;\n"}, "src/base/a.cc:3: std::vector needs <vector>"),
    ({"base/b.h": "#include <map>\n", "base/a.cc": 'std::map<int, int> a;\n'}, "src/base/a.cc:1: std::map needs <map>"),
    ({"base/a.cc": '// #include <fmt/format.h>\nauto a = fmt::format("");\n'}, "src/base/a.cc:2: fmt::format needs <fmt/format.h>"),
    ({"base/row.h": ROW, "read/a.cc": "Row a;\n"}, 'src/read/a.cc: Row needs "base/row.h"'),
    ({"base/row.h": ROW, "base/b.h": "struct Row;\n", "base/a.cc": "std::vector<Row> a;\n"}, 'src/base/a.cc: Row needs "base/row.h"'),
    ({"base/row.h": "using Row = int;\n", "base/a.cc": "int f(const Row& a);\n"}, 'Row needs "base/row.h"'),
    ({}, "0 files"),
])
def test_offences(tmp_path, files, words):
    result = check(tmp_path, files)
    assert result.returncode == 1
    assert words in result.stdout


def test_a_precompiled_header_without_words(tmp_path):
    result = check(tmp_path, {"base/a.cc": "int a;\n"}, CMAKE.replace("<map>", "<deque>"))
    assert result.returncode == 1
    assert "<deque> is precompiled" in result.stdout
