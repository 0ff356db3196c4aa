"""tools/check_names on small programs: what it finds, and what it lets be."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHECK = ROOT / "tools" / "check_names"


def check(tmp_path, **files):
    """Builds a program of these files of src/, as `folder__name` with its ending, and checks it."""
    sources = []
    for name, text in files.items():
        folder, _, rest = name.partition("__")
        path = tmp_path / "src" / folder / rest.replace("_h", ".h").replace("_cc", ".cc")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.suffix == ".cc":
            sources.append(path)
    program = tmp_path / "program"
    subprocess.run(["clang++-19", "-std=c++20", "-O0", "-g", f"-I{tmp_path}/src", *sources, "-o", program], check=True)
    done = subprocess.run([CHECK, program, tmp_path], stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


MAIN = "int one(); int two(); int main() { return one() + two(); }"


def test_an_inline_function_with_another_return_type(tmp_path):
    status, out = check(
        tmp_path,
        a__ratio_h="namespace s { inline double ratio(long a, long b) { return double(a) / double(b); } }",
        a__one_cc='#include "a/ratio.h"\nint one() { return int(s::ratio(1, 2)); }',
        b__two_cc="namespace s { inline int ratio(long a, long b) { return int(a / b); } }\nint two() { return s::ratio(1, 2); }",
        app__main_cc=MAIN,
    )
    assert status == 1
    assert "function s::ratio is defined in a/ratio.h and in b/two.cc" in out


def test_a_type_and_a_variable(tmp_path):
    status, out = check(
        tmp_path,
        a__one_cc="namespace s { struct Options { int a = 1; }; int made = 3; }\nint one() { return s::Options().a + s::made; }",
        b__two_cc="namespace s { struct Options { char b = 2; }; const char* unmade = 0; }\nint two() { return s::Options().b; }",
        app__main_cc=MAIN,
    )
    assert status == 1
    assert "type s::Options is defined in a/one.cc and in b/two.cc" in out
    assert "made is defined" not in out


def test_what_may_be(tmp_path):
    status, out = check(
        tmp_path,
        a__one_cc="namespace s::a { int half(int x) { return x / 2; } }\nnamespace s { namespace { int own() { return 1; } } }\n"
                  "int one() { return s::a::half(4) + s::own(); }",
        b__two_cc="namespace s::b { int half(int x) { return x / 2; } }\nnamespace s { namespace { char own() { return 1; } } }\n"
                  "int two() { return s::b::half(4) + s::own(); }",
        app__main_cc=MAIN,
    )
    assert status == 0, out


def test_a_program_without_debug_information_proves_nothing(tmp_path):
    status, _ = check(tmp_path, a__one_cc="int one() { return 1; }", b__two_cc="int two() { return 2; }", app__main_cc=MAIN)
    assert status == 1
