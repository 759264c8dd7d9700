"""One of two processes of a run dies or fails: the other one ends too, says why, and any number of processes goes on."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from _fault_runs import Child, MadeUp, Place, evaluate, go_on

from dsb2_tasks.models._base import Question

#: What a loaded machine may take; the other process ends in well below a second.
END_SECONDS = 60


class Failing(MadeUp):
    """Fails at its second batch."""

    def ask(self, questions: Sequence[Question]) -> Iterator[Any]:
        for number, replies in enumerate(super().ask(questions)):
            if number == 1:
                raise ArithmeticError("the card fell off the bus")
            yield replies


def start(place: Place, *models: type[MadeUp], pause: float = 0.0) -> list[Child]:
    """Begins a run of one process a model, as torchrun does, but with nobody who looks after them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def process(rank: int, model: type[MadeUp]) -> None:
        from accelerate import PartialState

        one = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": len(models), "LOCAL_WORLD_SIZE": len(models)}
        PartialState._reset_state()  # children come from a process that made a run by itself
        os.environ.update({name: str(value) for name, value in {**one, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}.items()})
        evaluate(place, model(place, rank=rank, pause=pause))

    return [
        Child(lambda rank=rank, model=model: process(rank, model), place.root / f"said{rank}.txt")
        for rank, model in enumerate(models)
    ]


@pytest.mark.parametrize(
    ("how", "lost", "again"),
    [("killed", 0, 1), ("killed", 1, 2), ("fails", 0, 2), ("fails", 1, 1)],
    ids=lambda value: str(value),
)
def test_a_lost_rank_ends_the_run_and_costs_no_answer(how: str, lost: int, again: int, place: Place, whole: Place) -> None:
    models = [Failing if how == "fails" and rank == lost else MadeUp for rank in range(2)]
    children = start(place, *models, pause=0.3)
    if how == "killed":
        deadline = time.monotonic() + END_SECONDS
        while len(list(place.responses.rglob("responses-rank?.jsonl"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        children[lost].kill()
    assert children[1 - lost].wait(END_SECONDS) == 70
    assert children[lost].wait() == (-9 if how == "killed" else 70)

    said = children[1 - lost].said().splitlines()[-1]
    assert said.startswith(f"dsb2_tasks.models._ranks.RankLost: process {2 - lost} of 2: another process of this run has ended")
    assert "the same command goes on from there, with any number of processes" in said
    if how == "fails":
        assert "ArithmeticError: the card fell off the bus" in children[lost].said()
    kept = place.stored()
    assert kept.items() < whole.stored().items() and len(kept) >= 6 + 2, "the other one's six, and a batch of the lost one"
    assert not list(place.out.rglob("*.json*")), "half a run leaves no results"

    if again == 1:
        go_on(place, whole)
        return
    before = len(place.all_asked())
    for child in start(place, MadeUp, MadeUp):
        assert child.wait() == 0, child.said()
    assert sorted(place.all_asked()[before:]) == sorted(whole.stored().keys() - kept.keys())
    assert place.stored() == whole.stored()
    assert place.results() == whole.results() and place.samples() == whole.samples()
