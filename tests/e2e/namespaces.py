"""Places of their own for tests: a thread with a namespace that nobody else of this machine sees."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import tempfile
import threading

import pytest

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE, MS_REMOUNT, MS_RDONLY = 0x4000, 1 << 18, 32, 1
LIBC = ctypes.CDLL(None, use_errno=True)


class NotHere(Exception):
    """This machine does not let us."""


def check(result):
    if result != 0:
        raise NotHere(os.strerror(ctypes.get_errno()))


def mount(source, target, kind, flags=0, options=""):
    check(LIBC.mount(source.encode(), os.fsencode(target), kind.encode() if kind else None, ctypes.c_ulong(flags), options.encode()))


def in_thread(function):
    """Runs it in a thread, whose namespaces it may change, and raises what it raises; or skips."""
    raised = []

    def inside():
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    for error in raised:
        if isinstance(error, NotHere):
            pytest.skip(f"no file system of our own here ({error})")
        raise error


class Disk:
    """A small file system that nobody else sees."""

    def __init__(self, folder):
        self.folder = folder
        self.ballast = folder / "ballast"

    def fill(self):
        """To the last byte."""
        with self.ballast.open("ab", buffering=0) as to:
            with contextlib.suppress(OSError):
                while True:
                    os.write(to.fileno(), bytes(4096))

    def empty(self):
        self.ballast.unlink()

    def make_read_only(self, is_so=True):
        mount("none", self.folder, None, MS_REMOUNT | (MS_RDONLY if is_so else 0))


def on_small_disk(function, size):
    """Calls it with a Disk of so many bytes, in a thread that sees it; what it starts sees it, too."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sd-", dir="/tmp"))

    def inside():
        check(LIBC.unshare(CLONE_NEWNS))
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        mount("none", folder, "tmpfs", 0, f"size={size},mode=755")
        function(Disk(folder))
    try:
        in_thread(inside)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
