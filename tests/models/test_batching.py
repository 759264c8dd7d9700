from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsb2_tasks.models._batching import make_batches

LENGTHS = st.lists(st.tuples(st.floats(0, 60), st.sampled_from("abc")), max_size=40)


@given(requests=LENGTHS, size=st.integers(1, 9), most=st.none() | st.floats(1, 200))
def test_every_request_once_and_every_bound_kept(requests: list, size: int, most: float | None) -> None:
    seconds, groups = [s for s, _ in requests], [g for _, g in requests]
    batches = make_batches(seconds, groups, size=size, max_seconds=most)
    assert sorted(i for batch in batches for i in batch) == list(range(len(requests)))
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len({groups[i] for i in batch}) == 1
        if most is not None and len(batch) > 1:
            assert max(seconds[i] for i in batch) * len(batch) <= most


@given(requests=LENGTHS, size=st.integers(1, 9))
def test_longest_first_within_a_group_and_equal_ones_in_order(requests: list, size: int) -> None:
    seconds, groups = [s for s, _ in requests], [g for _, g in requests]
    order = [i for batch in make_batches(seconds, groups, size=size) for i in batch]
    for group in set(groups):
        mine = [i for i in order if groups[i] == group]
        assert mine == sorted(mine, key=lambda i: (-seconds[i], i))


def test_batches_are_filled() -> None:
    assert make_batches([1.0] * 7, ["a"] * 7, size=3) == [[0, 1, 2], [3, 4, 5], [6]]
    assert make_batches([30.0, 1.0, 1.0, 1.0], ["a"] * 4, size=4, max_seconds=30) == [[0], [1, 2, 3]]
    assert make_batches([], [], size=3) == []


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        make_batches([1.0], ["a"], size=0)
