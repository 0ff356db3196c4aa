"""A Prometheus with the samples of a fleet that does not exist. Which series a host has, their names and labels, is what real agents
expose on a recorded machine with eight GPUs, of which the driver's library is a fake; only numbers, hosts and jobs are made up. What
an agent cannot have there (ABSENT) is taken from its list of metrics.

Some things of the fleet are in trouble: about one in forty, always the same ones, and all that there is on the first host."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import zlib

import harness
import monitoring

# All of what the acceptance of 1,000 hosts asks takes minutes; SPOTTER_FLEET=1000 runs it.
HOSTS = int(os.environ.get("SPOTTER_FLEET", "160"))
STEP, SAMPLES = 30, 11
SPAN = STEP * (SAMPLES - 1)
GPUS = range(8)
LARGE, SHARED = "500000", "700001"  # the job of a quarter of the hosts; one that shares a GPU with SHARED + 1 where it runs
DOWN = 7  # of this many hosts, from the end
UP = 'up{{job="spotter",instance="{}"}}'


def instance(host):
    return f"node{host:04}:9464"


# Which processes there are on a host, as pid: (job, rank), and what the driver says.

PROCESS = {
    "stat": "{pid} (python) S 1 {pid} {pid} 0 -1 4194560 1000 0 10 0 200 50 0 0 20 0 40 0 100 100000000 1000 0 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0"
            " 0 0 0 0 0 0 0 0\n",
    "status": "Name:\tpython\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t{pid}\n",
    "cmdline": "python\0train.py\0",
    "environ": "RANK={rank}\0LOCAL_RANK={rank}\0SLURM_JOB_ID={job}\0SLURM_JOB_NAME=train\0SLURM_JOB_ACCOUNT=ml\0"
               "SLURM_JOB_PARTITION=gpu\0WORLD_SIZE=8\0",
    "cgroup": "0::/system.slice/slurmstepd.scope/job_{job}/step_0/user/task_0\n",
    "io": "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096000\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n",
}
JOBS = ("777", "778", "779")  # on the machines that are sampled
# (pid, job, rank, GPU): one job on all GPUs; two jobs side by side, of which the second shares its last GPU with a third; nobody.
WHOLE = [(900 + gpu, JOBS[0], gpu, gpu) for gpu in GPUS]
SIDE_BY_SIDE = [(900 + gpu, JOBS[gpu // 4], gpu % 4, gpu) for gpu in GPUS] + [(990, JOBS[2], 0, 7)]
DRIVER = "gpus 8\ngpu 1 mig 1 0 42949672960 1000000 60\ngpu 1 gpm_instance 1:2 50\n"
LOST_GPU = "gpu 5 lost\n"


def fake_driver(folder):
    """The fake of NVIDIA's library, built from its source: a release build has none."""
    command = ["c++", "-std=c++20", "-shared", "-fPIC", "-O0", f"-I{harness.ROOT / 'src'}", f"-I{harness.ROOT / 'tests' / 'fakes'}",
               str(harness.ROOT / "tests" / "fakes" / "nvml.cc"), "-o", str(folder / "libnvidia-ml.so.1")]
    subprocess.run(command, check=True)


def sampled(folder, driver, processes, scenario):
    """The page of an agent on such a machine: {(name, labels): number}, {name: type}."""
    folder.mkdir()
    root = folder / "root"
    subprocess.run([harness.ROOT / "tools" / "machine", "unpack", "intel_8gpu", root], check=True)
    group = root / "sys/fs/cgroup/system.slice/slurmstepd.scope"
    for recorded in (*(root / "proc").glob("[4-5]*"), ):
        shutil.rmtree(recorded)
    for pid, job, rank, gpu in processes:
        made = root / "proc" / str(pid)
        made.mkdir()
        for name, text in PROCESS.items():
            (made / name).write_text(text.format(pid=pid, job=job, rank=rank))
        scenario += f"gpu {gpu} process {pid} 60000000000 compute 90\n"
        if not (group / f"job_{job}").exists():
            shutil.copytree(group / f"job_{JOBS[0]}", group / f"job_{job}")
    (folder / "scenario").write_text(scenario)
    environment = ("env", f"LD_LIBRARY_PATH={driver}", f"SPOTTER_FAKE_SCENARIO={folder / 'scenario'}")
    configuration = {"root": str(root), "per_core": True, "history": "off"}
    with monitoring.Agent(folder, configuration=configuration, before=environment) as agent:
        def page():
            text = agent.page()
            # Sampled a second time, since activity is measured between two samples; some collectors do so every 10 s at first.
            wanted = ["spotter_gpu_activity_sm_active_ratio", "spotter_agent_collector_samples_total", "spotter_interrupts_total",
                      *(["spotter_job_processes", "spotter_cgroup_info"] if processes else [])]
            return text if all(f"\n{name}" in text for name in wanted) else None
        text = monitoring.wait_for(page, "an agent has sampled everything")
    return monitoring.samples_of(text), monitoring.types_of(text)


