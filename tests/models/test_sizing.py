"""batch_size=auto: sizes are tried out on the batches of the run."""

from __future__ import annotations

import pytest

from dsb2_tasks.models._sizing import BatchSize


def sizes(seconds: dict[int, float], *, start: int = 1, most: int = 64, fits: int = 1000) -> list[int]:
    """Sizes of ten batches, where a batch of n takes ``seconds[n]`` and up to ``fits`` requests fit into memory."""
    size = BatchSize(start, most=most, fits=lambda: 2 * size.size <= fits)
    seen = []
    for _ in range(10):
        seen.append(size.size)
        size.took(size.size, seconds[size.size], "group")
    return seen


FREE = dict.fromkeys((1, 2, 4, 6, 8, 16, 32, 64), 1.0)  # any batch takes as long as one request


@pytest.mark.parametrize(
    ("seconds", "options", "expected"),
    [
        (FREE, {}, [1, 2, 4, 8, 16, 32, 64, 64, 64, 64]),
        (FREE, {"most": 8, "start": 4}, [4, 8, 8, 8, 8, 8, 8, 8, 8, 8]),
        (FREE, {"most": 6, "start": 4}, [4, 6, 6, 6, 6, 6, 6, 6, 6, 6]),
        (FREE, {"fits": 8}, [1, 2, 4, 8, 8, 8, 8, 8, 8, 8]),
        ({1: 1, 2: 1, 4: 2, 8: 9}, {}, [1, 2, 4, 4, 4, 4, 4, 4, 4, 4]),
        ({1: 1, 2: 1, 4: 4, 8: 9}, {}, [1, 2, 4, 2, 2, 2, 2, 2, 2, 2]),
    ],
    ids=["free", "bound", "bound between", "memory", "no gain", "dearer"],
)
def test_it_doubles_while_that_pays(seconds: dict[int, float], options: dict[str, int], expected: list[int]) -> None:
    assert sizes(seconds, **options) == expected


def test_only_full_batches_of_one_kind_are_compared() -> None:
    size = BatchSize(4, most=64)
    size.took(3, 0.1, "short answers")
    assert size.size == 4, "the batch was cut before, or is the last of its kind"
    size.took(4, 4.0, "short answers")
    size.took(8, 80.0, "long answers")
    assert size.size == 16, "long answers take longer whatever the batch"
    size.took(16, 400.0, "long answers")
    assert size.size == 8


def test_memory_that_runs_out_ends_the_growing(caplog: pytest.LogCaptureFixture) -> None:
    size = BatchSize(4, most=64)
    size.took(4, 1.0, "")
    size.ran_out(8)
    assert (size.size, size.halvings) == (4, 1) and "with 8 requests at once; going on with 4" in caplog.text
    size.took(4, 0.1, "")
    assert size.size == 4
    size.ran_out(1)
    assert size.size == 1


def test_a_slow_batch_at_the_bound_changes_nothing() -> None:
    size = BatchSize(4, most=8)
    for requests, seconds in ((4, 4.0), (8, 4.0), (8, 80.0)):
        size.took(requests, seconds, "")
    assert size.size == 8


def test_a_size_as_told_stays() -> None:
    size = BatchSize(8)
    size.took(8, 0.01, "")
    assert size.size == 8
