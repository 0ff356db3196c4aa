"""A cluster on one machine: hosts of their own in namespaces, joined by a bridge, and Slurm over them.

    ctl (10.77.0.254: bridge, munged, slurmctld, srun, `spotter trace`)
     ├── n1 (10.77.0.1: slurmd, agent)
     ├── n2 (10.77.0.2)
     └── n3 (10.77.0.3)

A host is a set of namespaces. Network: its own address, ports and abstract UNIX sockets, so each agent has the default
names. UTS: its own name, which is what slurmd and the agent call it. PID: its own processes, whose numbers may be those
of another host's. Mount: its own /proc and /etc/hosts, and n1 to n3 a folder `own` that no other host sees. All other files
are those of the machine, as on hosts that share a file system; all that this writes is in one temporary folder. Nothing of the machine's network, /etc or services is touched.

The first process of a host reads a pipe of ours. When we close it, or die, it ends, and the kernel ends all processes of
its namespace with it; a namespace goes with its last process. So nothing is left, however the tests end.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import agent as agent_module
from agent import clean_environment, until

NODES = ("n1", "n2", "n3")
INTERFACE = "eth0"
PREFIX = "10.77.0."  # nothing outside the namespaces can have or see it
PROGRAMS = ("unshare", "nsenter", "ip", "munged", "slurmctld", "slurmd", "srun", "squeue", "scontrol", "sinfo")
RANKS = 6
PYTHON = os.environ.get("SPOTTER_TORCH_PYTHON")
TRAIN = agent_module.ROOT / "tools" / "train.py"
TRAIN_SECONDS = 600
IMPORT_DEADLINE = 120  # six imports of torch on two cores, with a cold file cache
START_DEADLINE = 30  # for what takes a second where nothing else runs
LOG_TAIL = 4000

# What a host's first process does. Orphans become its children: ignoring their end means that none stays a zombie.
FIRST_PROCESS = """
set -e
trap '' CHLD
hostname "$1"
mount --bind "$2" /etc/hosts
[ -z "$3" ] || mount -t tmpfs own "$3"
ip link set lo up
echo up
exec cat >/dev/null
"""

# Slurm with its defaults, but for what would need control groups or a mail program, or be outside the folder. Its logs
# tell of errors that are none: plugins for PMIx, whose library is not there, and an empty state at the first start.
SLURM_CONF = """
ClusterName=spotter
SlurmctldHost=ctl({prefix}254)
# Else there would have to be a user of that name, to whom the folder belongs.
SlurmUser=root
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
# %n is the host's name: the hosts share the folder.
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
# By default a job's processes are found by their control group, which a container may not make.
ProctrackType=proctrack/linuxproc
# It complains of a missing mail program.
MailProg=/bin/true
# The hosts have two processors each, whatever the machine has; a host with fewer would not be used.
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES
"""


def missing():
    """Why there can be no cluster here; empty if it can."""
    if os.geteuid() != 0:
        return "namespaces need root"
    lacking = [program for program in PROGRAMS if not find(program)]
    if lacking:
        return f"no {', '.join(lacking)} here (tools/packages/test.txt)"
    probe = subprocess.run([find("unshare"), "--net", "--uts", "--mount", "--pid", "--fork", "--mount-proc",
                            find("ip"), "link", "add", "name", "probe", "type", "bridge"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    return f"no namespaces here: {probe.stderr.strip()}" if probe.returncode else ""


def root_path():
    """With what is root's own, which the PATH of a session need not name."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def find(program):
    return shutil.which(program, path=root_path())


