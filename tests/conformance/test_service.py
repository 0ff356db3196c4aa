"""The units of packaging/ under a real systemd, in a machine of its own that systemd-nspawn makes of this one's /usr."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import ROOT, program

PACKAGING = ROOT / "packaging"
UNITS = ("spotter.service", "spotter-helper.socket", "spotter-helper@.service")
CHECK = """
[Unit]
After=spotter.service
Requires=spotter-helper.socket
Wants=spotter.service
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /opt/tests/conformance/in_service.py
"""


def boot(folder, unit, *binds):
    """What is done ends with the machine; False: no machine can be made here."""
    command = ["systemd-nspawn", "--quiet", "--directory=/", "--volatile=yes", "--private-network", "--register=no",
               "--keep-unit", "--capability=all", "--system-call-filter=perf_event_open", "--link-journal=no", "--console=pipe", f"--bind={folder}:/out", *binds, "--boot", "--", f"--unit={unit}"]
    with (folder / "boot.log").open("wb") as log:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=120, check=False).returncode == 0


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    if os.geteuid() != 0 or not shutil.which("systemd-nspawn"):
        pytest.skip("a machine of our own needs root and systemd-nspawn")
    folder = tmp_path_factory.mktemp("machine")
    (folder / "ok.service").write_text("[Unit]\nSuccessAction=exit\n[Service]\nType=oneshot\nExecStart=/usr/bin/touch /out/ok\n")
    etc = "/etc/systemd/system"
    boot(folder, "ok.service", f"--bind-ro={folder}/ok.service:{etc}/ok.service")
    if not (folder / "ok").exists():
        pytest.skip("systemd-nspawn makes no machine here: " + (folder / "boot.log").read_text(errors="replace")[-300:])
    (folder / "check.service").write_text(CHECK)
    programs = folder / "bin"
    programs.mkdir()
    shutil.copy(program(), programs / "spotter")
    torch = folder / "torch"
    torch.mkdir()
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", ROOT / "tests" / "fakes" / "torch.cc", "-o", torch / "libtorch_cpu.so"], check=True)
    config = (PACKAGING / "agent.yaml").read_text().replace("# ipc_directory: ", "ipc_directory: ")
    (folder / "agent.yaml").write_text(config)
    boot(folder, "check.service", f"--bind-ro={folder}/check.service:{etc}/check.service",
         *(f"--bind-ro={PACKAGING / unit}:{etc}/{unit}" for unit in UNITS),
         f"--bind-ro={PACKAGING / 'spotter.sysusers'}:/etc/sysusers.d/spotter.conf", f"--bind-ro={programs}:/usr/local/bin",
         f"--bind-ro={torch}:/opt/torch",
         f"--bind-ro={folder}/agent.yaml:/etc/spotter/agent.yaml", f"--bind-ro={ROOT / 'tests'}:/opt/tests")
    assert (folder / "seen.json").exists(), (folder / "boot.log").read_text(errors="replace")[-3000:]
    found = json.loads((folder / "seen.json").read_text())
    assert "error" not in found, found
    return found


def test_it_runs_as_its_unit_says(seen):
    assert seen["unit"] | {"MainPID": ""} == {"ActiveState": "active", "SubState": "running", "MainPID": "", "NRestarts": "0",
                                              "User": "spotter"}
    status = seen["status"]
    assert "0" not in status["Uid"].split()
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 1 << 2 | 1 << 19 | 1 << 38
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
    assert seen["after"] == {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"}, seen
    assert seen["reload"] == seen["stop"] == ""


def test_it_measures(seen):
    assert {"cpu", "memory", "process", "job", "disk", "network", "timex"} <= {name for name, rows in seen["samples"].items() if rows}
    (process,) = seen["process"]
    assert process["job"] == "77" and process["rank"] == 0 and process["read_bytes"] is not None, process
    (status,) = [t for t in json.loads(seen["collectors"])["tables"] if t["name"] == "status"]
    assert len(status["rows"]) > 10 and not [row for row in status["rows"] if re.search("denied|ermi[ts]|fails", str(row))], status


def test_it_reads_traces_of_others(seen):
    assert seen["analysis"]["status"] == 200 and "error" not in seen["analysis"]["file"], seen["analysis"]
    # Once for the analysis, once for the probe.
    assert seen["helper_socket"] == {"ActiveState": "active", "NAccepted": "2", "NRefused": "0"}


@pytest.mark.skipif(not pathlib.Path("/sys/bus/event_source/devices/uprobe").exists(), reason="the kernel has no uprobes")
def test_it_sees_steps_by_its_helpers_probe(seen):
    (row,) = seen["step"]
    assert (row["job"], row["rank"], row["source"]) == ("77", 0, "profilerStep")
    assert row["steps"] > 1 and 5e6 < row["step_ns"] < 2e8, row


def test_its_places(seen):
    owner = seen["status"]["Uid"].split()[0]
    assert seen["files"]["/run/spotter"] == f"0o755 {owner}"
    assert seen["files"]["/run/spotter/ipc"] == f"0o1777 {owner}"
    assert seen["files"]["/run/spotter/agent.sock"] == f"0o666 {owner}"
    assert seen["files"]["/var/lib/spotter/history.db"].endswith(owner)


@pytest.mark.parametrize(("unit", "most"), [("spotter.service", 3.4), ("spotter-helper@.service", 1.9)])
def test_exposure(unit, most):
    """Of 10: `systemd-analyze security`, as low as can be while all works."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", PACKAGING / unit], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False).stdout
    assert float(re.search(r"exposure level for .*: ([0-9.]+) ", done)[1]) <= most, done[-500:]
