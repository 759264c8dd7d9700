"""Work that waits for a server, some of it at a time, for a caller who knows no asyncio.

The event loop runs in a thread of its own: requests go on while the caller is busy with a reply, and callers that run inside an
event loop already (notebooks) can use it too.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from queue import SimpleQueue
from typing import TypeVar

C = TypeVar("C")
T = TypeVar("T")
R = TypeVar("R")

#: What an orderly end may take; a server that does not let go is left to the end of the process.
_ENDING_SECONDS = 5.0


def in_flight(
    items: Iterable[T], context: Callable[[], AbstractAsyncContextManager[C]], work: Callable[[C, T], Awaitable[R]], limit: int
) -> Generator[tuple[int, R], None, None]:
    """Works on items, at most ``limit`` at a time.

    Args:
        items: Pulled one by one, in the caller's thread, only when one can be started.
        context: Makes what the work shares (a session); entered and left in the event loop.
        work: What is done with an item.
        limit: Most at a time.

    Yields:
        Number of the item and what became of it, as they get ready.  What was ready when a work raised is yielded first.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="dsb2-endpoint", daemon=True)
    thread.start()
    ready: SimpleQueue[tuple[int, Future[R]]] = SimpleQueue()
    running: dict[int, Future[R]] = {}
    manager = context()
    try:
        shared = asyncio.run_coroutine_threadsafe(manager.__aenter__(), loop).result()

        async def one(item: T) -> R:
            return await work(shared, item)

        coming = enumerate(items)
        while True:
            while len(running) < limit and (pulled := next(coming, None)) is not None:
                i, item = pulled
                running[i] = asyncio.run_coroutine_threadsafe(one(item), loop)
                running[i].add_done_callback(lambda future, i=i: ready.put((i, future)))  # type: ignore[misc]
                del item, pulled  # items are large; what is in flight holds its own
            if not running:
                return
            i, future = ready.get()
            error = future.exception()
            while error is not None and not ready.empty():
                other, done = ready.get()
                if done.exception() is None:
                    yield other, done.result()
            if error is not None:
                raise error
            del running[i]
            yield i, future.result()
    finally:
        for future in running.values():
            future.cancel()
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_end(manager), loop).result(_ENDING_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_ENDING_SECONDS)
        if not thread.is_alive():
            loop.close()


async def _end(manager: AbstractAsyncContextManager[object]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
    await manager.__aexit__(None, None, None)