class Host:
    """A host. Its processes are started by popen() and run(), and end with it."""

    def __init__(self, name, number, hosts_file, own_folder=""):
        self.name, self.address = name, f"{PREFIX}{number}"
        self.first = subprocess.Popen(
            [find("unshare"), "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
             "sh", "-c", FIRST_PROCESS, "sh", name, str(hosts_file), str(own_folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PATH": root_path()})
        if self.first.stdout.readline() != "up\n":
            self.end()
            raise RuntimeError(f"host {name} did not come up")
        spaces = f"/proc/{self.first.pid}/ns"
        self.enter_network = [find("nsenter"), f"--net={spaces}/net"]
        # unshare itself stays outside the PID namespace that it made.
        self.enter = [*self.enter_network, f"--uts={spaces}/uts", f"--mount={spaces}/mnt",
                      f"--pid={spaces}/pid_for_children", "--"]

    def popen(self, *command, **options):
        """A process there. Its pid is nsenter's, which ends as the process does; signals go by signal()."""
        return subprocess.Popen([*self.enter, *map(str, command)], **({"stdin": subprocess.DEVNULL} | options))

    def run(self, *command, timeout=30, **options):
        return subprocess.run([*self.enter, *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout, check=False, **options)

    def link(self, *words):
        """`ip` in the host's network but with the machine's process numbers, by which it finds other networks."""
        subprocess.run([*self.enter_network, find("ip"), *map(str, words)], stdin=subprocess.DEVNULL, check=True)

    def signal(self, pid, name="TERM"):
        """pid: as the host's own processes and its agent see it."""
        done = self.run("kill", "-s", name, pid)
        assert done.returncode == 0, done.stderr

    def end(self):
        with contextlib.suppress(OSError):
            self.first.stdin.close()
        try:
            self.first.wait(10)
        except subprocess.TimeoutExpired:
            self.first.kill()  # and --kill-child ends the rest
            self.first.wait(10)
        self.first.stdout.close()


class HostAgent:
    """The agent of a host, with the names and ports that it has by default, but for the API's socket: that is a file, and
    the hosts share these."""

    def __init__(self, host, folder, *arguments):
        self.host = host
        self.socket = folder / f"api-{host.name}.sock"
        self.log_file = folder / f"agent-{host.name}.log"
        pid_file = folder / f"agent-{host.name}.pid"
        self.log_at = self.log_file.stat().st_size if self.log_file.exists() else 0
        with self.log_file.open("ab") as log:
            self.process = host.popen("sh", "-c", 'echo $$ >"$0"; exec "$@"', pid_file, agent_module.program(), "agent",
                                      "--api-socket", self.socket, "--history", folder / f"{host.name}.db", *arguments,
                                      stdout=log, stderr=log, env=clean_environment())
        until(lambda: "spotter agent: ready" in self.log() or self.process.poll() is not None,
              agent_module.START_DEADLINE, f"the agent of {host.name} is ready")
        assert self.process.poll() is None, self.log()
        self.pid = int(pid_file.read_text())

    def log(self):
        return self.log_file.read_text(errors="replace")[self.log_at:]

    def stop(self):
        self.host.signal(self.pid)
        assert self.process.wait(10) == 0, self.log()[-LOG_TAIL:]


class Cluster:
    """Hosts ctl and n1 to n3 with Slurm up. Use it in a `with`."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sc-", dir="/tmp"))
        self.own_folder = self.folder / "own"
        self.own_folder.mkdir()
        self.folder.chmod(0o755)  # munged wants to know that nobody else may write there, and that its clients can read
        self.environment = clean_environment(SLURM_CONF=self.folder / "slurm.conf", PYTHONDONTWRITEBYTECODE=1)
        self.environment["PATH"] = root_path()
        self.hosts, self.agents, self.processes = {}, {}, []
        self.training = None
        try:
            self.make_hosts()
            self.start_slurm()
        except BaseException:
            print(self.logs())
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.end()

    def end(self):
        for host in reversed(self.hosts.values()):
            host.end()
        for process in [*self.processes, *([self.training] if self.training else [])]:
            process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def logs(self):
        """The end of each log, for what failed."""
        return "".join(f"--- {path.name}\n{path.read_text(errors='replace')[-LOG_TAIL:]}\n"
                       for path in sorted(self.folder.glob("*.log")))

    # Bringing it up.

    def make_hosts(self):
        numbers = {"ctl": 254} | {name: 1 + i for i, name in enumerate(NODES)}
        hosts_file = self.folder / "hosts"
        hosts_file.write_text("127.0.0.1 localhost\n" + "".join(f"{PREFIX}{i} {name}\n" for name, i in numbers.items()))
        for name, number in numbers.items():
            self.hosts[name] = Host(name, number, hosts_file, self.own_folder if name in NODES else "")
        ctl = self.ctl
        ctl.link("link", "add", "name", "bridge", "type", "bridge")
        ctl.link("address", "add", f"{ctl.address}/24", "dev", "bridge")
        ctl.link("link", "set", "bridge", "up")
        for name in NODES:
            node = self.hosts[name]
            ctl.link("link", "add", "name", f"to-{name}", "type", "veth", "peer", "name", INTERFACE, "netns", node.first.pid)
            ctl.link("link", "set", f"to-{name}", "master", "bridge", "up")
            node.link("address", "add", f"{node.address}/24", "dev", INTERFACE)
            node.link("link", "set", INTERFACE, "up")

    @property
    def ctl(self):
        return self.hosts["ctl"]

    @property
    def nodes(self):
        return [self.hosts[name] for name in NODES]

    def start_slurm(self):
        f = self.folder
        (f / "state").mkdir()
        for name in NODES:
            (f / f"spool-{name}").mkdir()
        nodes = "\n".join(f"NodeName={node.name} NodeAddr={node.address} CPUs=2 State=UNKNOWN" for node in self.nodes)
        (f / "slurm.conf").write_text(SLURM_CONF.format(folder=f, prefix=PREFIX, nodes=nodes))
        key = f / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        # One for all: its socket is a file. In the foreground, as all here, so that none leaves its host's first process.
        self.start(self.ctl, "munged", "--foreground", f"--socket={f}/munge.sock", f"--key-file={key}",
                     f"--pid-file={f}/munged.pid", f"--seed-file={f}/munged.seed")
        until((f / "munge.sock").exists, START_DEADLINE, "munged's socket", every=0.02)
        self.start(self.ctl, "slurmctld", "-D")
        for node in self.nodes:
            self.start(node, "slurmd", "-D")
        until(self.nodes_idle, START_DEADLINE, "all nodes are idle", every=0.1)

    def start(self, host, program, *arguments, **environment):
        """Its output is in the log, by which until() may see how far it is."""
        log = self.folder / f"{program}-{host.name}.log"
        with log.open("wb") as out:
            process = host.popen(find(program), *arguments, stdout=out, stderr=out, env=self.environment | environment)
        self.processes.append(process)
        return log

    def nodes_idle(self):
        self.assert_alive()
        return self.ctl.run("sinfo", "-h", "-N", "-o", "%T", env=self.environment).stdout.split() == ["idle"] * len(NODES)

    def assert_alive(self):
        ended = [process.args for process in self.processes if process.poll() is not None]
        assert not ended, f"ended: {ended}"

    # What runs on it.

    def start_agents(self):
        """With one certificate for all of them; spotter() has the client's."""
        tls = self.folder / "tls"
        done = self.spotter("agent", "--init-tls", tls, "--tls-names", ",".join(NODES))
        assert done.returncode == 0, done
        self.environment["SPOTTER_CREDENTIALS"] = str(tls / "client")
        self.agent_options = ["--config", tls / "agent" / "agent.yaml"]
        for node in self.nodes:
            self.start_agent(node)

    def start_agent(self, node):
        self.agents[node.name] = HostAgent(node, self.folder, *self.agent_options)

    def spotter(self, *arguments, timeout=60):
        """The program on ctl, as a user of the cluster runs it."""
        return self.ctl.run(agent_module.program(), *arguments, timeout=timeout, env=self.environment)

    def has_crashed(self):
        """Whether a rank has. Kineto's config client may use what its other thread has freed (pytorch/kineto issue 1113,
        pytorch issue 163545), which on two busy cores happens now and then, whatever the agent answers."""
        return self.training.poll() is not None

    def start_training(self):
        """A job of six ranks, two on each node, that train from now on; `job` is its id."""
        config = self.folder / "kineto.conf"
        config.write_text("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n")  # instead of 5
        log = self.start(self.ctl, "srun", "--nodes", len(NODES), "--ntasks-per-node", RANKS // len(NODES), "--label",
                         PYTHON, TRAIN, TRAIN_SECONDS, self.folder / "stop",
                         KINETO_USE_DAEMON="1", KINETO_CONFIG=str(config), OMP_NUM_THREADS="1", PYTHONFAULTHANDLER="1",
                         MASTER_ADDR=self.nodes[0].address, MASTER_PORT="29500", GLOO_SOCKET_IFNAME=INTERFACE)
        self.training = self.processes.pop()  # it may end

        def started():
            self.assert_alive()
            assert not self.has_crashed(), f"it ended with {self.training.returncode}"
            return log.read_text(errors="replace").count(": ready ") == RANKS

        try:
            until(started, IMPORT_DEADLINE, f"{RANKS} ranks train", every=0.1)
        except BaseException:
            print(self.logs())
            raise
        self.job, = self.ctl.run("squeue", "-h", "-o", "%i", env=self.environment).stdout.split()
