"""No room on the disk: nothing that was answered is lost, the message says where and what to do, and a run goes on by itself."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from _fault_runs import TASKS, Child, MadeUp, Place, evaluate, go_on, saying
from lm_eval.loggers import EvaluationTracker

from dsb2_tasks import plugin
from dsb2_tasks.cli import main
from dsb2_tasks.models import Answer, ResponseStore, StoreError, _responses
from dsb2_tasks.results import ResultsError, read_run

#: An answer so long that its store is far bigger than all that a process writes besides.
LONG = Answer("x" * 2**20)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process can become longer: writing stops in the middle of a line, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def nearly_full(place: Place) -> int:
    """A store with an answer to something else in it, and the size at which it has room for a few more."""
    lm = MadeUp(place)
    assert lm._store is not None
    lm._store.add([("0" * 64, LONG)])
    lm._store.close()
    (file,) = place.responses.rglob("*.jsonl")
    return file.stat().st_size + 1700


def clean(place: Place) -> None:
    """Takes the answer to something else away again."""
    (file,) = place.responses.rglob("*.jsonl")
    file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True) if LONG.text.encode() not in line))


def impatient(sleep: Callable[[float], object] = time.sleep) -> Any:
    """The store's clock, on which five minutes are over soon."""
    quick = SimpleNamespace(monotonic=lambda: time.monotonic() * 3000, sleep=lambda _: sleep(0.02))
    return mock.patch.object(_responses, "time", quick)


def test_a_store_that_stays_full_stops_the_run_and_keeps_what_it_has(whole: Place, place: Place) -> None:
    size = nearly_full(place)

    def child() -> None:
        with impatient(), largest_file(size):
            evaluate(place, MadeUp(place))

    failed = Child(child, place.root / "said.txt")
    assert failed.wait() == 70
    clean(place)
    kept, asked = place.stored(), place.all_asked()
    assert 2 <= len(kept) < len(whole.stored()) and kept.items() <= whole.stored().items()
    assert 1 <= len(set(asked) - set(kept)) <= 2, "no more than the batch in hand was asked for in vain"
    (file,) = place.responses.rglob("*.jsonl")
    last = failed.said().splitlines()[-1]
    assert f"StoreError: {file}: File too large; 2 answers could not be kept for 5 minutes, so no more are asked for." in last
    assert last.endswith("start the same command again: all answers before these are kept and not asked for again")
    assert f"{file}: File too large; 2 answers wait to be kept: make room there, or the run stops" in failed.said()
    assert not list(place.out.rglob("results_*.json"))
    go_on(place, whole)


def test_a_run_goes_on_by_itself_when_there_is_room_again(whole: Place, place: Place) -> None:
    size = nearly_full(place)
    waits = place.root / "waits"

    def child() -> None:
        def make_room(_: float) -> None:
            with waits.open("a") as noted:
                noted.write("x")
            if waits.stat().st_size == 3:
                resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1:] * 2)

        with impatient(make_room), largest_file(size):
            evaluate(place, MadeUp(place))

    assert Child(child, place.root / "said.txt").wait() == 0, (place.root / "said.txt").read_text()
    assert waits.read_text() == "xxx"
    clean(place)
    assert sorted(place.all_asked()) == sorted(whole.stored()), "nothing was asked for twice"
    assert place.results() == whole.results() and place.samples() == whole.samples()
    assert place.stored() == whole.stored()


