"""Clocks that go back or run ahead: a run goes on, and which of several results is read is the last, or said."""

from __future__ import annotations

import datetime
import os
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from _fault_runs import Child, MadeUp, Place, evaluate, go_on, run

from dsb2_tasks.results import read_run

DAY = 86_400


def shifted(seconds: float) -> mock._patch_dict:
    """This process' clock, wrong by so much; the steady one, which counts how long things take, is left."""
    then = time.time() + seconds
    at = datetime.datetime.fromtimestamp(then)
    clock = SimpleNamespace(now=lambda *_: at, fromtimestamp=datetime.datetime.fromtimestamp)
    return mock.patch.multiple("lm_eval.loggers.evaluation_tracker", datetime=clock)


def run_at(place: Place, seconds: float, **model: object) -> Child:
    """A run, or one that goes on, on a machine whose clock is wrong."""

    def child() -> None:
        with shifted(seconds), mock.patch("time.time", lambda now=time.time: now() + seconds):
            evaluate(place, MadeUp(place, **model))  # type: ignore[arg-type]
        for file in place.out.rglob("*"):
            if file.stat().st_mtime > started:
                os.utime(file, (file.stat().st_mtime + seconds,) * 2)

    started = time.time() - 0.1
    place.root.mkdir(exist_ok=True)
    return Child(child, place.root / "said.txt")


def test_the_clock_is_set_back_while_a_run_is_stopped(whole: Place, place: Place) -> None:
    first = run(place, pause=0.02, batch=1)
    deadline = time.monotonic() + 120
    while len(place.all_asked()) < 4 and time.monotonic() < deadline:
        time.sleep(0.002)
    first.kill()
    first.wait()
    kept, asked = place.stored(), place.all_asked()
    for file in place.responses.rglob("*"):  # written tomorrow
        os.utime(file, (time.time() + DAY,) * 2)
    second = run_at(place, -DAY)
    assert second.wait() == 0, second.said()
    assert set(place.all_asked()[len(asked) :]) == whole.stored().keys() - kept.keys()
    assert place.results() == whole.results() and place.samples() == whole.samples()
    go_on(place, whole)


def test_results_of_a_clock_that_was_set_back_in_between(whole: Place, place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """The first run finished under a clock an hour ahead, which was then put right: the second one is the last."""
    assert run_at(place, 3600).wait() == 0
    (ahead,) = place.out.rglob("results_*.json")
    assert read_run(place.out).path == ahead and not caplog.text, "a single one leaves no doubt"
    assert run(place).wait() == 0
    read = read_run(place.out).path
    assert f"{read} is read, the newest of 2: it is dated in the future; if another is meant, name it" in caplog.text
    caplog.clear()
    for file in place.out.rglob("*"):
        file.touch()  # the hour is over
    read_run(place.out)


FIRST, LAST = "results_2026-01-01T10-00-00.000001.json", "results_2026-01-01T11-00-00.000001.json"


@pytest.mark.parametrize(
    ("files", "read", "said"),
    [
        pytest.param({FIRST: -300, LAST: -200}, LAST, None, id="dates and times agree"),
        pytest.param({FIRST: -200, LAST: -200}, LAST, None, id="copied at once: the date in the name decides"),
        pytest.param({FIRST: -200, LAST: -300}, FIRST, f"the last written, though {{}}{LAST} has a later date", id="they do not"),
        pytest.param({FIRST: -300, LAST: 30}, LAST, None, id="clocks of two machines"),
        pytest.param({FIRST: 3600, LAST: -300}, FIRST, "dated in the future", id="in the future"),
        pytest.param({FIRST: -300, "results_mine.json": -200}, "results_mine.json", None, id="a name without a date"),
        pytest.param({FIRST: -200, "results_mine.json": -300}, FIRST, None, id="an older one without a date"),
        pytest.param({f"a/{LAST}": -300, f"b/{FIRST}": -200}, f"b/{FIRST}", "has a later date", id="of two models"),
        pytest.param(
            {f"a/{FIRST}": -300, f"b/{LAST}": -200}, f"b/{LAST}", "the newest of 2 in several", id="of two models in order"
        ),
    ],
)
def test_which_of_several_is_read(
    whole: Place, tmp_path: Path, files: dict[str, int], read: str, said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    (results,) = whole.out.rglob("results_*.json")
    for name, ago in files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(results.read_bytes())
        os.utime(file, (int(time.time()) + ago,) * 2)
    assert read_run(tmp_path).path == tmp_path / read
    if said is None:
        assert not caplog.text
    else:
        assert f"{tmp_path / read} is read, " in caplog.text and said.format(f"{tmp_path}/") in caplog.text
        assert "name it" in caplog.text
    caplog.clear()
    for name in files:
        assert read_run(tmp_path / name).path == tmp_path / name and not caplog.text
