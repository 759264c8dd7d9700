"""Which requests go to the model together: pure arithmetic over lengths, no model and no audio."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence


def make_batches(
    seconds: Sequence[float],
    groups: Sequence[Hashable],
    *,
    size: int,
    max_seconds: float | None = None,
    tokens: Sequence[int] | None = None,
    max_tokens: int | None = None,
) -> list[list[int]]:
    """All batches of :func:`cut_batches` with one size.

    Raises:
        ValueError: ``size`` is below 1, or the sequences differ in length.
    """
    if size < 1:
        raise ValueError(f"batch size {size} is below 1")
    return list(cut_batches(seconds, groups, size=lambda: size, max_seconds=max_seconds, tokens=tokens, max_tokens=max_tokens))


def cut_batches(
    seconds: Sequence[float],
    groups: Sequence[Hashable],
    *,
    size: Callable[[], int],
    max_seconds: float | None = None,
    tokens: Sequence[int] | None = None,
    max_tokens: int | None = None,
) -> Iterator[list[int]]:
    """Cuts requests into batches of similar length, longest first, each when it is asked for.

    Longest first shows at once whether the largest batch fits into memory, and keeps the estimate of the time left on the safe
    side.  Requests of equal length stay in their order.

    Args:
        seconds: Audio length of each request; 0 for one without audio.
        groups: What requests must have in common to share a batch (generation settings); equal values may share one.
        size: Most requests of the next batch.
        max_seconds: Most audio a batch, counted as the batch is padded: longest request times number of requests.  A request
            longer than that makes a batch of its own.
        tokens: Most tokens that the answer to each request may have; needed for ``max_tokens``.
        max_tokens: Most tokens a batch may be answered with, counted in the same way.

    Yields:
        Positions in ``seconds``; each position exactly once, groups in order of their first request.

    Raises:
        ValueError: The sequences differ in length.
    """
    members: dict[Hashable, list[int]] = {}
    for i, (_, group, _) in enumerate(zip(seconds, groups, tokens or [0] * len(groups), strict=True)):
        members.setdefault(group, []).append(i)
    for indices in members.values():
        indices.sort(key=lambda j: -seconds[j])
        start = 0
        while start < len(indices):
            # The first of a batch is its longest, so the whole is padded to it; in a group all token caps may still differ.
            longest, end, most = seconds[indices[start]], start + 1, max(1, size())
            wanted = 0 if tokens is None else tokens[indices[start]]
            while end < len(indices) and end - start < most:
                wanted = wanted if tokens is None else max(wanted, tokens[indices[end]])
                n = end - start + 1
                if max_seconds is not None and longest * n > max_seconds:
                    break
                if max_tokens is not None and wanted * n > max_tokens:
                    break
                end += 1
            yield indices[start:end]
            start = end