@pytest.mark.parametrize("written", [0, 100, 500], ids=["nothing", "part of a record", "a record and a half"])
def test_what_was_written_of_a_batch(
    place: Place, written: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write, left = _responses._write, [OSError(28, "No space left on device"), OSError(5, "Input/output error")]

    def full(file: Any, content: bytes) -> None:
        if left and b'"key"' in content:
            write(file, content[:written])
            raise left.pop()
        write(file, content)

    monkeypatch.setattr(_responses, "_write", full)
    keys = [f"{i:064x}" for i in range(4)]
    answers = [(key, Answer(saying(key) + "y" * 300)) for key in keys]
    with impatient():
        store = ResponseStore(place.responses, {"name": "m"})
        store.add(answers[:2])
        store.add(answers[2:])
    told = {record.getMessage() for record in caplog.records if record.levelname == "ERROR"}
    assert {line.split(": ", 1)[1] for line in told} == {
        f"{reason}; 2 answers wait to be kept: make room there, or the run stops"
        for reason in ("Input/output error", "No space left on device")
    }
    again = ResponseStore(place.responses, {"name": "m"})
    assert [again.get(key) for key in keys] == [answer for _, answer in answers]
    (file,) = place.responses.rglob("*.jsonl")
    assert all(line.startswith(b"{") and line.endswith(b"}") for line in file.read_bytes().splitlines())


def test_a_folder_that_cannot_be_made_while_the_run_goes_on(place: Place) -> None:
    store = ResponseStore(place.responses, {"name": "m"})
    place.responses.write_text("in the way")
    with impatient(), pytest.raises(StoreError, match=r"responses.*: (Not a directory|File exists); 1 answers could not be kept"):
        store.add([("0" * 64, Answer("a"))])
    assert place.responses.read_text() == "in the way" and len(store) == 0


# ---------------------------------------------------------------- results


@contextmanager
def full_when_saving(*methods: str) -> Iterator[None]:
    """lm-eval finds no room for more than the beginning of its files."""

    def limited(method: Callable[..., None]) -> Callable[..., None]:
        def save(*arguments: Any, **named: Any) -> None:
            with largest_file(512):
                method(*arguments, **named)

        return save

    with ExitStack() as patched:
        for name in methods:
            patched.enter_context(mock.patch.object(EvaluationTracker, name, limited(getattr(EvaluationTracker, name))))
        yield


BOTH = ("save_results_aggregated", "save_results_samples")


def test_results_that_lm_eval_cannot_write_cost_nothing_to_make_again(whole: Place, place: Place) -> None:
    def child() -> None:
        with full_when_saving(*BOTH):
            evaluate(place, MadeUp(place))

    assert Child(child, place.root / "said.txt").wait() == 0  # lm-eval takes no notice
    assert place.stored() == whole.stored()
    (half,) = place.out.rglob("results_*.json")
    with pytest.raises(ResultsError, match=r"results_.*\.json: no valid JSON"):
        read_run(place.out)
    asked = place.all_asked()
    go_on(place, whole)
    assert place.all_asked() == asked, "all answers came out of the store"
    assert read_run(place.out).path != half


def dsb2_run(place: Place, *more: str, saving: tuple[str, ...] = ()) -> Child:
    """``dsb2 run`` in a child, with the made-up model under a name."""

    def child() -> None:
        from lm_eval.api.registry import model_registry  # holds a lock, so it cannot be handed over

        model_registry.register("made-up", target="_fault_runs:Named")
        options = ["--tasks", ",".join(TASKS), "--model", "made-up", "--data", "samples", "--output_path", str(place.out)]
        named = mock.patch.dict(plugin.MODELS, {"made-up": "_fault_runs:Named"})
        with named, full_when_saving(*saving), mock.patch("lm_eval.evaluator.add_env_info"):
            main(["run", *options, "--log_samples", "--model_args", ",".join([f"place={place.root}", *more])])

    return Child(child, place.root / "said.txt")


@pytest.mark.parametrize(
    ("saving", "told", "responses"),
    [
        pytest.param(BOTH, f"{1 + len(TASKS)} files; first: Could not save results aggregated", True, id="all"),
        pytest.param(BOTH[1:], f"{len(TASKS)} files; first: Could not save sample results", False, id="samples, no store"),
    ],
)
def test_dsb2_run_ends_with_an_error_where_results_are_not_all_there(
    whole: Place, place: Place, saving: tuple[str, ...], told: str, responses: bool
) -> None:
    child = dsb2_run(place, f"responses={place.responses}" if responses else "resume=false", saving=saving)
    assert child.wait() == 1, child.said()
    last = child.said().splitlines()[-1]
    assert f"--output_path {place.out}: the results are not all there ({told} OSError(27, 'File too large'))" in last
    kept = f"; answers are kept in {place.responses} and not asked for again" if responses else ""
    assert last.endswith(f"Make room or name another folder, and start the same command again{kept}")
    assert "|dsb2_superb_asr_librispeech" in child.said(), "the numbers were printed before"
    if responses:
        asked = place.all_asked()
        again = dsb2_run(place, f"responses={place.responses}")
        assert again.wait() == 0, again.said()
        assert place.all_asked() == asked, "all answers came out of the store"
        assert place.samples() == whole.samples()
        assert {task: result.values for task, result in read_run(place.out).tasks.items()} == {
            task: result.values for task, result in read_run(whole.out).tasks.items()
        }
