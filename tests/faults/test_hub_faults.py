"""The hub answers late, half, wrongly or not at all: nothing but whole files is read, and every message says what to do."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from _fake_hub import FakeHub, Fault, refusal
from _fault_runs import MadeUp, Place
from click.testing import CliRunner

from dsb2_tasks import compat, samples, sources
from dsb2_tasks.cli import main
from dsb2_tasks.sources import DataError, open_rows
from dsb2_tasks.sources._prefetch import _ask, _drop_wrong, _folder, _record, fetched_folder
from dsb2_tasks.spec import DataSource

PARQUET = (samples.root() / "DynamicSuperb" / "SuperbSD_Libri2Mix-Test" / "test.parquet").read_bytes()
REPO, OTHER, DATA = "Org/Name", "Org/Other", "data/test-00000-of-00001.parquet"
HTML = Fault(headers={"Content-Type": "text/html"}, body=b"<html>Please log in to the network of this house</html>")
TASK = """task: {name}
class: !function dsb2_tasks.task.DSB2Task
metadata: {{version: 1}}
dsb2: {{kind: turns, metric: der, modality: speech, domain: mine, data: [{{path: {path}, revision: {revision}}}]}}
"""


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits, noted in place of waiting."""
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    return waits


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slept: list[float]) -> Iterator[FakeHub]:
    """A hub that this process takes for the real one, with empty caches, and two tasks of its data sets."""
    import datasets
    from huggingface_hub import constants, utils

    hub = FakeHub({repo: {"README.md": b"a card", DATA: PARQUET} for repo in (REPO, OTHER)})
    for name, value in {
        "ENDPOINT": hub.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": False,
    }.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "prepared")
    (tmp_path / "tasks").mkdir()
    for name, path in (("mine", REPO), ("another", OTHER)):
        (tmp_path / "tasks" / f"{name}.yaml").write_text(TASK.format(name=name, path=path, revision=hub.commit(path)))
    monkeypatch.setenv("DSB2_TASKS_PATH", str(tmp_path / "tasks"))
    utils.disable_progress_bars()
    yield hub
    hub.close()


def source(hub: FakeHub) -> DataSource:
    return DataSource(path=REPO, revision=hub.commit(REPO))


def prefetch(hub: FakeHub) -> str | None:
    """``dsb2 prefetch``; the message of its error."""
    result = CliRunner().invoke(main, ["prefetch", "mine", "--yes"])
    assert result.exit_code == (1 if "Error: " in result.stderr else 0), result.output
    return result.stderr if result.exit_code else None


def run(hub: FakeHub) -> str | None:
    """What a run does with data that are not here; the message of its error."""
    try:
        rows = open_rows(source(hub), "hub", Path(), "mine")
    except DataError as error:
        return str(error)
    assert whole(rows)
    return None


def ways(cases: Iterable[str], run_too: Iterable[str]) -> pytest.MarkDecorator:
    """All cases for ``dsb2 prefetch``, and some for a run: both fetch in one way, and differ in what they say."""
    pairs = [*((prefetch, case) for case in cases), *((run, case) for case in run_too)]
    return pytest.mark.parametrize(("way", "case"), pairs, ids=[f"{way.__name__}-{case}" for way, case in pairs])


def whole(rows: sources.Rows) -> bool:
    """Whether texts and clips are those of the file on the hub."""
    table = pq.read_table(io.BytesIO(PARQUET))
    (audio,) = rows.audio_columns
    clips = [rows.audio.read(i, audio).data for i in range(len(rows))]
    return clips == [cell["bytes"] for cell in table[audio].to_pylist()] and all(
        rows.columns[name] == table[name].to_pylist() for name in rows.columns
    )


def files() -> list[Path]:
    """What lies in the cache as the file of the data set."""
    return list(_folder(REPO).glob(f"snapshots/*/{DATA}"))


