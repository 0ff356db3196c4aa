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
"""


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
])
def test_allowed(tmp_path, files):
    result = check(tmp_path, files)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("files, words", [
    ({"base/a.cc": "#include <map>\n\nstd::vector<int> a;\n"}, "src/base/a.cc:3: std::vector needs <vector>"),
    ({"base/b.h": "#include <map>\n", "base/a.cc": 'std::map<int, int> a;\n'}, "src/base/a.cc:1: std::map needs <map>"),
    ({"base/a.cc": '// #include <fmt/format.h>\nauto a = fmt::format("");\n'}, "src/base/a.cc:2: fmt::format needs <fmt/format.h>"),
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
