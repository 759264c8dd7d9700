"""How many requests go to the model together: as told, or found out on the run's own first batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from typing import Any

log = logging.getLogger(__name__)

#: A larger batch must take this share less time per request, or it is no gain.
_GAIN = 0.05
#: Share of a GPU's memory that may be planned with; the rest is for fragments and for clips of other lengths.
_USABLE = 0.9


class BatchSize:
    """The size of the next batch.

    A growing one doubles after each full batch that was cheaper per request than the size before, as long as the double is
    expected to fit into memory; at the first that was not it stops, and goes back if it was dearer.  Batches come longest first,
    so a size that fits then fits the others too.

    Attributes:
        size: Most requests of the next batch.
        halvings: How often memory ran out.
    """

    def __init__(self, size: int, *, most: int | None = None, fits: Callable[[], bool] | None = None) -> None:
        """Starts.

        Args:
            size: First size.
            most: Upper bound for growing; None for a size that stays.
            fits: Says whether a batch of twice the size of the last would fit into memory; None if that is not known.
        """
        self.size, self.halvings = size, 0
        self._most = size if most is None else most
        self._fits = fits or (lambda: True)
        self._growing = self.size < self._most
        self._cheapest: float | None = None
        self._group: Hashable = None

    def took(self, requests: int, seconds: float, group: Hashable) -> None:
        """Notes what a batch took, and decides on the next size.

        Args:
            requests: Its size.
            seconds: Time.
            group: Batches of one group cost alike (the same token cap); others are not compared.
        """
        if not self._growing or requests < self.size:
            return
        each = seconds / requests
        if group != self._group:
            self._group, self._cheapest = group, None
        if self._cheapest is not None and each > (1 - _GAIN) * self._cheapest:
            if each > (1 + _GAIN) * self._cheapest:
                self.size = max(1, self.size // 2)
            self._settle("a larger batch takes no less time per request")
        elif self.size == self._most:
            self._settle("the upper bound")
        elif not self._fits():
            self._settle("twice as many are not expected to fit into memory")
        else:
            self._cheapest = each
            self.size = min(2 * self.size, self._most)

    def ran_out(self, requests: int) -> None:
        """Halves the size for the rest of the run: memory ran out with this many requests at once."""
        self.size = max(1, requests // 2)
        self.halvings += 1
        self._growing = False
        log.warning("out of memory with %d requests at once; going on with %d", requests, self.size)

    def _settle(self, why: str) -> None:
        self._growing = False
        log.info("batch_size=auto: %d requests at once (%s)", self.size, why)


def room_on_gpu(device: Any) -> Callable[[], bool]:
    """For :class:`BatchSize` on CUDA: what a batch needs beside the weights, taken twice.

    Args:
        device: ``torch.device``, with the model on it and nothing else of ours yet.
    """
    import torch

    torch.cuda.reset_peak_memory_stats(device)  # loading the weights may have taken more than they do
    weights = torch.cuda.memory_allocated(device)

    def fits() -> bool:
        batch = torch.cuda.max_memory_allocated(device) - weights
        free, _ = torch.cuda.mem_get_info(device)
        ours = free + torch.cuda.memory_reserved(device)  # reserved: PyTorch holds it, used or not
        return weights + 2 * batch <= _USABLE * ours

    return fits
