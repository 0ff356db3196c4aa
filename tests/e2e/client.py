"""A simulated libkineto daemon client: its names, timing and habits, without PyTorch.

In this process (Client, send and receive by hand, or play() in a thread) or in one of its own: `client.py DIR
[options]` polls until its standard input ends, plays the captures it is asked for, and tells what it does on standard
output, a line of JSON each. As in libkineto (PyTorch 2.13): non-blocking sends with 11 tries, the reply awaited at 0,
10, .. 80 ms, whatever datagram is first is taken for the reply, type 3 when idle and 1 from the warm-up until the file
is complete, a bad config is dropped in silence. The lead of 2 s and the warm-up are shortened (--lead, --warmup).
"""

import argparse
import errno
import json
import os
import pathlib
import queue
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import uuid

HEADER = struct.Struct("<Q32s")
MOST_TRIES = 11
TICK_SECONDS = 1


def datagram(tag, body, size=None):
    return HEADER.pack(len(body) if size is None else size, tag) + body


def poll(kind, pids, job_id=0):
    return datagram(b"req", struct.pack(f"<iiq{len(pids)}i", kind, len(pids), job_id, *pids))


def registration(gpu, pid, job_id):
    return datagram(b"ctxt", struct.pack("<iiq", gpu, pid, job_id))


def body_of(reply):
    """The body as libkineto takes it: it believes the size field and ignores the tag."""
    size, _ = HEADER.unpack_from(reply)
    return reply[HEADER.size:HEADER.size + size]


def ancestry():
    """This process, its parent, and so on; without pid 1."""
    pids, pid = [os.getpid()], os.getppid()
    while pid > 1 and len(pids) < 11:
        pids.append(pid)
        try:
            pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
    return pids


class BadConfig(ValueError):
    pass


NUMBERS = {"ACTIVITIES_DURATION_MSECS", "ACTIVITIES_DURATION_SECS", "ACTIVITIES_WARMUP_PERIOD_SECS",
           "PROFILE_START_TIME", "ACTIVITIES_ITERATIONS", "PROFILE_START_ITERATION", "PROFILE_START_ITERATION_ROUNDUP",
           "ACTIVITIES_WARMUP_ITERATIONS"}


def parse(text):
    """The settings of a config text. A bad line makes the whole config worthless, as in libkineto."""
    settings = {}
    for line in text.split("\n"):
        line = line.partition("#")[0].strip(" \t")
        if not line:
            continue
        if line.count("=") != 1:
            raise BadConfig(line)
        key, value = (part.strip(" \t") for part in line.split("="))
        if key in NUMBERS:
            if not value.isdecimal():
                raise BadConfig(line)
            value = int(value)
        settings[key] = value
    return settings


def path_with_pid(path, pid):
    for end in (".pt.trace.json", ".json"):
        if end in path:
            at = path.index(end)
            return f"{path[:at]}_{pid}{path[at:]}"
    return path


