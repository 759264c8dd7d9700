"""``dsb2 prefetch`` against a hub on this machine: what is fetched, what stays, and that a later run needs no connection."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _fake_hub import FakeHub, Fault
from click.testing import CliRunner

from dsb2_tasks import samples, sources
from dsb2_tasks.cli import main
from dsb2_tasks.sources import DataError, Remote, _prefetch
from dsb2_tasks.spec import DataSource

PARQUET = (samples.root() / "DynamicSuperb" / "SuperbSD_Libri2Mix-Test" / "test.parquet").read_bytes()
TURNS = "dsb2_superb_sd_libri2mix"
TASK = """task: {name}
class: !function dsb2_tasks.task.DSB2Task
metadata: {{version: 1}}
tag: [fetch_me]
dsb2: {{kind: turns, metric: der, modality: speech, domain: mine, data: [{{path: {path}{revision}}}]}}
"""


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    files = {"README.md": b"a card", "data/test-00000-of-00001.parquet": PARQUET}
    hub = FakeHub({"Org/Pinned": dict(files), "Org/Main": dict(files)})
    yield hub
    hub.close()


@pytest.fixture
def dsb2(hub: FakeHub, tmp_path: Path) -> Any:
    """``dsb2(*arguments, **environment)`` in a process of its own, whose hub is the fake one and whose cache is empty."""
    (tmp_path / "pinned.yaml").write_text(
        TASK.format(name="pinned", path="Org/Pinned", revision=f", revision: {hub.commit('Org/Pinned')}")
    )
    (tmp_path / "unpinned.yaml").write_text(TASK.format(name="unpinned", path="Org/Main", revision=""))
    (tmp_path / "gone.yaml").write_text(TASK.format(name="gone", path="Org/Gone", revision=""))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "DSB2_TASKS_PATH": str(tmp_path)}

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dsb2_tasks.cli", *arguments],
            env={**inherited, **settings, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return call


@pytest.mark.slow
def test_what_is_fetched_is_opened_without_a_connection(dsb2: Any, hub: FakeHub) -> None:
    assert "cannot be opened" in dsb2("show", "pinned", "--data", "hub", HF_HUB_OFFLINE="1").stderr
    busy = iter([Fault(503)])
    hub.fault = lambda asked: next(busy, None) if "/resolve/" in asked else None
    done = dsb2("prefetch", "fetch_me", "--yes", "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert {s["data_set"]: s["pinned"] for s in told["sets"]} == {"Org/Pinned": True, "Org/Main": False}
    assert all(s["missing"] == 0 and s["bytes"] == len(PARQUET) + 6 for s in told["sets"])
    assert list(told["failed"]) == ["Org/Gone"] and "RepositoryNotFoundError" in told["failed"]["Org/Gone"]
    assert "1 data set could not be had" in done.stderr and "  Org/Gone: " in done.stderr
    for task in ("pinned", "unpinned"):
        shown = dsb2("show", task, "--data", "hub", "--json", HF_HUB_OFFLINE="1")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["labels"]["documents"] == 4
    hub.asked.clear()
    assert dsb2("show", "pinned", "--data", "hub").returncode == 0
    assert not [line for line in hub.asked if "/datasets/" in line], "a pinned data set that is here is not asked for"


@pytest.mark.slow
def test_dry_run_and_nobody_to_ask(dsb2: Any, hub: FakeHub) -> None:
    done = dsb2("prefetch", "pinned", "--dry-run")
    assert done.returncode == 0 and "Org/Pinned" in done.stdout and hub.commit("Org/Pinned")[:8] in done.stdout
    assert done.stderr.splitlines()[-1] == f"1 data set, {(len(PARQUET) + 6) / 1000:.0f} kB to come"
    assert not [line for line in hub.asked if "/resolve/" in line]
    done = dsb2("prefetch", "pinned")
    assert done.returncode == 2 and "add --yes" in done.stderr
    assert "HF_HUB_OFFLINE is set" in dsb2("prefetch", "pinned", "--yes", HF_HUB_OFFLINE="1").stderr


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, reachable."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(_prefetch, "_ASK_WAITS", (0.0, 0.0))
    monkeypatch.setattr(_prefetch, "_FETCH_WAITS", (0.0, 0.0))
    return tmp_path / "hub"


COMMIT = "b" * 40
REMOTE = Remote("Org/Name", COMMIT, COMMIT, {"a.parquet": 3, "sub/b.parquet": 2})
SOURCE = DataSource(path="Org/Name", revision=COMMIT)


def put(cache: Path, **files: bytes) -> None:
    folder = cache / "datasets--Org--Name" / "snapshots" / COMMIT
    for name, data in files.items():
        file = folder / {"a": "a.parquet", "b": "sub/b.parquet"}[name]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def test_a_part_is_never_taken_for_the_whole(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    put(cache, a=b"abc")
    assert REMOTE.missing == 2 and _prefetch.fetched_folder(SOURCE) is None
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: put(cache, b=b"x"))
    with pytest.raises(DataError, match=r"1 of 2 files are not of the size that the hub states, first: sub/b.parquet"):
        sources.fetch(REMOTE)
    assert _prefetch.fetched_folder(SOURCE) is None
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: put(cache, b=b"xy"))
    sources.fetch(REMOTE)
    folder = _prefetch.fetched_folder(SOURCE)
    assert folder is not None and folder.name == COMMIT and REMOTE.missing == 0
    assert _prefetch.fetched_folder(DataSource(path="Org/Name", revision="c" * 40)) is None
    put(cache, a=b"")
    assert _prefetch.fetched_folder(SOURCE) is None


def test_one_without_a_revision_is_taken_from_disk_only_offline(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    put(cache, a=b"abc", b=b"xy")
    sources.fetch(Remote("Org/Name", None, COMMIT, REMOTE.files))
    assert _prefetch.fetched_folder(DataSource(path="Org/Name")) is None
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert _prefetch.fetched_folder(DataSource(path="Org/Name")) is not None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"commit": 1, "files": {}}', '{"commit": "x", "files": 3}'])
def test_a_damaged_record_is_named(text: str, cache: Path) -> None:
    put(cache, a=b"abc", b=b"xy")
    sources.fetch(REMOTE)
    (record,) = cache.glob("*/dsb2/*.json")
    record.write_text(text)
    with pytest.raises(DataError, match="is damaged; delete it"):
        _prefetch.fetched_folder(SOURCE)


class Refused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"{status} of the hub")
        self.response = type("Response", (), {"status_code": status})


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (ConnectionError("reset"), 3),
        (TimeoutError("late"), 3),
        (Refused(503), 3),
        (Refused(429), 3),
        (Refused(404), 1),
        (Refused(403), 1),
        (OSError(28, "No space left on device"), 1),
    ],
    ids=["reset", "late", "503", "429", "404", "403", "disk full"],
)
def test_what_may_pass_is_tried_again(error: Exception, attempts: int, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked = []

    def download(*_: Any, **__: Any) -> None:
        asked.append(1)
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(DataError, match=type(error).__name__):
        sources.fetch(REMOTE)
    assert len(asked) == attempts


def test_one_that_fails_does_not_stop_the_others(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    monkeypatch.setattr(
        sources, "plan", lambda wanted, _: ([Remote(one.path, one.revision, COMMIT, {"a": 1}) for one in wanted], {})
    )

    def fetch(remote: Remote) -> None:
        fetched.append(remote.path)
        if len(fetched) == 2:
            raise DataError("no way")

    monkeypatch.setattr(sources, "fetch", fetch)
    result = CliRunner().invoke(main, ["prefetch", "dsb2_vocal_sound_recognition", TURNS, "dsb2_superb_qbe_quesst14", "--yes"])
    assert result.exit_code == 1 and len(set(fetched)) == 3
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("  ")]
    assert line.startswith(f"  {fetched[1]} (") and line.endswith(f"): no way (data of {TURNS})")


def test_too_little_room_is_told_before_anything_is_fetched(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "plan", lambda *_: ([Remote("Org/Big", None, COMMIT, {"a": 2_000_000})], {}))
    monkeypatch.setattr(sources, "free_bytes", lambda: 1000)
    monkeypatch.setattr(sources, "fetch", lambda _: pytest.fail("fetched"))
    result = CliRunner().invoke(main, ["prefetch", "dsb2_spatial_audio", "--yes"])
    assert result.exit_code == 1 and "2 MB are to come, and the disk of the hub's cache has room for 1 kB" in result.stderr


@pytest.mark.parametrize(("typed", "code", "count"), [("y\n", 0, 1), ("n\n", 1, 0)], ids=["yes", "no"])
def test_it_asks_on_a_terminal(typed: str, code: int, count: int, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    fetched: list[Remote] = []
    monkeypatch.setattr(sources, "plan", lambda *_: ([REMOTE], {}))
    monkeypatch.setattr(sources, "fetch", fetched.append)
    result = CliRunner().invoke(main, ["prefetch", "dsb2_spatial_audio"], input=Terminal(typed.encode()))
    assert (result.exit_code, len(fetched)) == (code, count), result.output


def test_a_set_that_several_tasks_share_is_asked_for_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(_prefetch, "_ask", lambda path, revision: asked.append(path) or Remote(path, revision, COMMIT, {"a": 1}))
    found, failed = sources.plan([SOURCE, SOURCE, DataSource(path="./local"), DataSource(path="Org/Other")])
    assert sorted(asked) == ["Org/Name", "Org/Other"] and [remote.path for remote in found] == ["Org/Name", "Org/Other"]
    assert failed == {}


def test_unknown_names_are_told() -> None:
    result = CliRunner().invoke(main, ["prefetch", "dsb2_musik", "--dry-run"])
    assert result.exit_code == 2 and "unknown task or group 'dsb2_musik'; did you mean 'dsb2_music'?" in result.stderr
