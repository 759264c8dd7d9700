"""Which requests go to the model together: pure arithmetic over lengths, no model and no audio."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def make_batches(
    seconds: Sequence[float], groups: Sequence[Hashable], *, size: int, max_seconds: float | None = None
) -> list[list[int]]:
    """Cuts requests into batches of similar length, longest first.

    Longest first shows at once whether the largest batch fits into memory, and keeps the estimate of the time left on the safe
    side.  Requests of equal length stay in their order.

    Args:
        seconds: Audio length of each request; 0 for one without audio.
        groups: What requests must have in common to share a batch (generation settings); equal values may share one.
        size: Most requests a batch.
        max_seconds: Most audio a batch, counted as the batch is padded: longest request times number of requests.  A request
            longer than that makes a batch of its own.

    Returns:
        Batches of positions in ``seconds``; each position exactly once, groups in order of their first request.

    Raises:
        ValueError: ``size`` is below 1, or the two sequences differ in length.
    """
    if size < 1:
        raise ValueError(f"batch size {size} is below 1")
    members: dict[Hashable, list[int]] = {}
    for i, (_, group) in enumerate(zip(seconds, groups, strict=True)):
        members.setdefault(group, []).append(i)
    batches: list[list[int]] = []
    for indices in members.values():
        batch: list[int] = []
        for i in sorted(indices, key=lambda j: -seconds[j]):
            full = len(batch) == size
            # The first of a batch is its longest, so the whole is padded to it.
            too_long = bool(batch) and max_seconds is not None and seconds[batch[0]] * (len(batch) + 1) > max_seconds
            if full or too_long:
                batches.append(batch)
                batch = []
            batch.append(i)
        batches.append(batch)
    return batches