# What a key of the list of metrics may be.
MADE_UP = {"gpu": "1", "cpu": "3", "node": "0", "socket": "0", "interface": "ens1f0", "device": "mlx5_0", "port": "1", "sink": "otlp",
           "collector": "rdma", "resource": "io", "device_class": "nvme", "type": "net_rx", "mount_point": "/raid", "cgroup": "/x",
           "instance": "1", "compute_instance": "0", "job": "777", "rank": "0", "pid": "900"}


# What agents cannot have on the recorded machine: hardware counters and drivers of network cards are asked by system calls, file systems
# as well; its adapters are of InfiniBand alone, its GPUs have no fans, and no sink is told to it. All else has to be on their pages.
ABSENT = re.compile(r"spotter_(pmu|network_hardware|agent_sink)_|spotter_filesystem_(reachable|size|available|free|files)"
                    r"|spotter_rdma_(np|rp|roce|max_retry|rx_discards|tx_errors|send|recv|read|write|retrans)_?"
                    r"|spotter_gpu_(fan|hotspot|last_xid|retired)|spotter_gpu_mig_\w+_(active|occupancy)_")


def listed(known):
    """The metrics of which there is no sample, from the list of metrics."""
    samples, types = {}, {}
    for row in monitoring.metric_list():
        name = monitoring.exposed_name(row)
        if name and name not in known and ABSENT.match(name):
            keys = [key for key in (row["keys"] or "").split(", ") if key in MADE_UP]
            labels = tuple(sorted(({"job": "job_id", "instance": "instance_id"}.get(key, key), MADE_UP[key]) for key in keys))
            is_well = float(name.endswith(("_up", "_reachable")))
            samples[name, labels] = {"ratio": 0.5, "bytes": 1e9, "none": is_well}.get(row["unit"], 10.0)
            types[name] = row["kind"]
    return samples, types


# Numbers.

BAD_COUNTER = re.compile(r"err|drop|kill|stall(s|ed)?_|lost|fail|throttl|xid|ecc|replay|recover|down|discard|pause|violation|skip|late_|reject"
                         r"|timeout|retrans|out_of|overflow|cnp|wait|refault|thermal|machine_check|conges|storm|exceeded|nmi|remapped|retired")
CONSTANT = re.compile(r"total|limit|_max|size|cpus|speed|info$|_files$|world_size|build|node_used|links|generation|width")


def chance(*words):
    """A number from 0 to 1 that depends on the words alone."""
    return zlib.crc32(" ".join(words).encode()) / 0xFFFFFFFF


def numbers(name, kind, labels, host, number, end):
    """What a series is at each time."""
    luck = chance(name, labels, host)
    is_bad = host == instance(0) or chance("bad", name, labels, host) < 1 / 40
    if kind == "counter":
        growth = 0.3 * luck if "_seconds_" in name else 2e9 * luck if "_bytes_" in name else 100 * luck
        if "collector_samples" in name:
            growth = 0 if is_bad else 1
        elif BAD_COUNTER.search(name) and "_seconds_" not in name:
            growth = 0.5 + luck if is_bad else 0
        return [number + growth * STEP * n for n in range(SAMPLES)]
    if name == "spotter_sample_timestamp_seconds":
        return [end - SPAN + STEP * n - (600 if is_bad else luck) for n in range(SAMPLES)]
    if number in (0, 1) and not name.endswith(("_ratio", "_bytes", "_info")):  # whether something is
        return [number] * (SAMPLES - 4) + [abs(number - is_bad)] * 4
    if name.endswith("_info") or CONSTANT.search(name):
        return [number] * SAMPLES
    if is_bad and re.search("available|active_ratio", name):
        return [number * 0.01 * (1 - 0.01 * n) for n in range(SAMPLES)]
    return [number * (0.7 + 0.3 * luck) * (0.98 + 0.02 * chance(name, labels, host, str(n))) for n in range(SAMPLES)]


