"""Runs in a machine that systemd has begun (test_service.py), beside the agent as its unit starts it: looks, and writes what it
saw to /out/seen.json."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, "/opt/tests/e2e")

import agent as agent_module  # noqa: E402
import analyses  # noqa: E402
import client  # noqa: E402

OWNER = 12345
SOCKET = "/run/spotter/agent.sock"


class Agent(agent_module.Agent):
    """The one that is there."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.folder, self.api_socket, self.out_dir = pathlib.Path("/run/test"), SOCKET, pathlib.Path("/tmp/traces")
        self.ipc_dir = pathlib.Path("/run/spotter/ipc")
        self.folder.mkdir()
        self.out_dir.mkdir()
        self.out_dir.chmod(0o1777)


def systemctl(*words):
    return subprocess.run(["systemctl", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def properties(unit, *names):
    return dict(line.split("=", 1) for line in systemctl("show", unit, "-p", ",".join(names)).splitlines())


def look():
    agent = Agent()
    agent_module.until(lambda: os.path.exists(SOCKET), 30, "the agent's socket")
    seen = {"unit": properties("spotter.service", "ActiveState", "SubState", "MainPID", "NRestarts", "User")}
    pid = int(seen["unit"]["MainPID"])
    seen["status"] = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    script = agent.folder / "as_user.py"
    # It takes a step of training each 20 ms, on its first thread.
    script.write_text(f"import ctypes, os, signal, sys\nsys.path.insert(0, '/opt/tests/e2e')\nimport client\n"
                      f"os.setgroups([]); os.setgid({OWNER}); os.setuid({OWNER})\n"
                      "torch = ctypes.CDLL('/opt/torch/libtorch_cpu.so')\n"
                      "signal.signal(signal.SIGALRM, lambda *_: torch.fake_step())\n"
                      "signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)\nclient.main()\n")
    with client.ClientProcess(str(agent.ipc_dir), *analyses.LARGE, script=script,
                              environment={**os.environ, "RANK": "0", "WORLD_SIZE": "1", "SLURM_JOB_ID": "77"}) as one:
        one.wait_for("bound")
        capture, (receipt,) = analyses.written(agent, one)
        os.chmod(receipt["file"], 0o600)
        status, document = analyses.ask(agent, capture)
        seen["analysis"] = {"status": status, "file": document["files"][0] if status == 200 else document}
        seen["process"] = agent_module.until(
            lambda: [row for row in tables(agent).get("process", []) if row["pid"] == one.pid], 30, "the process is measured", every=0.2)
        seen["step"] = agent_module.until(lambda: [row for row in tables(agent).get("step", []) if row["step_ns"]], 30, "its steps are seen", every=0.2)
        seen["samples"] = {name: len(rows) for name, rows in tables(agent).items()}
    seen["collectors"] = subprocess.run(["/usr/local/bin/spotter", "status", "--format", "json"], stdout=subprocess.PIPE, text=True,
                                        check=False).stdout
    seen["files"] = {str(p): oct(p.stat().st_mode & 0o7777) + f" {p.stat().st_uid}" for folder in ("/run/spotter", "/var/lib/spotter")
                     for p in [pathlib.Path(folder), *pathlib.Path(folder).iterdir()]}
    seen["helper_socket"] = properties("spotter-helper.socket", "ActiveState", "NAccepted", "NRefused")
    seen["reload"] = systemctl("reload", "spotter.service")
    seen["stop"] = systemctl("stop", "spotter.service")
    seen["after"] = properties("spotter.service", "ActiveState", "Result", "ExecMainStatus")
    return seen


def tables(agent):
    status, document = agent.api("GET", "/v1/metrics")
    assert status == 200, document
    return agent_module.tables(document)


def main():
    seen = {}
    try:
        seen = look()
    except BaseException as error:  # what went wrong is what the test shows
        seen["error"] = repr(error)
        seen["collectors"] = subprocess.run(["/usr/local/bin/spotter", "status"], stdout=subprocess.PIPE, text=True, check=False).stdout
    seen["journal"] = subprocess.run(["journalctl", "-b", "--no-pager", "-u", "spotter*", "-o", "cat"], stdout=subprocess.PIPE, text=True,
                                     check=False).stdout
    pathlib.Path("/out/seen.json").write_text(json.dumps(seen))


main()
