"""The model fails or runs out of memory in the middle of a run: no answer is lost, none is asked for twice or made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from _fault_runs import Place, evaluate

from dsb2_tasks.models._generator import out_of_memory
from dsb2_tasks.models._pipeline import ModelStopped
from dsb2_tasks.models.hf_audio import HFAudio
from dsb2_tasks.samples.tiny_model import make_tiny_model

TOTAL = 12
CUDA = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3.21 GiB. GPU 0 has a total capacity of 79 GiB.\nOf the ...")
CPU = RuntimeError(
    "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
)
ASSERT = "CUDA error: device-side assert triggered\nCUDA kernel errors might be reported asynchronously\n" + 99 * "and so on\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


class Ear:
    """Notes how many requests reach ``generate`` at once, and fails where it is told to."""

    def __init__(self, lm: HFAudio, fail: Callable[[int, int], Exception | None] = lambda call, rows: None) -> None:
        self.rows: list[int] = []
        self._generate, self._fail = lm._model.generate, fail
        lm._model.generate = self

    def __call__(self, **inputs: Any) -> Any:
        rows = len(inputs["input_ids"])
        self.rows.append(rows)
        if (error := self._fail(len(self.rows), rows)) is not None:
            raise error
        return self._generate(**inputs)


@pytest.fixture
def load(tiny: Path, place: Place) -> Callable[..., HFAudio]:
    def make(**arguments: Any) -> HFAudio:
        lm = HFAudio(str(tiny), device="cpu", responses=str(place.responses), max_new_tokens=4, **arguments)
        lm._heard = True  # found out by two more calls of the model, which are not counted here
        return lm

    return make


@pytest.fixture(scope="module")
def undisturbed(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Where a run with batches of two lies that nothing befell."""
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    evaluate(place, HFAudio(str(tiny), device="cpu", responses=str(place.responses), max_new_tokens=4, batch_size=2))
    assert len(place.stored()) == TOTAL
    return place


def assert_ends_as(place: Place, undisturbed: Place) -> None:
    assert place.stored() == undisturbed.stored()
    assert place.results() == undisturbed.results() and place.samples() == undisturbed.samples()


@pytest.mark.parametrize("error", [ValueError("the card fell off the bus"), RuntimeError(ASSERT)], ids=["any", "assert"])
def test_a_model_that_fails_on_the_third_batch(error: Exception, load: Any, place: Place, undisturbed: Place) -> None:
    lm = load(batch_size=2)
    Ear(lm, lambda call, rows: error if call == 3 else None)
    with pytest.raises(ModelStopped) as told:
        evaluate(place, lm)
    said = str(told.value)
    assert said.startswith("the model failed on a batch of 2 (DynamicSuperb/") and " s of audio): " in said
    assert f"{type(error).__name__}: {str(error).splitlines()[0]}" in said
    assert said.endswith("; the answers so far are in the response store: the same command goes on from there")
    assert len(said) < 1000 and "\n" not in said
    kept = place.stored()
    assert len(kept) == 4 and kept.items() <= undisturbed.stored().items()
    assert not list(place.out.rglob("*.json*")), "nothing is scored, so no failure counts as an answer"

    again = load(batch_size=2)
    ear = Ear(again)
    evaluate(place, again)
    assert ear.rows == [2, 2, 2, 2], "from the third batch on"
    assert_ends_as(place, undisturbed)


def test_a_model_that_fails_on_the_first_batch_promises_nothing(load: Any, place: Place) -> None:
    lm = load(batch_size=2)
    Ear(lm, lambda call, rows: ValueError("no"))
    with pytest.raises(ModelStopped, match=r"ValueError: no$"):
        evaluate(place, lm)
    assert not place.stored()


@pytest.mark.parametrize(("most", "error"), [(2, CUDA), (1, CPU)], ids=["cuda", "cpu"])
def test_batches_that_do_not_fit_into_memory(most: int, error: Exception, load: Any, place: Place, undisturbed: Place) -> None:
    lm = load(batch_size=8)
    ear = Ear(lm, lambda call, rows: error if rows > most else None)
    evaluate(place, lm)
    halvings = [8, 4] if most == 2 else [8, 4, 2]
    assert ear.rows == [*halvings, *[most] * (TOTAL // most)], "halved, and every request answered once"
    time = lm.get_model_info()["dsb2_model"]["time"]
    assert time["out_of_memory_halvings"] == len(halvings) and time["batch_size"] == most and time["answers_asked"] == TOTAL
    assert_ends_as(place, undisturbed)


def test_one_request_that_does_not_fit_into_memory(load: Any, place: Place, undisturbed: Place) -> None:
    lm = load(batch_size=4)
    Ear(lm, lambda call, rows: CUDA if call > 1 else None)
    with pytest.raises(ModelStopped) as told:
        evaluate(place, lm)
    said = str(told.value)
    assert said.startswith("one request alone does not fit into memory (DynamicSuperb/") and " row " in said
    assert " s of audio, at most 4 new tokens; OutOfMemoryError: CUDA out of memory. Tried to allocate 3.21 GiB." in said
    assert "lower max_audio_seconds or max_new_tokens, or take a smaller dtype or device_map=auto" in said
    assert said.endswith("the same command goes on from there") and "\n" not in said
    kept = place.stored()
    assert len(kept) == 4 and kept.items() <= undisturbed.stored().items()

    again = load(batch_size=4)
    ear = Ear(again)
    evaluate(place, again)
    assert sum(ear.rows) == TOTAL - len(kept)
    assert_ends_as(place, undisturbed)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (CUDA, True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("HIP out of memory. Tried to allocate 1 GiB"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), True),
        (CPU, True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."), True),
        (MemoryError("Unable to allocate 3.2 GiB for an array with shape (8, 128, 3000)"), True),
        (RuntimeError(ASSERT), False),
        (RuntimeError("The size of tensor a (3) must match the size of tensor b (4)"), False),
        (ValueError("out of memory"), False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_words_for_no_memory(error: Exception, expected: bool) -> None:
    assert out_of_memory(error) is expected
