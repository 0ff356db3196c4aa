"""A real job to watch, and what holds one of its ranks up from outside: for the demo, tools/closed_loop and the tests.

All that is started here lives in a folder of its own, polls an agent of its own (KINETO_IPC_SOCKET_DIR), and is ended by its id.
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

TRAIN = pathlib.Path(__file__).resolve().parent / "train.py"
# What would change who a process is taken for, or where it looks for an agent.
FOREIGN = re.compile(r"KINETO_|SLURM_|OMPI_|PMI|TORCHELASTIC_|RAY_|LSB_|PBS_|JOB_ID$|RANK$|LOCAL_RANK$|WORLD_SIZE$|SPOTTER_RESPOND$")
CONTROL_GROUPS = pathlib.Path("/sys/fs/cgroup")


class CannotHoldUp(Exception):
    """This machine does not permit it; says why."""


def until(condition, seconds, what, every=0.1):
    """Waits for a true value and gives it back."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:.0f} s still not: {what}")
        time.sleep(every)
    return value


def end_well_when_ended():
    """SIGTERM leaves the contexts, and so ends what was started, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def end(process, seconds=15):
    """By its id; the whole of its session where it has one of its own."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
        process.wait(seconds)


@contextlib.contextmanager
def agent(spotter, folder, configuration="", output=None):
    """A running `spotter agent`, its sockets and log in `folder`; its standard output goes to `output`."""
    (folder / "ipc").mkdir(exist_ok=True)
    (folder / "agent.yaml").write_text(configuration)
    with (folder / "agent.log").open("ab") as log:
        process = subprocess.Popen([spotter, "agent", "--config", folder / "agent.yaml", "--ipc-dir", folder / "ipc", "--api-socket",
                                    folder / "agent.sock", "--rpc-port", "off"], stdin=subprocess.DEVNULL,
                                   stdout=output or log, stderr=log, env=clean_environment(), start_new_session=True)
    try:
        def ready():
            text = (folder / "agent.log").read_text(errors="replace")
            if process.poll() is not None:
                raise RuntimeError(f"the agent ended: {text[-2000:]}")
            return "spotter agent: ready" in text
        until(ready, 20, "the agent is ready")
        yield process
    finally:
        end(process)


def clean_environment(**more):
    return {k: v for k, v in os.environ.items() if not FOREIGN.search(k)} | {k: str(v) for k, v in more.items()}


@contextlib.contextmanager
def job(name, python, folder, ranks, step_seconds, data=False, device="cpu"):
    """A training job of unmodified PyTorch, on CPUs or on a GPU that its ranks share, that polls the agent of `folder` each second; yields
    {rank: pid} once all train. The agent sees all of the machine, so jobs are told apart by name."""
    stop = folder / "stop"
    (folder / "kineto.conf").write_text("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n")
    words = [python, "-m", "torch.distributed.run", "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--rdzv-id", name,
             "--local-addr", "127.0.0.1", "--nproc-per-node", str(ranks), TRAIN, "7200", stop, str(step_seconds)]
    if data:
        (folder / "data").mkdir()
        words.append(folder / "data")
    environment = clean_environment(KINETO_USE_DAEMON=1, KINETO_IPC_SOCKET_DIR=folder / "ipc", KINETO_CONFIG=folder / "kineto.conf",
                                    OMP_NUM_THREADS=1, GLOO_SOCKET_IFNAME="lo", PYTHONDONTWRITEBYTECODE=1, TRAIN_DEVICE=device)
    log = folder / "job.log"
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment,
                                   start_new_session=True)
    try:
        def trains():
            text = log.read_text(errors="replace")
            if process.poll() is not None:
                raise RuntimeError(f"the job ended: {text[-2000:]}")
            ready = dict(re.findall(r"^ready (\d+) (\d+)$", text, re.M))
            return {int(rank): int(pid) for pid, rank in ready.items()} if len(ready) == ranks else None
        yield until(trains, 180, f"{ranks} ranks train")
        stop.touch()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
    finally:
        end(process)


@contextlib.contextmanager
def stop_pulses(pid, stopped=0.2, between=0.03):
    """Stopped (SIGSTOP) most of the time, in pulses that hit each step."""
    ending = threading.Event()

    def pulses():
        while not ending.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                time.sleep(stopped)
                os.kill(pid, signal.SIGCONT)
            ending.wait(between)

    thread = threading.Thread(target=pulses)
    thread.start()
    try:
        yield f"SIGSTOP for {stopped:.2g} of each {stopped + between:.2g} s"
    finally:
        ending.set()
        thread.join()


@contextlib.contextmanager
def cpu_quota(pid, _folder=None):
    """Half of the processor time that it takes."""
    before = cpu_ns(pid)
    time.sleep(2)
    share = (cpu_ns(pid) - before) / 2e9
    period = 100_000
    quota = max(1000, int(share / 2 * period))
    with control_group(pid, "cpu") as (group, is_unified):
        if is_unified:
            write(group / "cpu.max", f"{quota} {period}")
        else:
            write(group / "cpu.cfs_period_us", period)
            write(group / "cpu.cfs_quota_us", quota)
        write(group / "cgroup.procs", pid)
        yield f"a CPU quota of {quota / period:.1%} of a processor; it took {share:.1%}"


@contextlib.contextmanager
def slow_storage(pid, folder):
    """The disk with its data answers five times a second."""
    device = os.stat(folder / "data").st_dev
    named = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not named.exists():
        raise CannotHoldUp(f"{folder} is on no disk whose speed can be limited")
    disk = (named.resolve().parent if (named / "partition").exists() else named.resolve()) / "dev"
    device = disk.read_text().strip()
    with control_group(pid, "io") as (group, is_unified):
        if is_unified:
            write(group / "io.max", f"{device} riops=5")
        else:
            write(group / "blkio.throttle.read_iops_device", f"{device} 5")
        write(group / "cgroup.procs", pid)
        yield "5 reads a second from the disk with its data"


def cpu_ns(pid):
    return sum(cpu_ns_by_thread(pid).values())


def cpu_ns_by_thread(pid):
    """{(id, name): ns}, exact; of threads that live."""
    used = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            used[int(task.name), (task / "comm").read_text().strip()] = int((task / "schedstat").read_text().split()[0])
    return used


@contextlib.contextmanager
def control_group(pid, controller):
    """A new control group, and whether it is of version 2. The process `pid` goes back to where it was."""
    lines = [line.split(":", 2) for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    is_unified = (CONTROL_GROUPS / "cgroup.controllers").exists()
    name = controller if is_unified or controller != "io" else "blkio"
    root = CONTROL_GROUPS if is_unified else CONTROL_GROUPS / name
    home = next((path for _, names, path in lines if (names == "" if is_unified else name in names.split(","))), "/")
    group = root / f"spotter-loop-{pid}"
    try:
        if is_unified:
            write(root / "cgroup.subtree_control", f"+{name}")
        group.mkdir()
    except OSError as error:
        raise CannotHoldUp(f"no control group can be made here: {error}") from error
    try:
        yield group, is_unified
    except PermissionError as error:
        raise CannotHoldUp(f"control groups cannot be changed here: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            write(root / home.lstrip("/") / "cgroup.procs", pid)
        until(lambda: removed(group), 10, f"{group} is empty")


def removed(group):
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def write(path, value):
    path.write_text(f"{value}\n")


# How a rank is held up: hold(pid, folder), a context that says in words what it does.
WAYS = {"pulses": lambda pid, _folder: stop_pulses(pid), "quota": cpu_quota, "storage": slow_storage}
