"""Work done ahead in threads: the next batches are made ready while the model is busy with this one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_END: Any = object()
#: What work that is under way may take when its results are wanted no more; then it is left to the end of the process.
_ENDING_SECONDS = 2.0


class Workers(Executor):
    """Threads that do not keep a process alive; at its end those of ``ThreadPoolExecutor`` are waited for, however long.

    Leaving the ``with`` block drops what has not begun.
    """

    def __init__(self, number: int, name: str) -> None:
        """Starts the threads.

        Args:
            number: How many.
            name: What their names begin with.
        """
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=f"{name}_{k}", daemon=True) for k in range(number)]
        for thread in self._threads:
            thread.start()

    def submit(self, make: Callable[..., R], /, *args: Any, **keywords: Any) -> Future[R]:
        """Has something made by the next thread that is free."""
        future: Future[R] = Future()
        self._jobs.put((future, partial(make, *args, **keywords)))
        return future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, make = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(make())
                except BaseException as error:
                    future.set_exception(error)
            del job, future, make  # batches are large, and the next job may be long in coming

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(Empty):
            while (job := self._jobs.get_nowait()) is not None:
                job[0].cancel()
        for _ in self._threads:
            self._jobs.put(None)
        # In step with the interpreter's end a thread inside of C++ would abort it, so short work is waited for.
        deadline = time.monotonic() + _ENDING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))


def ahead(pool: Executor, make: Callable[[T], R], batches: Iterable[Iterable[T]], depth: int) -> Iterator[list[tuple[T, R]]]:
    """Maps batches in order, starting on the next ones before they are asked for.

    Args:
        pool: Runs ``make``.
        make: Work on one item.
        batches: Items that are handed out together.
        depth: Batches that are worked on beside the one handed out; bounds the memory.

    Yields:
        Each batch as (item, ``make(item)``), in order.  An exception of ``make`` is raised when its batch is due.
    """
    waiting: deque[list[tuple[T, Future[R]]]] = deque()
    coming = iter(batches)
    while True:
        while len(waiting) <= depth and (batch := next(coming, None)) is not None:
            waiting.append([(item, pool.submit(make, item)) for item in batch])
        if not waiting:
            return
        yield [(item, future.result()) for item, future in waiting.popleft()]


def one_ahead(thread: Executor, items: Iterable[T]) -> Iterator[T]:
    """Runs an iterator in a thread: while an item is used, the next one is made.

    Args:
        thread: An executor of one thread, so that the iterator is in one place at a time.
        items: What is to be made; an exception of it is raised when its item is due.
    """
    coming = iter(items)
    making = thread.submit(next, coming, _END)
    while (item := making.result()) is not _END:
        making = thread.submit(next, coming, _END)
        yield item
