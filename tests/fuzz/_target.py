"""A target: what must hold for any input, and what inputs are made of."""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import strategies as st

SEEDS = Path(__file__).parent / "seeds"
#: Bounds of one input: processor time in seconds, and MiB by which the peak of the process's memory may grow.
SECONDS, MIB = 2.0, 1024
#: After this much processor time a reading is interrupted.
_HANG_SECONDS = 20.0

#: In the repr of a function.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

Mutate = Callable[[bytes, random.Random], bytes]


class TooMuch(AssertionError):
    """An input took more time or memory than any input may."""


class _Hangs(BaseException):
    """Raised by the timer; no ``except Exception`` on the way holds it up."""


@dataclass(frozen=True)
class Target:
    """One kind of readers.

    Attributes:
        name: Name on the command line and of the folder of seeds.
        check: Reads an input in every way there is; raises whatever should not be.
        words: Pieces that inputs are made of.
        mutate: A change that keeps the structure of an input.
        most: Most bytes of an input.
    """

    name: str
    check: Callable[[bytes], None]
    words: tuple[str, ...]
    mutate: Mutate
    most: int = 4096

    @cached_property
    def seeds(self) -> dict[str, bytes]:
        """The kept inputs by file name."""
        return {path.name: path.read_bytes() for path in sorted((SEEDS / self.name).iterdir())}

    def inputs(self) -> st.SearchStrategy[bytes]:
        """Inputs for hypothesis: seeds that were changed a few times, pieces in a row, any text, any bytes."""
        seeds = st.sampled_from(list(self.seeds.values()))
        pieces = st.lists(st.sampled_from(self.words) | st.text(max_size=4), max_size=40)
        texts = pieces.map("".join) | pieces.map(" ".join) | st.text(max_size=80)
        changed = st.builds(self.changed, seeds, st.randoms(use_true_random=False), st.integers(1, 6))
        return changed | texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=200)

    def changed(self, data: bytes, rnd: random.Random, times: int = 1) -> bytes:
        """An input after some changes, in structure or byte by byte."""
        for _ in range(times):
            data = self.mutate(data, rnd) if rnd.random() < 0.7 else spliced(data, self.words, rnd)
        return data[: self.most]

    def bounded(self, data: bytes, seconds: float = SECONDS) -> None:
        """Checks one input within the bounds of time and memory; a slow one again, as the first of all loads libraries."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if self._seconds(data) > seconds and (took := self._seconds(data)) > seconds:
            raise TooMuch(f"{took:.1f} s of processor time")
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
        if more > MIB << 10:
            raise TooMuch(f"{more >> 10} MiB of memory")

    def _seconds(self, data: bytes) -> float:
        start = time.process_time()
        with _timer():
            self.check(data)
        return time.process_time() - start


def read_words(name: str) -> tuple[str, ...]:
    """The words of a target: one a line, escaped as in JSON."""
    text = (Path(__file__).parent / "words" / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(json.loads(f'"{line}"') for line in text.split("\n")[:-1])


@contextmanager
def _timer() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _Hangs

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _HANG_SECONDS)
    try:
        yield
    except _Hangs:
        raise TooMuch(f"more than {_HANG_SECONDS:g} s of processor time") from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def spliced(data: bytes, words: tuple[str, ...], rnd: random.Random) -> bytes:
    """A piece put in, taken out, doubled or replaced by a word."""
    a = rnd.randint(0, len(data))
    b = min(len(data), a + rnd.randint(0, 12))
    piece = rnd.choice([b"", data[a:b] * 2, rnd.choice(words).encode("utf-8", "surrogatepass"), bytes([rnd.randrange(256)])])
    return data[:a] + piece + data[b:]


#: What strangers put in the place of a value.
_VALUES: tuple[Any, ...] = (None, [], {}, "", "x", 0, -1, 1, 1.5, 10**400, float("nan"), float("inf"), True, "\ud800", [[[]]])


def changed_tree(value: Any, words: tuple[str, ...], rnd: random.Random) -> Any:
    """A copy of nested values with one change in one place; an object may get any word as a key."""
    place = rnd.choice(list(_places(value)))

    def copy(inner: Any, at: tuple[Any, ...]) -> Any:
        if at == place:
            return _replacement(inner, words, rnd)
        if isinstance(inner, dict):
            return {key: copy(item, (*at, key)) for key, item in inner.items()}
        return [copy(item, (*at, i)) for i, item in enumerate(inner)] if isinstance(inner, list) else inner

    return copy(value, ())


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(item, (*at, key))


def _replacement(value: Any, words: tuple[str, ...], rnd: random.Random) -> Any:
    how, word = rnd.randrange(5), rnd.choice(words)
    if isinstance(value, dict) and how < 3:
        kept = [pair for pair in value.items() if how or rnd.random() < 0.8]
        return dict([*kept, (word, rnd.choice([*_VALUES, *value.values()]))])
    if isinstance(value, list) and how < 3:
        return [item for item in value if rnd.random() < 0.8] if how else [*value, *(value[-1:] or [word])]
    if isinstance(value, str) and how < 2:
        return spliced(value.encode("utf-8", "surrogatepass"), words, rnd).decode("utf-8", "replace")
    if isinstance(value, int | float) and how < 2:
        return rnd.choice([-value, value + 1, value * 1000, str(value)])
    return word if how == 3 else rnd.choice(_VALUES)


def changed_json(data: bytes, words: tuple[str, ...], rnd: random.Random) -> bytes:
    """JSON with one change; what is no JSON gets a word put in."""
    try:
        return json.dumps(changed_tree(json.loads(data), words, rnd)).encode()
    except (ValueError, RecursionError):
        return spliced(data, words, rnd)


def same_twice(read: Callable[[], Any]) -> Any:
    """What a reading gives; a second one must give the same."""
    first, second = read(), read()
    shown, again = (_ADDRESS.sub("", repr(result)) for result in (first, second))
    assert shown == again, f"read twice, two results: {shown[:500]} and {again[:500]}"
    return first
