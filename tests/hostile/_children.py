"""Functions that may crash, never end or take all memory, called in processes of their own."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from _audio_makers import RATE, encode, tone
from _nursery import Nursery

from dsb2_tasks.audio import AudioError, RawAudio, decode, resample


class Outcome(NamedTuple):
    """How a function fared in a process of its own: what it returned, CPU seconds, bytes that its memory grew by at most."""

    value: Any
    seconds: float
    grown: int


def _prepare() -> None:
    """What decoding and resampling import; nothing is decoded by PyAV, whose locks a fork does not survive."""
    with contextlib.suppress(ImportError):
        importlib.import_module("av")
    resample(decode(RawAudio(encode(tone(8_000)), "warm-up"))[0], 8_000, RATE)


_nursery = cache(lambda: Nursery(_prepare))


def in_child(
    function: Callable[[], Any], *, first: Callable[[], Any] = lambda: None, seconds: int = 60, most: int = 1 << 32
) -> Outcome:
    """Calls a function in its own process: crashes of C libraries, endless work and memory without end are seen and survived.

    Args:
        function: What to call; an :class:`AudioError` counts as returned, every other exception fails the test.
        first: What to call before, so that what is loaded or made once is not counted.
        seconds: After which it is stopped.
        most: Bytes of address space that it may get on top of what the process has.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "outcome")

        def child() -> None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            signal.alarm(seconds)
            first()
            limit = status("VmSize") + most
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
            before, started = status("VmRSS"), time.process_time()
            try:
                try:
                    value = function()
                except AudioError as error:
                    value = error
                outcome = (value, time.process_time() - started, status("VmHWM") - before)
            except BaseException:
                outcome = (traceback.format_exc(), None, 0)
            told.write_bytes(pickle.dumps(outcome))

        code = _nursery().wait(_nursery().fork(child), seconds + 30)
        assert code == 0, f"ended with {code}"  # negative for the number of a signal
        outcome = Outcome(*pickle.loads(told.read_bytes()))
    assert outcome.seconds is not None, outcome.value
    return outcome


def status(key: str) -> int:
    """Bytes, from what Linux says of this process."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024
