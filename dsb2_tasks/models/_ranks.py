"""Who this process is among those of one run, and how they exchange what they know.

lm-eval deals the documents out to ``rank`` of ``world_size`` and collects samples and statistics itself; it needs the four
operations below.  Ranks are global ones (``RANK`` of torchrun), so several machines work.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

#: A rank may wait this long for a slower one; its clips may be longer. torchrun ends all ranks when one dies.
_PATIENCE = timedelta(days=2)
_ABSENT = object()


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

        return gather(tensor)

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """Objects of all ranks in rank order on rank ``dst``, None on the others."""
        if self._state is None:
            return [obj]
        import torch.distributed

        found: list[Any] | None = [None] * self.world_size if self.rank == dst else None
        torch.distributed.gather_object(obj, found, dst=dst, group=self._objects)
        return found

    def barrier(self) -> None:
        """Waits for all ranks."""
        if self._state is not None:
            self._state.wait_for_everyone()


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
