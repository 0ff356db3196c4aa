"""Asks `spotter mcp` over its pipe, one message a line: what is written here goes there as it is, and all that comes is held
to the schemas of the specification (schemas.py)."""

import collections
import contextlib
import itertools
import json
import os
import queue
import subprocess
import threading
import time

import schemas
from agent import clean_environment, program

PREFIX = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
CLIENT = {"name": "tests", "version": "1"}
CALLS_PER_SECOND = 5  # of tools, that one client may make
DEADLINE = float(os.environ.get("SPOTTER_MCP_DEADLINE", "60"))  # for one answer


def meta(version=MODERN, **more):
    return {PREFIX + "protocolVersion": version, PREFIX + "clientInfo": CLIENT, PREFIX + "clientCapabilities": {}} | more


def modern(method, id=1, version=MODERN, progress=None, **params):
    """A request of that era. `progress`: its token."""
    token = {} if progress is None else {"progressToken": progress}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params | {"_meta": meta(version, **token)}}


def legacy(method, id=1, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method} | ({"params": params} if params else {})


def initialize(version=LEGACY, id=0):
    return legacy("initialize", id, protocolVersion=version, capabilities={}, clientInfo=CLIENT)


def told(method, **params):
    """A notification."""
    return {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})


INITIALIZED = told("notifications/initialized")


def line_of(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def no_constants(name):
    raise ValueError(f"{name} is not JSON")


def read_line(line):
    """A line of the server's standard output: a message, or an array of them, and nothing else ever."""
    text = line.decode()  # UTF-8
    assert text.endswith("\n"), f"a line that does not end: {text[-200:]!r}"
    message = json.loads(text, parse_constant=no_constants)
    for one in message if isinstance(message, list) else [message]:
        assert one["jsonrpc"] == "2.0" and ("id" in one or "method" in one or "error" in one), one
    return message


def command(*words):
    return [str(program()), "mcp", *map(str, words)]


def exchange(lines, *words, timeout=DEADLINE):
    """All that comes for these messages, until the server ends as its input does."""
    done = subprocess.run(command(*words), input=b"".join(map(line_of, lines)), capture_output=True, timeout=timeout, check=False,
                          env=clean_environment())
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return [read_line(line) for line in done.stdout.splitlines(keepends=True)]


class Failed(Exception):
    """An error of the protocol."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.error, self.code, self.message = error, error["code"], error["message"]


class Pipe:
    """A running server. Use it in a `with`; it must also end well. `revision`: a legacy one is opened by initialize."""

    def __init__(self, *words, revision=MODERN, **environment):
        self.revision = revision
        self.ids = itertools.count(1)
        self.progress = []  # of all requests
        self.called = collections.deque(maxlen=CALLS_PER_SECOND)  # when
        self.lines = queue.SimpleQueue()
        self.process = subprocess.Popen(command(*words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=clean_environment(**environment))
        self.errors = b""
        self.readers = [threading.Thread(target=self.read_output), threading.Thread(target=self.read_errors)]
        for reader in self.readers:
            reader.start()
        try:
            self.opened = self.request(initialize(revision)) if revision != MODERN else None
            if self.opened:
                self.send(INITIALIZED)
        except BaseException:
            self.kill()
            raise

    def read_output(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def read_errors(self):
        self.errors = self.process.stderr.read()

    def send(self, message):
        self.process.stdin.write(line_of(message))
        self.process.stdin.flush()

    def receive(self, method=None, timeout=DEADLINE):
        """The next message, checked; `method`: of the request that it must answer. None at the end."""
        line = self.lines.get(timeout=timeout)
        if line is None:
            return None
        message = read_line(line)
        schemas.check(self.revision, message, None if "method" in message else method)
        return message

    def request(self, message, timeout=DEADLINE):
        """The result. Raises Failed."""
        self.send(message)
        end = time.monotonic() + timeout
        while True:
            answer = self.receive(message["method"], max(0.01, end - time.monotonic()))
            assert answer is not None, f"it ended: {self.errors[-2000:]}"
            if answer.get("method") == "notifications/progress":
                self.progress.append(answer["params"])
                continue
            assert answer["id"] == message["id"], answer
            if "error" in answer:
                raise Failed(answer["error"])
            return answer["result"]

    def ask(self, method, **params):
        make = modern if self.revision == MODERN else legacy
        return self.request(make(method, next(self.ids), **params))

    def call(self, tool, progress=None, **arguments):
        """The result of a tool, whether it is an error or not; no faster than a client may ask."""
        if len(self.called) == CALLS_PER_SECOND:
            time.sleep(max(0, self.called[0] + 1.05 - time.monotonic()))
        self.called.append(time.monotonic())
        params = {"name": tool, "arguments": arguments}
        if self.revision == MODERN:
            return self.request(modern("tools/call", next(self.ids), progress=progress, **params))
        return self.request(legacy("tools/call", next(self.ids), **params, **({} if progress is None else {"_meta": {"progressToken": progress}})))

    def tools(self):
        return {tool["name"]: tool for tool in self.ask("tools/list")["tools"]}

    def end(self):
        """(exit status, all messages that were still to come)"""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.process.wait(10)
        for reader in self.readers:
            reader.join()
        left = []
        while (line := self.lines.get()) is not None:
            left.append(read_line(line))
        self.process.stdout.close()
        self.process.stderr.close()
        return status, left

    def kill(self):
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind or self.process.poll() is not None:
            self.kill()
            return
        status, left = self.end()
        assert status == 0, (status, self.errors[-2000:])
        assert not left, f"nobody asked for {left}"
