"""The manual page: mandoc's lint has nothing to say, and it shows all that the help does."""

import re
import shutil
import subprocess

import pytest

import harness


def tool(name):
    path = shutil.which(name)
    if not path:
        pytest.fail(f"{name} is not installed; tools/packages/test.txt names what the tests need")
    return path


@pytest.fixture(name="page", scope="module")
def manual_page(tmp_path_factory):
    done = harness.run("man")
    assert done.returncode == 0 and done.stderr == b""
    path = tmp_path_factory.mktemp("man") / "spotter.1"
    path.write_bytes(done.stdout)
    return path


def shown(path):
    done = subprocess.run([tool("man"), "-l", path], env={"MANWIDTH": "1000", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr == ""
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)


def test_lint(page):
    done = subprocess.run([tool("mandoc"), "-T", "lint", "-W", "warning", page], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_lint_can_find_something(tmp_path):
    bad = tmp_path / "bad.1"
    bad.write_text(".TH BAD 1\n.SS a\n.XY\n")
    done = subprocess.run([tool("mandoc"), "-T", "lint", "-W", "warning", bad], stdout=subprocess.PIPE, check=False)
    assert done.returncode != 0 and b"WARNING" in done.stdout


def test_shows_all_commands_with_all_words_of_their_help(page):
    text = " ".join(shown(page).split())
    commands = re.findall(r"^  (\S+)  ", harness.run("help").stdout.decode().partition("Commands:")[2].partition("Options:")[0],
                          re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        help_ = harness.run("help", command).stdout.decode()
        usage = re.match(r"Usage: (.*)\n", help_)[1]
        assert usage in text
        for line in help_.splitlines()[1:]:
            for words in re.split(r"\s{2,}", line.strip()):
                if words not in ("", "Arguments:", "Options:"):
                    assert words in text, (command, words)


def test_is_installed_with_the_completions(tmp_path):
    """Where man and the shells look for them below a prefix."""
    subprocess.run([tool("cmake"), "--install", harness.program().parent, "--prefix", tmp_path], stdout=subprocess.DEVNULL, check=True)
    for file, words in (("man/man1/spotter.1", ["man"]), ("bash-completion/completions/spotter", ["completion", "bash"]),
                        ("zsh/site-functions/_spotter", ["completion", "zsh"]),
                        ("fish/vendor_completions.d/spotter.fish", ["completion", "fish"])):
        assert (tmp_path / "share" / file).read_bytes() == harness.run(*words).stdout