def jobs_of(host):
    """The page that a host is like, and what its jobs are called; the ranks begin at a multiple of 8."""
    if host < HOSTS // 4:
        return "whole", (LARGE, "", ""), host
    if host % 10 == 9:
        return "nobody", ("", "", ""), 0
    if host % 10 == 8:
        number = int(SHARED) - 1 + 3 * (host // 10 - HOSTS // 40)
        return "shared", tuple(str(number + n) for n in range(3)), 0
    return "whole", (str(600000 + (host if host % 2 else host - 1)), "", ""), 1 - host % 2


def lines_of(host, page, types, names, end):
    """Those of one host, of what is in `names`; None: of all."""
    _, jobs, first = jobs_of(host)
    where = instance(host)
    renamed = dict(zip(JOBS, jobs))
    for (name, labels), number in page.items():
        if names is not None and name not in names:
            continue
        made = []
        for label, value in labels:
            if label in ("job_id", "cgroup"):
                value = re.sub(r"77[789]", lambda match: renamed[match[0]], value)
            elif label == "rank":
                value = str(int(value) + 8 * first)
            elif label == "uuid":
                value = f"{value}-{host}"
            made.append(f'{label}="{escaped(value)}"')
        if name == "spotter_job_world_size" and jobs[0] == LARGE:
            number = 8.0 * (HOSTS // 4)
        text = ",".join([f'job="spotter",instance="{where}"', *made])
        series = numbers(name, types[name], text, where, number, end)
        yield "".join(f"{name}{{{text}}} {value:.12g} {end - SPAN + STEP * n}\n" for n, value in enumerate(series))


def escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def write(path, folder, names, end, alerts):
    """`names`: the metrics of all hosts; the first and the first whose GPU is shared have all there are."""
    driver = folder / "driver"
    driver.mkdir()
    fake_driver(driver)
    samples = {"whole": sampled(folder / "whole", driver, WHOLE, DRIVER), "shared": sampled(folder / "shared", driver, SIDE_BY_SIDE, DRIVER),
               "nobody": sampled(folder / "nobody", driver, [], DRIVER + LOST_GPU)}
    pages = {kind: page for kind, (page, _) in samples.items()}
    types = {name: kind for _, of_page in samples.values() for name, kind in of_page.items()}
    more, of_more = listed(types)
    types |= of_more
    whole = {0, next(host for host in range(HOSTS) if jobs_of(host)[0] == "shared")}
    with path.open("w", encoding="utf-8") as out:
        for host in range(HOSTS):
            is_up = host < HOSTS - DOWN
            out.writelines(f"{UP.format(instance(host))} {int(is_up)} {end - SPAN + STEP * n}\n" for n in range(SAMPLES))
            if is_up:
                page = pages[jobs_of(host)[0]] | more
                out.writelines(lines_of(host, page, types, None if host in whole else names, end))
        for alert in alerts:
            text = f'ALERTS{{alertname="{alert}",alertstate="firing",instance="{instance(1)}"}}'
            out.writelines(f"{text} 1 {end - SPAN + STEP * n}\n" for n in range(SAMPLES))
        out.write("# EOF\n")


@contextlib.contextmanager
def prometheus(folder, names, rules, alerts):
    """Gives the server, and the time of the last samples. It has read the rules, and evaluates none of them meanwhile."""
    end = int(time.time()) // STEP * STEP
    samples, data = folder / "samples", folder / "data"
    write(samples, folder, names, end, alerts)
    subprocess.run([monitoring.tool("promtool"), "tsdb", "create-blocks-from", "openmetrics", samples, data], check=True,
                   stdout=subprocess.DEVNULL)
    samples.unlink()
    configuration = {"global": {"evaluation_interval": "1d"}, "rule_files": [str(rules)]}
    with monitoring.server(folder, configuration, data) as server:
        yield server, end
