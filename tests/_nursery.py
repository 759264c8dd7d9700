"""Forks of a clean process.

A test that forks its own process gives the child whatever tests before it left behind: locks that threads of C libraries held,
for one, on which the child then waits for ever.  Here a process does the forking that has done nothing but what it was told to
prepare.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle


class Nursery:
    """A process that forks others, each from the same clean state.

    Args:
        prepare: Called once in that process before the first fork, so that children find imported and loaded what they need.
    """

    def __init__(self, prepare: Callable[[], object]) -> None:
        spawn, self._lock = get_context("spawn"), threading.Lock()
        self._line, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self.call(prepare)

    def call(self, function: Callable[[], object]) -> None:
        """Runs a function in the process itself, for all children that follow."""
        self._ask("call", function)

    def fork(self, function: Callable[[], object]) -> int:
        """Runs a function in a child, which has this process' environment and ends without ceremony: its process number."""
        return self._ask("fork", function)

    def wait(self, pid: int, timeout_s: float) -> int | None:
        """Exit status of a child, negative for the number of a signal; None if it still runs then."""
        end = time.monotonic() + timeout_s
        while (status := self._ask("wait", pid)) is None and time.monotonic() < end:
            time.sleep(0.002)
        return status

    def _ask(self, what: str, about: Any) -> Any:
        message = cloudpickle.dumps((what, about))
        with self._lock:
            self._line.send((dict(os.environ), sys.path, message))
            error, value = self._line.recv()
        assert error is None, error
        return value


def _serve(line: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who stops the tests stops this by hanging up
    importlib.import_module("pytest")  # for modules of tests, which functions may come from
    while True:
        try:
            environment, sys.path[:], message = line.recv()
        except EOFError:
            return
        os.environ.clear()
        os.environ.update(environment)
        try:
            what, about = pickle.loads(message)
            answer = about() if what == "call" else _fork(about) if what == "fork" else _wait(about)
        except BaseException:
            line.send((traceback.format_exc(), None))
        else:
            line.send((None, answer))


def _fork(function: Callable[[], object]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            function()
        except BaseException:
            traceback.print_exc()
            os._exit(70)
        os._exit(0)
    return pid


def _wait(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None
