"""tools/check_layers on small made-up trees."""
import pathlib
import re
import subprocess

import pytest

FOLDERS = """
spotter_folder(base fmt::fmt)
spotter_folder(table base)
spotter_folder(render table)
spotter_folder(trace base)
spotter_folder(read trace isal ${ZSTD})
spotter_folder(analyze trace table)
spotter_folder(export analyze read)
spotter_folder(app read analyze render CLI11::CLI11)
"""
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers"


def check(root: pathlib.Path, path: str, line: str):
    (root / "CMakeLists.txt").write_text(FOLDERS)
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"// a file\n{line}\n")
    return subprocess.run([TOOL, root], capture_output=True, text=True)


@pytest.mark.parametrize("path, line", [
    ("src/table/a.cc", '#include "base/result.h"'),
    ("src/render/a.cc", '#include "base/result.h"'),
    ("src/app/a.cc", '#include "read/open.h"'),
    ("src/analyze/a.cc", '#include "trace/trace.h"'),
    ("src/read/a.cc", "#include <isa-l.h>"),
    ("src/base/a_test.cc", "#include <gtest/gtest.h>"),
    ("src/base/a.cc", "#include <sys/mman.h>"),
    ("src/base/a.cc", "#include <string_view>"),
    ("bench/floor.cc", "#include <simdjson.h>"),
    ("bench/floor.cc", '#include "bench/floor.h"'),
    ("fuzz/json.cc", '#include "read/open.h"'),
    ("src/base/a.cc", '// #include "read/open.h"'),
])
def test_allowed(tmp_path, path, line):
    result = check(tmp_path, path, line)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path, line, words", [
    ("src/base/a.cc", '#include "table/table.h"', "base must not include table"),
    ("src/trace/a.cc", '#include "table/table.h"', "trace must not include table"),
    ("src/analyze/a.cc", '#include "read/open.h"', "analyze must not include read"),
    ("src/analyze/a.h", '#  include "render/render.h"', "analyze must not include render"),
    ("src/analyze/a_test.cc", '#include "read/open.h"', "analyze must not include read"),
    ("src/read/a.cc", "#include <simdjson.h>", "<simdjson.h> is confined"),
    ("src/render/a.cc", "#include <CLI/CLI.hpp>", "<CLI/CLI.hpp> is confined"),
    ("src/trace/a.cc", "#include <zstd.h>", "<zstd.h> is confined"),
    ("src/base/a.cc", "#include <gtest/gtest.h>", "is confined"),
    ("src/base/a.cc", "#include <boost/asio.hpp>", "is confined"),
    ("src/base/a.cc", "#include <rapidjson/document.h>", "has no home"),
    ("src/base/a.cc", '#include "result.h"', "from src/"),
    ("src/base/a.cc", '#include "../base/result.h"', "from src/"),
    ("src/utils/a.cc", '#include "base/result.h"', "does not know the folder"),
    ("fuzz/json.cc", '#include "nothing/open.h"', "no folder"),
])
def test_refused(tmp_path, path, line, words):
    result = check(tmp_path, path, line)
    assert result.returncode == 1
    assert words in result.stdout and f"{path}:2:" in result.stdout


def test_an_empty_tree_is_not_a_pass(tmp_path):
    assert subprocess.run([TOOL, tmp_path], capture_output=True).returncode == 1


@pytest.mark.parametrize("path, namespace", [
    ("src/base/a.h", "spotter"),
    ("src/table/a.h", "spotter::table"),
    ("src/table/table.h", "spotter"),
    ("src/trace/a.cc", "spotter"),  # a member of a noun, defined where it is derived
    ("src/trace/deeper/a.h", "spotter::trace"),
    ("src/read/a.h", "spotter::read::json"),
    ("src/export/a.h", "spotter::export_"),
    ("src/read/a.h", "boost::json"),
    ("bench/a.cc", "spotter::bench"),
])
def test_namespaces_of_folders(tmp_path, path, namespace):
    result = check(tmp_path, path, f"namespace {namespace} {{")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path, namespace, own", [
    ("src/table/a.h", "spotter", "spotter::table"),
    ("src/read/a.cc", "spotter", "spotter::read"),
    ("src/read/a.h", "spotter::trace", "spotter::read"),
    ("src/read/a.h", "spotter::reading", "spotter::read"),
    ("src/base/a.h", "spotter::base", "spotter"),
    ("src/export/a.h", "spotter::exports", "spotter::export_"),
])
def test_namespaces_of_others(tmp_path, path, namespace, own):
    result = check(tmp_path, path, f"namespace {namespace} {{")
    assert result.returncode == 1
    assert f"{path}:2: {namespace} is not its namespace, {own}" in result.stdout


def has_files(root: pathlib.Path, *files: str):
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("// a file\n")


@pytest.mark.parametrize("path, line", [
    ("src/app/a.cc", "// As there (table/table.h), and in src/table/text/cell.h."),
    ("src/table/a.h", "int a = 0;  // text/cell.h of this folder"),
    ("fuzz/a.cc", "// src/table/table.h"),
    ("src/app/a.cc", "// torch/headeronly/Type.h of PyTorch; https://x.org/table/gone.h; text/cell.h of another folder"),
    ("src/app/a.cc", 'const char* text = "table/gone.h";'),
])
def test_comments_name_files_that_are_there(tmp_path, path, line):
    has_files(tmp_path, "src/table/table.h", "src/table/text/cell.h")
    result = check(tmp_path, path, line)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path, line, name", [
    ("src/app/a.cc", "// Of what is there (table/cell.h) this is a part.", "table/cell.h"),
    ("src/app/a.cc", "int a = 0;  // table/table.h, and table/text/gone.cc", "table/text/gone.cc"),
    ("src/table/a.h", "// text/gone.h", "text/gone.h"),
    ("fuzz/a.cc", "// src/table/gone.h", "table/gone.h"),
    ("src/app/a.cc", '#include "table/table.h"  // table/gone.h', "table/gone.h"),
])
def test_comments_that_name_files_that_are_not_there(tmp_path, path, line, name):
    has_files(tmp_path, "src/table/table.h", "src/table/text/cell.h")
    (tmp_path / "src/app").mkdir(parents=True, exist_ok=True)
    result = check(tmp_path, path, line)
    assert result.returncode == 1
    assert f"{path}:2: a comment names {name}, which is not there" in result.stdout


def test_the_picture_of_folders_is_that_of_the_build():
    """In CONTRIBUTING.md: an arrow leads to a folder from each that its spotter_folder() names."""
    root = TOOL.parents[1]
    lines = re.findall(r"^spotter_folder\((\w+)([^)]*)\)$", (root / "CMakeLists.txt").read_text(), re.MULTILINE)
    built = {folder: set(re.findall(r"\w+", rest)) & {name for name, _ in lines} for folder, rest in lines}
    picture = next(block for block in (root / "CONTRIBUTING.md").read_text().split("```\n") if "app sees all" in block)
    drawn = {"app": built["app"]}
    for arrow in re.split(r" {2,}|\n", picture.replace("app sees all", "").strip()):
        sources, targets = ({*side.split(", ")} for side in arrow.split(" ─► "))
        for folder in targets:
            drawn.setdefault(folder, set()).update(sources)
    assert drawn == {folder: named for folder, named in built.items() if named}