class Client:
    """The socket of one client. `directory` None: abstract names."""

    def __init__(self, directory=None, *, job_id=None, tries=9, idle_type=3, name=None):
        self.directory = directory
        self.job_id = int(os.environ.get("SLURM_JOB_ID", "0")) if job_id is None else job_id
        self.tries = tries
        self.idle_type = idle_type
        self.pids = ancestry()
        self.name = name or f"dynoconfigclient{uuid.uuid4()}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        if directory:
            self.path = os.path.join(directory, self.name)
            self.socket.bind(self.path)
            os.chmod(self.path, 0o666)
            self.daemon = os.path.join(directory, "dynolog")
        else:
            self.path = None
            self.socket.bind(f"\0{self.name}\0")
            self.daemon = "\0dynolog\0"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Unlike libkineto, which leaves its name in the folder."""
        self.socket.close()
        if self.path and os.path.exists(self.path) and stat.S_ISSOCK(os.stat(self.path).st_mode):
            os.unlink(self.path)

    def send(self, data, most=MOST_TRIES):
        """Whether it was sent. A full queue or no daemon: again after 10, 20, .. 5120 ms."""
        for attempt in range(most):
            try:
                self.socket.sendto(data, self.daemon)
                return True
            except (BlockingIOError, ConnectionRefusedError):
                if attempt + 1 < most:
                    time.sleep(0.01 * 2 ** attempt)
            except OSError as error:
                if error.errno != errno.ENOENT:
                    raise
                return False  # libkineto does not try again either
        return False

    def send_poll(self, busy=False, most=MOST_TRIES):
        return self.send(poll(self.idle_type & 1 if busy else self.idle_type, self.pids, self.job_id), most)

    def receive(self):
        """The first datagram in the queue, if one comes in libkineto's time."""
        for attempt in range(self.tries):
            if attempt:
                time.sleep(0.01)
            data = self.receive_now()
            if data is not None:
                return data
        return None

    def receive_now(self):
        try:
            return self.socket.recv(1 << 20)
        except BlockingIOError:
            return None

    def receive_within(self, seconds):
        """For tests that measure: without libkineto's pauses."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1 << 20)
        except TimeoutError:
            return None
        finally:
            self.socket.setblocking(False)

    def ask(self, busy=False):
        """One poll; the text of the config, if there is one."""
        if not self.send_poll(busy):
            return None
        reply = self.receive()
        return body_of(reply).decode(errors="replace") if reply else None


class Capture:
    """What a config asks for, and the file that comes of it."""

    def __init__(self, text, options):
        settings = parse(text)
        now = time.time()
        warmup = settings.get("ACTIVITIES_WARMUP_PERIOD_SECS", 5)
        start_ms = settings.get("PROFILE_START_TIME", 0)
        if start_ms and start_ms / 1000 - now < warmup:
            raise BadConfig("not enough time for the warm-up")
        short_warmup = min(warmup, options.warmup)
        self.start = start_ms / 1000 if start_ms else now + options.lead + short_warmup
        # Once a second libkineto looks whether the warm-up is to begin within the next one, and then begins with it.
        self.warmup = max(now, self.start - warmup - TICK_SECONDS / 2) if start_ms else self.start - short_warmup
        self.iterations = settings.get("ACTIVITIES_ITERATIONS", 0)
        if not ("PROFILE_START_ITERATION" in settings or settings.get("PROFILE_START_ITERATION_ROUNDUP", 0) > 0):
            self.iterations = 0
        if self.iterations:
            duration = self.iterations * options.step
        elif "ACTIVITIES_DURATION_SECS" in settings:
            duration = settings["ACTIVITIES_DURATION_SECS"]
        else:
            duration = settings.get("ACTIVITIES_DURATION_MSECS", 500) / 1000
        self.end = self.start + duration
        self.trace_id = settings.get("REQUEST_TRACE_ID", "")
        self.path = path_with_pid(settings.get("ACTIVITIES_LOG_FILE", "/tmp/libkineto_activities.json"), os.getpid())
        self.step = options.step
        rank = os.environ.get("TRACE_OF_RANK") or os.environ.get("RANK")
        self.recorded = options.traces and rank and next(pathlib.Path(options.traces).glob(f"rank_{int(rank):04}.*"))

    def document(self, with_events):
        pid, base_ns = os.getpid(), 1735689600 * 10**9
        events = [{"ph": "M", "name": "process_name", "ts": 0, "pid": pid, "tid": 0, "args": {"name": "python3"}},
                  {"ph": "M", "name": "process_labels", "ts": 0, "pid": pid, "tid": 0, "args": {"labels": "CPU"}}]
        if with_events:
            count = self.iterations or max(1, int((self.end - self.start) / self.step))
            for n in range(count):
                ts = (self.start * 1e9 - base_ns) / 1000 + n * self.step * 1e6
                events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": pid, "tid": pid,
                               "ts": ts, "dur": self.step * 0.9e6, "args": {"External id": 2 * n + 1}})
                events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": pid, "ts": ts + 10,
                               "dur": self.step * 0.5e6, "args": {"External id": 2 * n + 2}})
        return {"schemaVersion": 1, "trace_id": self.trace_id, "deviceProperties": [],
                "displayTimeUnit": "ms", "baseTimeNanoseconds": base_ns, "traceName": self.path, "traceEvents": events}

    def begin(self):
        pathlib.Path(self.path + ".tmp").touch()

    def write(self, with_events):
        temporary = pathlib.Path(self.path + ".tmp")
        temporary.write_bytes(self.recorded.read_bytes() if self.recorded else json.dumps(self.document(with_events)).encode())
        temporary.rename(self.path)


def tell(event, **more):
    # One write, so that lines of several processes on one pipe stay whole.
    os.write(1, (json.dumps({"event": event, "pid": os.getpid(), **more}) + "\n").encode())


def play(client, options, tell=tell, stop=lambda: False):
    """Polls and captures until `stop` says so, or for ever."""
    capture, began = None, False
    polls = 0
    if options.ctxt_first:
        client.send(registration(0, os.getpid(), client.job_id))
        reply = client.receive()
        tell("registered", bytes=len(reply or b""))
    next_poll = time.monotonic()
    while not stop():
        capture, began = advance(capture, began, options, tell)
        if time.monotonic() >= next_poll and not (options.polls and polls >= options.polls):
            next_poll = time.monotonic() + options.period
            polls += 1
            busy = capture is not None and began
            sent = client.send_poll(busy)
            tell("poll", busy=busy, sent=sent)
            if options.vanish:
                os._exit(0)
            reply = None if options.never_read else client.receive()
            if reply is not None:
                capture, began = take(reply, capture, began, options, tell)
        # The profiler has a thread of its own and does not wait for the next poll.
        time.sleep(min(0.01 if capture else options.period, max(0.001, next_poll - time.monotonic())))


def take(reply, capture, began, options, tell):
    text = body_of(reply).decode(errors="replace")
    tell("reply", bytes=len(reply), text=text)
    if not text.strip():
        return capture, began
    if capture or options.ignore:
        tell("dropped", why="another request is pending" if capture else "as told")
        return capture, began
    try:
        capture = Capture(text, options)
    except BadConfig as error:
        tell("dropped", why=str(error))
        return None, False
    tell("config", text=text, path=capture.path)
    return capture, False


def advance(capture, began, options, tell):
    """Does what is due in a capture."""
    now = time.time()
    if capture and not began and now >= capture.warmup:
        capture.begin()
        began = True
        tell("capturing", path=capture.path)
    if capture and began and options.die and now >= capture.start:
        tell("dies")
        os.kill(os.getpid(), signal.SIGKILL)
    if capture and began and now >= capture.end + options.write_time:
        capture.write(not options.no_events)
        tell("written", path=capture.path)
        return None, False
    return capture, began


def arguments(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", nargs="?", default=None, help="without it: abstract names")
    parser.add_argument("--period", type=float, default=0.05, help="seconds from one poll to the next")
    parser.add_argument("--tries", type=int, default=9, help="5 for PyTorch up to about 2.9")
    parser.add_argument("--head", action="store_true", help="types 2 and 0 instead of 3 and 1")
    parser.add_argument("--lead", type=float, default=0.05, help="what libkineto waits before the warm-up: 2 s")
    parser.add_argument("--warmup", type=float, default=0.1, help="at most this long, whatever the config says")
    parser.add_argument("--write-time", type=float, default=0.05)
    parser.add_argument("--step", type=float, default=0.01, help="seconds of a training step")
    parser.add_argument("--polls", type=int, default=0, help="then no more, but stay alive")
    parser.add_argument("--traces", help="write the file of this RANK in such a folder of `spotter simulate --no-gzip`, as it is")
    parser.add_argument("--children", type=int, default=0, help="start so many ranks, as a launcher does")
    parser.add_argument("--rankless", action="store_true", help="they are not told which they are, as those of Ray are not")
    for name in ("never-read", "vanish", "die", "no-events", "ctxt-first", "ignore"):
        parser.add_argument(f"--{name}", action="store_true")
    return parser.parse_args(words)


class ClientProcess:
    """`client.py` in a process of its own. In a `with`; ends when its standard input does."""

    def __init__(self, directory, *words, script=__file__, before=(), environment=None):
        self.process = subprocess.Popen([*before, sys.executable, "-S", str(script), directory, *map(str, words)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.pid = self.process.pid
        self.events = []  # all so far
        self.queue = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def read(self):
        for line in self.process.stdout:
            self.queue.put(json.loads(line))

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.reader.join(2)
        self.process.stdout.close()

    def kill(self):
        self.process.kill()
        self.process.wait(5)

    def so_far(self):
        while not self.queue.empty():
            self.events.append(self.queue.get())
        return self.events

    def wait_for(self, event, seconds=5.0, pid=None, nth=1):
        """The nth such event, of this process or of the one that is named (a child of it)."""
        end = time.monotonic() + seconds
        while True:
            found = [e for e in self.so_far() if e["event"] == event and e["pid"] == (pid or self.pid)]
            if len(found) >= nth:
                return found[nth - 1]
            left = end - time.monotonic()
            assert left > 0, f"client {self.pid} told no {event!r} within {seconds} s, but {self.events[-20:]}"
            try:
                self.events.append(self.queue.get(timeout=left))
            except queue.Empty:
                pass


def main():
    options = arguments()

    def leave_at_end_of_input():
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=leave_at_end_of_input, daemon=True).start()
    for rank in range(options.children):
        words = sys.argv[1:]
        at = words.index("--children")
        child = subprocess.Popen([sys.executable, "-S", os.path.realpath(__file__), *words[:at], *words[at + 2:]],
                                 env=os.environ | {"TRACE_OF_RANK": str(rank)} | ({} if options.rankless else {
                                     "RANK": str(rank), "WORLD_SIZE": str(options.children), "LOCAL_RANK": str(rank)}))
        tell("child", child=child.pid, rank=rank)
    client = Client(options.directory, tries=options.tries, idle_type=2 if options.head else 3)
    tell("bound", name=client.name)
    play(client, options)


if __name__ == "__main__":
    main()
