"""Work done ahead in threads: the next batches are made ready while the model is busy with this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_END: Any = object()


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
