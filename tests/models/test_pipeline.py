"""Throughput: what is made ready while the model works, how large batches get, what happens when one does not fit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from _requests import Listening, Shelf, request, tone

from dsb2_tasks.models._sizing import BatchSize
from dsb2_tasks.models.adapters import Adapter
from dsb2_tasks.models.hf_audio import HFAudio

Load = Callable[..., HFAudio]
Patch = pytest.MonkeyPatch


def clips(shelf: Shelf, number: int, seconds: float = 0.5) -> list[Any]:
    return [request("What is said?", shelf.put(tone(200 + 10 * i, seconds)), max_gen_toks=2) for i in range(number)]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_inputs_of_the_next_batch_are_made_while_the_model_works(
    load: Load, shelf: Shelf, monkeypatch: Patch, prefetch: int
) -> None:
    lm = load(batch_size=1, prefetch=prefetch)
    made: list[str] = []
    inputs = lm._adapter.inputs

    def noting(conversations: Any, **options: Any) -> Any:
        made.append(threading.current_thread().name)
        return inputs(conversations, **options)

    monkeypatch.setattr(lm._adapter, "inputs", noting)
    lm._heard = True
    ready: list[int] = []

    def look(call: int, rows: int) -> None:
        deadline = time.monotonic() + 5
        while prefetch and call < 5 and len(made) < call + 2 and time.monotonic() < deadline:
            time.sleep(0.005)
        ready.append(len(made) - call - 1)

    Listening(lm, monkeypatch, look)
    lm.generate_until(clips(shelf, 6))
    assert ready == ([1, 1, 1, 1, 1, 0] if prefetch else [0] * 6), "one batch ahead, and no more"
    assert all(name.startswith("dsb2-encode") for name in made) == bool(prefetch)


def test_an_automatic_size_grows_on_the_batches_of_the_run(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    requests = clips(shelf, 60)
    expected = load(resume=False, batch_size=4).generate_until(requests)
    lm = load(batch_size=1, prefetch=0)
    lm._sizes = lm._pipeline._sizes = BatchSize(1, most=16)
    clock = iter(range(10_000))
    monkeypatch.setattr("dsb2_tasks.models._pipeline.time.monotonic", lambda: float(next(clock)))
    ear = Listening(lm, monkeypatch)
    assert lm.generate_until(requests) == expected
    assert ear.rows == [1, 2, 4, 8, 16, 16, 13]
    assert lm.get_model_info()["dsb2_model"]["time"]["batch_size"] == 16


def test_growing_into_the_end_of_memory_costs_no_answer(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    requests = clips(shelf, 40)
    expected = load(resume=False, batch_size=4).generate_until(requests)
    lm = load(batch_size=1, prefetch=2)
    lm._sizes = lm._pipeline._sizes = BatchSize(1, most=64)
    monkeypatch.setattr("dsb2_tasks.models._pipeline.time.monotonic", lambda: 0.0)
    ear = Listening(lm, monkeypatch, lambda call, rows: torch.OutOfMemoryError("CUDA out of memory.") if rows > 4 else None)
    assert lm.generate_until(requests) == expected
    assert max(ear.rows) == 8 and lm._sizes.size == 4 and lm._sizes.halvings == 1


def test_memory_that_runs_out_in_the_thread_that_makes_inputs_is_met_too(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    requests = clips(shelf, 8)
    expected = load(resume=False).generate_until(requests)
    lm = load(batch_size=8)
    inputs = lm._adapter.inputs

    def full(conversations: Any, **options: Any) -> Any:
        if len(conversations) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return inputs(conversations, **options)

    monkeypatch.setattr(lm._adapter, "inputs", full)
    assert lm.generate_until(requests) == expected and lm._sizes.size == 2


def test_a_fault_of_the_processor_is_told_as_one_of_the_model(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    lm = load(batch_size=2)
    lm._heard = True

    def broken(conversations: Any, **options: Any) -> Any:
        raise KeyError("input_features")

    monkeypatch.setattr(lm._adapter, "inputs", broken)
    with pytest.raises(
        RuntimeError,
        match=r"batch of 2 \(test/shelf-\d+ row 0, test/shelf-\d+ row 1: 0.5 s of audio\): KeyError: 'input_features'",
    ):
        lm.generate_until(clips(shelf, 3))


def test_bounds_hold_for_windows_of_long_clips(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    long = [request("What is said?", shelf.put(tone(300 + i, 9.0)), max_gen_toks=4) for i in range(2)]
    lm = load(batch_size=4, max_audio_seconds=2, long_audio="chunk", max_audio_seconds_per_batch=6, max_new_tokens_per_batch=9)
    ear = Listening(lm, monkeypatch)
    answers = lm.generate_until(long)
    assert max(ear.rows) == 2 and ear.asked >= 10
    assert lm.get_model_info()["dsb2_model"]["answers_from_windows"] == 2
    assert answers == load(resume=False, max_audio_seconds=2, long_audio="chunk").generate_until(long)


def test_a_cap_on_the_tokens_of_a_batch(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    short = clips(shelf, 8)
    long = [request("Say more.", one.args[2]["audio"][0], max_gen_toks=8) for one in short]
    lm = load(batch_size=8, max_new_tokens_per_batch=16)
    ear = Listening(lm, monkeypatch)
    lm.generate_until([*short, *long])
    assert ear.rows == [8, 2, 2, 2, 2]


def test_questions_with_and_without_clips_are_asked_apart(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    lm = load(batch_size=8)
    ear = Listening(lm, monkeypatch)
    lm.generate_until([*clips(shelf, 3), request("How many seconds are in a minute?", max_gen_toks=2)])
    assert sorted(ear.rows) == [1, 3]


def test_an_adapter_that_asks_alone(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Adapter, "alone", True)
    lm = load(batch_size=8)
    ear = Listening(lm, monkeypatch)
    lm.generate_until(clips(shelf, 3))
    assert ear.rows == [1, 1, 1]


def test_clips_that_a_family_hears_as_one_are_counted(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Adapter, "joins", True)
    one, two = shelf.put(tone(300, 1)), shelf.put(tone(400, 1))
    lm = load()
    lm.generate_until([request("Same speaker?", one, two), request("What is said?", one)])
    assert lm.get_model_info()["dsb2_model"]["audio_events"] == {"joined": 1}