def opened_offline(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> sources.Rows:
    """The data set as a run without a connection opens it."""
    import datasets
    from huggingface_hub import constants

    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        patch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        return open_rows(source(hub), "hub", Path(), "mine")


def times(number: int, part: str, fault: Fault) -> Callable[[str], Fault | None]:
    """A fault of the first requests that hold ``part``."""
    left = iter([fault] * number)
    return lambda asked: next(left, None) if part in asked else None


PASSING = {
    "429": (1, "/api/datasets", Fault(429), 1),
    "429 and when": (2, "/api/datasets", Fault(429, {"Retry-After": "77"}), 77),
    "429 and the window": (1, "/api/datasets", Fault(429, {"RateLimit": '"api";r=0;t=55', "Retry-After": "3"}), 55),
    "429 and a year": (1, "/api/datasets", Fault(429, {"Retry-After": "31536000"}), 300),
    "429 of a file": (1, f"GET /datasets/{REPO}", Fault(429, {"Retry-After": "9"}), 9),
    "500": (2, "/api/datasets", Fault(500), 3),
    "500 of a file": (1, DATA, Fault(500), 0),
    "a page for the list": (1, "/api/datasets", HTML, 1),
    "a page for the file": (2, DATA, HTML, 2),
    "a page after the head": (1, f"GET /datasets/{REPO}/resolve", HTML, 1),
    "half a file": (1, f"GET /datasets/{REPO}/resolve", Fault(body=None, cut=True), 1),
    "a shorter file": (2, DATA, Fault(body=PARQUET[:5000]), 2),
    "a longer file": (2, DATA, Fault(body=PARQUET + b"x"), 2),
}


@ways(PASSING, ["429 and when", "a page for the file", "half a file"])
def test_what_passes_is_tried_again_after_a_while(way: Any, case: str, hub: FakeHub, slept: list[float]) -> None:
    number, part, fault, wait = PASSING[case]
    hub.fault = times(number, part, fault)
    assert way(hub) is None
    assert max(slept, default=0) == pytest.approx(wait, abs=1), "as the hub asks, within bounds"
    assert [file.read_bytes() for file in files()] == [PARQUET] and fetched_folder(source(hub))
    hub.asked.clear()
    assert way(hub) is None
    assert not [line for line in hub.asked if "/resolve/" in line], "nothing is fetched twice"


LASTING = {
    "429": ("/api/datasets", Fault(429), "429"),
    "500": ("/api/datasets", Fault(500), "500"),
    "500 of a file": (DATA, Fault(500), "500"),
    "a page for the list": ("/api/datasets", HTML, "sends no JSON (a proxy, or a page to log in at?)"),
    "a page for the file": (DATA, HTML, f"1 of 2 files are not of the size that the hub states, first: {DATA}"),
    "a shorter file": (DATA, Fault(body=PARQUET[:5000]), f"1 of 2 files are not of the size that the hub states, first: {DATA}"),
}


@ways(LASTING, ["429", "a page for the file"])
def test_what_lasts_is_told_and_the_next_run_goes_on(way: Any, case: str, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    part, fault, cause = LASTING[case]
    hub.fault = lambda asked: fault if part in asked else None
    told = way(hub)
    assert told is not None
    assert cause in told and REPO in told and hub.commit(REPO)[:8] in told and "mine" in told
    assert ("the same command again" if way is prefetch else "'dsb2 prefetch mine'") in told
    with pytest.raises(DataError, match="'dsb2 prefetch mine'"):
        opened_offline(hub, monkeypatch)
    assert not files(), "none of another length stays"

    hub.fault = lambda _: None
    hub.asked.clear()
    assert way(hub) is None and fetched_folder(source(hub))
    if part == DATA and fault.status == 200:
        assert not [line for line in hub.asked if "README" in line], "what came is not fetched again"


@ways(["short", "no file"], ["short", "empty", "page", "incomplete"])
def test_half_a_file_that_lies_in_the_cache_is_never_read(
    way: Any, case: str, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert way(hub) is None
    (link,) = files()
    blob = link.resolve()
    if case in ("incomplete", "no file"):
        blob.rename(blob.with_name(f"{blob.name}.incomplete")) if case == "incomplete" else blob.unlink()
    else:
        blob.write_bytes({"short": PARQUET[:5000], "empty": b"", "page": HTML.body or b""}[case])
    # What datasets has prepared of the whole file would do for a run; here it is another machine's.
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", blob.parents[3] / "prepared elsewhere")
    with pytest.raises(DataError, match="'dsb2 prefetch mine'"):
        opened_offline(hub, monkeypatch)
    assert way(hub) is None and whole(opened_offline(hub, monkeypatch))


def test_what_another_rank_fetches_meanwhile_stays(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(hub) is None
    remote = _ask(REPO, hub.commit(REPO))
    with monkeypatch.context() as patch:
        patch.setattr("dsb2_tasks.sources._prefetch._length", lambda _: None)  # as looked at a moment before
        assert _drop_wrong(remote) == list(remote.files)
    assert not remote.missing


def test_a_cache_for_reading_alone_is_read(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(hub) is None
    record = _record(REPO, hub.commit(REPO))
    record.unlink()
    record.parent.rmdir()  # as the hub's own client leaves it
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    assert run(hub) is None
    assert not record.parent.exists()


def test_what_datasets_keeps_is_read_where_nobody_answers(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import datasets

    hub.close()
    kept = datasets.Dataset(pq.read_table(io.BytesIO(PARQUET)))
    monkeypatch.setattr(datasets, "load_dataset", lambda path, *_, **__: {REPO: kept}[path])
    assert len(open_rows(DataSource(path=REPO), "hub", Path(), "mine")) == len(kept)
    assert f"{REPO}: the hub cannot be reached" in caplog.text


def test_a_run_fetches_one_config_and_not_the_repository(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    called: list[Any] = []

    def load(*names: Any, **options: Any) -> datasets.Dataset:
        called.append((names, options))
        return datasets.Dataset.from_dict({"label": ["x"]})

    monkeypatch.setattr(datasets, "load_dataset", load)
    one = source(hub).model_copy(update={"config": "en"})
    open_rows(one, "hub", Path(), "mine")
    assert called == [((REPO, "en"), {"split": "test", "revision": hub.commit(REPO)})] and not hub.asked
    assert prefetch(hub) is None
    open_rows(one, "hub", Path(), "mine")
    assert called[-1] == ((str(fetched_folder(one)), "en"), {"split": "test"})


GONE = {
    "revision": (refusal(404, "RevisionNotFound"), "RevisionNotFoundError", "no longer has this revision"),
    "repository": (refusal(404, "RepoNotFound"), "RepositoryNotFoundError", "It is gone, renamed or private"),
    "gated": (refusal(403, "GatedRepo", "Access to dataset is restricted"), "GatedRepoError", "Accept its terms at"),
    "no token": (refusal(401, "GatedRepo", "Please log in"), "GatedRepoError", "'hf auth login', or a token in HF_TOKEN"),
    "wrong token": (refusal(401, "", "Invalid credentials in Authorization header"), "HfHubHTTPError", "log in: 'hf auth login'"),
    "files gated": (refusal(403, "GatedRepo", "Access to dataset is restricted"), "GatedRepoError", "Accept its terms at"),
    "files forbidden": (refusal(403, "", "Forbidden"), "HfHubHTTPError", "Accept its terms at"),
}


@ways(["revision", "files forbidden"], GONE)
def test_what_cannot_be_had_is_told_at_once(way: Any, case: str, hub: FakeHub, slept: list[float]) -> None:
    fault, cause, advice = GONE[case]
    part = "/resolve/" if "files" in case else REPO
    hub.fault = lambda asked: fault if REPO in asked and part in asked else None
    told = way(hub)
    assert told is not None
    assert cause in told and advice in told and REPO in told and hub.commit(REPO)[:8] in told and "mine" in told
    if "terms" in advice:
        assert f"{hub.url}/datasets/{REPO}" in told
    assert not slept, "no waiting changes that"


def evaluate(place: Place, *tasks: str) -> dict[str, Any]:
    """A run on the hub's data."""
    from lm_eval import simple_evaluate

    manager = compat.task_manager([place.root / "tasks"], {"data": "hub"})
    return simple_evaluate(MadeUp(place), tasks=list(tasks), task_manager=manager, bootstrap_iters=0, verbosity="ERROR")


def test_answers_to_other_tasks_stay_when_a_data_set_goes(hub: FakeHub, place: Place) -> None:
    first = evaluate(place, "another")
    kept = place.stored()
    assert len(kept) == 4
    hub.fault = lambda asked: GONE["gated"][0] if REPO in asked else None
    with pytest.raises(DataError, match=f"mine: data set '{REPO}'"):
        evaluate(place, "another", "mine")
    assert place.stored() == kept and len(place.asked()) == 1, "the model is asked nothing before all data are there"

    again = evaluate(place, "another")
    assert again["results"] == first["results"] and len(place.asked()) == 1, "nothing is asked again"
    hub.fault = lambda _: None
    both = evaluate(place, "another", "mine")
    assert both["results"]["another"] == first["results"]["another"]
    # The clips are the same in both data sets here, and so are the questions.
    assert place.stored() == kept
