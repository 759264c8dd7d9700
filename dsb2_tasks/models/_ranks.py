"""Who this process is among those of one run, and how they exchange what they know.

lm-eval deals the documents out to ``rank`` of ``world_size`` and collects samples and statistics itself; it needs the four
operations below.  Ranks are global ones (``RANK`` of torchrun), so several machines work.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

log = logging.getLogger(__name__)

#: A rank may wait this long for a slower one; its clips may be longer. torchrun ends all ranks when one dies; without it the
#: connection of one that died breaks, so that only a machine that is gone without a word is waited for that long.
_PATIENCE = timedelta(days=2)
_ABSENT = object()


class RankLost(RuntimeError):
    """Another process of the run is gone; the message says what is kept."""


class Ranks:
    """The processes of one run; a single one unless torchrun or ``accelerate launch`` started several.

    Attributes:
        rank: Global index of this process.
        world_size: Number of processes.
        local_rank: Index on this machine; says which GPU is ours.
    """

    def __init__(self, *, cpu: bool) -> None:
        """Joins the other processes, if there are any (``WORLD_SIZE`` above 1).

        Args:
            cpu: Exchange over CPUs even where GPUs are.
        """
        self.rank, self.world_size, self.local_rank = 0, 1, 0
        self._state: Any = None
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            import torch.distributed
            from accelerate import PartialState

            self._state = PartialState(cpu=cpu, timeout=_PATIENCE)
            self.rank, self.world_size = self._state.process_index, self._state.num_processes
            self.local_rank = self._state.local_process_index
            # Samples are pickled objects: over gloo they do not pass through GPU memory.
            self._objects = torch.distributed.new_group(backend="gloo", timeout=_PATIENCE)

    def all_gather(self, tensor: Any) -> Any:
        """Values of all ranks in rank order along the first axis; a scalar becomes a vector of one value a rank."""
        if tensor.ndim == 0:
            tensor = tensor[None]
        if self._state is None:
            return tensor
        from accelerate.utils import gather

        with self._together():
            return gather(tensor)

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """Objects of all ranks in rank order on rank ``dst``, None on the others."""
        if self._state is None:
            return [obj]
        import torch.distributed

        found: list[Any] | None = [None] * self.world_size if self.rank == dst else None
        with self._together():
            torch.distributed.gather_object(obj, found, dst=dst, group=self._objects)
        return found

    def barrier(self) -> None:
        """Waits for all ranks."""
        if self._state is not None:
            import torch.distributed

            log.info("process %d of %d is done, and waits for the others", self.rank + 1, self.world_size)
            with self._together():
                torch.distributed.barrier(group=self._objects)  # over gloo: NCCL does not notice a rank that is gone

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Says in what exchanges with the other ranks fail.

        Raises:
            RankLost: One of them is gone.
        """
        try:
            yield
        except RuntimeError as error:
            raise RankLost(
                f"process {self.rank + 1} of {self.world_size}: another process of this run has ended, or cannot be reached any "
                f"more ({' '.join(str(error).split())[:300]}); what it said before tells why. What was answered is in the "
                f"response stores of all processes, unless resume=false: the same command goes on from there, with any number of "
                f"processes"
            ) from error


def in_document_order(gathered: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows of all ranks as those of one process.

    Documents were dealt out one by one, so the first rows of all ranks are the first documents, and so on.  lm-eval itself puts
    the ranks' rows one behind the other, which gives sample files in another order and other bootstrapped standard errors, and
    fails on a rank that had no document of a task.

    Args:
        gathered: What each rank collected, in rank order: lists, in mappings of one or two levels.
    """
    names = dict.fromkeys(name for one in gathered for name in one)
    whole: dict[str, Any] = {}
    for name in names:
        parts = [one[name] for one in gathered if name in one]
        if all(isinstance(part, Mapping) for part in parts):
            whole[name] = in_document_order(parts)
        else:
            rounds = itertools.zip_longest(*parts, fillvalue=_ABSENT)
            whole[name] = [row for dealt in rounds for row in dealt if row is not _ABSENT]
    return whole
