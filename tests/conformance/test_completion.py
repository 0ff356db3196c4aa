"""Completion in bash, zsh and fish themselves: what each offers for the words before the cursor."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

import harness

PATIENCE = 20


def shell_path(name):
    path = shutil.which(name)
    if not path:
        pytest.fail(f"{name} is not installed; tools/packages/test.txt names what the tests need")
    return path


class Terminal:
    """An interactive shell at a terminal of its own, in `folder`."""

    def __init__(self, command, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", HOME=str(folder), LC_ALL="C.UTF-8", COLUMNS="1000", HISTFILE="", PS1="$ ")
            os.execv(command[0], command)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, pattern):
        """What it prints up to the first match, which is given back."""
        text, end = "", time.monotonic() + PATIENCE
        while not (match := re.search(pattern, text, re.DOTALL)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"after {PATIENCE} s no {pattern!r} in {text!r}")
            text += os.read(self.fd, 65536).decode(errors="replace")
        return match

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Bash:
    """Readline inserts all completions into the line, which becomes a comment; the history has it."""

    def __init__(self, folder, script):
        self.terminal = Terminal([shell_path("bash"), "--norc", "--noprofile", "-i"], folder)
        self.terminal.type(f"stty cols 5000; bind '\"\\C-t\": insert-completions'; bind '\"\\C-x\": insert-comment'; "
                           f"source {script}; echo rea''dy\n")
        self.terminal.read_until("ready\r\n")

    def offers(self, line):
        self.terminal.type(f"{line}\x14\x18\nprintf '<<%s>>\\n' \"$(HISTTIMEFORMAT= history 2 | head -1)\" | sed 's/^/go/'\n")
        shown = self.terminal.read_until(r"go<<(.*?)>>")[1]
        shown = re.sub(r"^\s*\d+\s+#", "", shown)
        kept, _, begun = line.rpartition(" ")
        assert shown.startswith(kept), (shown, line)
        words = shown[len(kept):].split()
        return set(words) - {begun} if len(words) == 1 and words[0] == begun else set(words)

    def close(self):
        self.terminal.close()


ZSH_SETUP = r"""
PROMPT= RPROMPT=; unsetopt prompt_cr prompt_sp zle_bracketed_paste 2>/dev/null
autoload -Uz compinit; compinit -u -D
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
zstyle ':completion:*' list-prompt ''
compprefuncs=(begin-of-matches); comppostfuncs=(end-of-matches)
begin-of-matches() { compprefuncs=(begin-of-matches); print -r -- "<<" }
end-of-matches() { comppostfuncs=(end-of-matches); print -r -- ">>" }
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a matches
  builtin compadd -A matches "$@"
  print -rl -- match\ ${^matches}
  builtin compadd "$@"
}
"""


class Zsh:
    """Its completion system says each match that it is given by compadd."""

    def __init__(self, folder, script):
        self.folder, self.script = folder, script
        (folder / ".setup.zsh").write_text(ZSH_SETUP + f"source {script}\n")

    def offers(self, line):
        terminal = Terminal([shell_path("zsh"), "-f", "-i"], self.folder)
        try:
            terminal.type("source ./.setup.zsh; print rea''dy\n")
            terminal.read_until("ready\r\n")
            terminal.type(line + "\t")
            return set(re.findall(r"match (\S+)\r\n", terminal.read_until(r"<<\r\n(.*?)>>\r\n")[1]))
        finally:
            terminal.close()

    def close(self):
        (self.folder / ".setup.zsh").unlink()


class Fish:
    """`complete -C` prints what a line would be completed with."""

    def __init__(self, folder, script):
        self.folder, self.script = folder, script

    def offers(self, line):
        done = subprocess.run([shell_path("fish"), "--no-config", "-c", f"source {self.script}; complete -C $argv[1]", line],
                              cwd=self.folder, env=os.environ | {"HOME": str(self.folder)}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True, timeout=PATIENCE)
        assert done.stderr == ""
        return {word.split("\t")[0] for word in done.stdout.splitlines()}

    def close(self):
        pass


@pytest.fixture(scope="module", params=[Bash, Zsh, Fish], ids=["bash", "zsh", "fish"])
def shell(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    (folder / "traces").mkdir()
    (folder / "trace.json").touch()
    (folder / "other").touch()
    name = request.param.__name__.lower()
    script = tmp_path_factory.mktemp("script") / f"spotter.{name}"
    script.write_bytes(harness.run("completion", name).stdout)
    running = request.param(folder, script)
    yield running
    running.close()


def values(offered):
    """Of `--format=json` and of folders with a slash behind them the word itself."""
    return {word.rpartition("=")[2].rstrip("/") for word in offered}


def help_of(*command):
    return harness.run("help", *command).stdout.decode()


def commands():
    listed = re.search(r"\nCommands:\n(.*?)\n\n", help_of(), re.DOTALL)[1]
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


def flags_of(*command):
    options = help_of(*command).partition("\nOptions:\n")[2].split("\n\n")[0]
    return {flag for names in re.findall(r"^  (-[^\s,]+(?:, -[^\s,]+)*)", options, re.MULTILINE)
            for flag in names.split(", ") if flag.startswith("--")}


def metrics():
    document = harness.run("metrics", "--list", "--format", "json").stdout
    return {row["metric"] for row in harness.Answer(harness.json.loads(document))["metrics"]}


def test_commands(shell):
    assert shell.offers("spotter ") >= {*commands(), "help"}
    assert shell.offers("spotter ana") == {"analyze", "analyses"}  # and not analyze-part, which is no command for people
    assert shell.offers("spotter help exp") == {"export"}
    assert shell.offers("spotter --v") == {"--version"}


def test_flags_of_all_commands(shell):
    assert len(commands()) > 10
    for command in commands():
        assert shell.offers(f"spotter {command} --") == flags_of(command), command


@pytest.mark.parametrize(("line", "offered"), [
    ("analyze --table queue", {"queue_length", "queue_length_series", "queue_blocked"}),
    ("analyze --table fin", {"findings"}),
    ("analyze trace.json --format j", {"json"}),
    ("analyze trace.json --format=j", {"json"}),
    ("analyses kernel_l", {"kernel_launch_stats", "kernel_launches"}),
    ("analyze tra", {"traces", "trace.json"}),
    ("analyze trace.json tra", {"traces", "trace.json"}),
    ("analyze trace.json -o oth", {"other"}),
    ("diff trace.json oth", {"other"}),
    ("simulate -o tra", {"traces"}),
    ("simulate --era 202", {"2021", "2022", "2023", "2024"}),
    ("simulate --fault slow", {"slow-rank", "slow-link"}),
    ("metrics --catalogue s", {"series"}),
    ("metrics --once --table networ", {"network", "network_hardware", "network_stack"}),
    ("agent --log-level deb", {"debug"}),
    ("completion f", {"fish"}),
    ("analyze --threads 1", set()),
    ("ps x", set()),
])
def test_values(shell, line, offered):
    assert values(shell.offers("spotter " + line)) == offered


def test_metrics(shell):
    assert shell.offers("spotter metrics --metric gpu_mem") == {m for m in metrics() if m.startswith("gpu_mem")} != set()
