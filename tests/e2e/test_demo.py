"""The end of the demo, as whoever has no PyTorch sees it: a message about steps that became slower, and nothing that goes on running."""

import contextlib
import pathlib
import re
import subprocess

from agent import ROOT, clean_environment, program


def mentions(process, word):
    """Whether a process has it in its command line or environment."""
    with contextlib.suppress(OSError):
        return any(word in (process / name).read_bytes() for name in ("cmdline", "environ"))
    return False


def test_it_ends_with_a_message_and_leaves_nothing_running(tmp_path):
    done = subprocess.run([ROOT / "tools" / "demo_loop", program(), tmp_path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=110,
                          check=False, env=clean_environment())
    assert done.returncode == 0, done
    said = " ".join(re.sub(r"\x1b\[\d+m", "", done.stdout).split())
    [job] = set(re.findall(r"Job (demo-\d+)", said))
    assert re.search(rf"Warning · Job {job} .*: steps [\d.]+ → [\d.]+ ms \(\+\d+ %\) since ", said), said
    assert f"spotter incidents {job}-speed-1" in said and "automatic captures are off" in said, said
    for word in (job, str(tmp_path)):
        assert [process for process in pathlib.Path("/proc").glob("[0-9]*") if mentions(process, word.encode())] == []
