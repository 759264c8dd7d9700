"""Every way into the data, and every way it can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dsb2_tasks.audio import AudioError
from dsb2_tasks.sources import DataError, check_data, open_rows
from dsb2_tasks.spec import DataSource

ROWS = [{"file": f"f{i}", "instruction": "Say it.", "label": f"l{i}"} for i in range(3)]
HUB = DataSource(path="Org/Name", revision="a" * 40)


def test_mirror_of_parquet_files(tmp_path: Path, write_parquet: Callable[..., Path]) -> None:
    write_parquet(tmp_path / "Org" / "Name" / "data" / "test-00000-of-00001.parquet", ROWS)
    write_parquet(tmp_path / "Org" / "Name" / "data" / "train-00000-of-00001.parquet", [ROWS[0]] * 5)
    rows = open_rows(HUB, str(tmp_path), tmp_path, "task")
    assert (len(rows), rows.audio_columns) == (3, ("audio",)) and rows.revision.startswith("local-")
    assert rows.columns["label"] == ["l0", "l1", "l2"]
    raw = rows.audio.read(2, "audio")
    assert raw.data[:4] == b"RIFF" and raw.name == "audio2.wav"


def test_parquet_without_split_names_is_all_read(tmp_path: Path, write_parquet: Callable[..., Path]) -> None:
    write_parquet(tmp_path / "Org" / "Name" / "part-a.parquet", ROWS)
    write_parquet(tmp_path / "Org" / "Name" / "part-b.parquet", ROWS)
    assert len(open_rows(HUB, str(tmp_path), tmp_path, "task")) == 6


@pytest.mark.parametrize("metadata", ["metadata.jsonl", "metadata.csv"])
def test_folder_of_clips(tmp_path: Path, write_clips: Callable[..., Path], metadata: str) -> None:
    records = [
        {"file_name": "a.wav", "second_file_name": "b.wav", "label": "x"},
        {"file_name": "c.wav", "second_file_name": "d.wav", "label": "y"},
    ]
    write_clips(tmp_path / "Org" / "Name", records, metadata)
    rows = open_rows(HUB, str(tmp_path), tmp_path, "task")
    assert rows.audio_columns == ("audio", "second")
    assert rows.columns == {"label": ["x", "y"]}
    assert rows.audio.read(1, "second").name == "d.wav"


def test_folder_beside_the_task_file_is_read_whatever_data_says(tmp_path: Path, write_clips: Callable[..., Path]) -> None:
    write_clips(tmp_path / "clips", [{"file_name": "a.wav", "label": "x"}])
    for data in ("hub", "samples"):
        rows = open_rows(DataSource(path="./clips"), data, tmp_path, "my_task")
        assert rows.repo == "my_task/clips" and str(tmp_path) not in rows.repo


@pytest.mark.parametrize(
    ("data", "said"),
    [("smaples", "neither 'hub' nor 'samples' nor an existing folder"), ("{tmp}", "folder .*Org/Name does not exist")],
)
def test_wrong_place_is_named(tmp_path: Path, data: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        open_rows(HUB, data.format(tmp=tmp_path), tmp_path, "task")


def test_hub_out_of_reach_is_one_error_with_the_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError) as caught:
        open_rows(HUB, "hub", tmp_path, "task")
    said = str(caught.value)
    for part in ("'Org/Name'", "a" * 40, "data=samples", "data=/folder", "dsb2 prefetch task"):
        assert part in said
    assert caught.value.__suppress_context__


def test_hub_is_asked_for_the_pinned_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_parquet: Callable[..., Path]
) -> None:
    import datasets

    file = write_parquet(tmp_path / "x.parquet", ROWS)
    real = datasets.load_dataset
    asked: dict[str, Any] = {}

    def load(path: str, name: str | None, **kwargs: Any) -> datasets.Dataset:
        asked.update(path=path, name=name, **kwargs)
        return real("parquet", data_files={"test": str(file)}, split="test")

    monkeypatch.setattr(datasets, "load_dataset", load)
    rows = open_rows(HUB, "hub", tmp_path, "task")
    assert asked == {"path": "Org/Name", "name": None, "split": "test", "revision": "a" * 40}
    assert rows.revision == "a" * 40 and rows.audio.read(0, "audio").data[:4] == b"RIFF"


def test_paths_stay_inside_the_folder(tmp_path: Path, write_clips: Callable[..., Path]) -> None:
    write_clips(tmp_path / "Org" / "Name", [{"file_name": "../../secret.wav", "label": "x"}])
    with pytest.raises(DataError, match=r"row 0: '../../secret.wav' .* leads out of the folder"):
        open_rows(HUB, str(tmp_path), tmp_path, "task")
    with pytest.raises(DataError, match="leads out of the folder"):
        open_rows(DataSource(path="Org/../../Name"), str(tmp_path), tmp_path, "task")


def test_missing_clip_is_an_error_of_that_clip_only(tmp_path: Path, write_clips: Callable[..., Path]) -> None:
    folder = write_clips(tmp_path / "Org" / "Name", [{"file_name": "a.wav", "label": "x"}, {"file_name": "b.wav", "label": "y"}])
    (folder / "b.wav").unlink()
    rows = open_rows(HUB, str(tmp_path), tmp_path, "task")
    assert rows.audio.read(0, "audio").data
    with pytest.raises(AudioError, match=r"row 1.*b\.wav' cannot be read"):
        rows.audio.read(1, "audio")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("metadata.jsonl", '{"file_name": "a.wav"}\n{broken\n', "line 2: not valid JSON"),
        ("metadata.jsonl", '["a.wav"]\n', "line 1: an object is needed, found list"),
        ("metadata.jsonl", '{"file": "a.wav"}\n', "column 'file_name' is missing; found file"),
        ("metadata.csv", "label\nx\n", "column 'file_name' is missing"),
        ("test.parquet", "no parquet", "cannot be read"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, content: str, said: str) -> None:
    folder = tmp_path / "Org" / "Name"
    folder.mkdir(parents=True)
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=said) as caught:
        open_rows(HUB, str(tmp_path), tmp_path, "task")
    assert name in str(caught.value)


def test_no_samples_of_an_unknown_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no embedded samples of 'Org/Name'"):
        open_rows(HUB, "samples", tmp_path, "task")


@pytest.mark.parametrize(
    ("test", "train"),
    [
        ("test_0", "train_0"),
        ("test.0", "train.0"),
        ("x-test-0", "x-train-0"),
        ("test_set", "training_set"),
        ("Test-0", "Train-0"),
        ("data/test/0", "data/train/0"),
    ],
)
def test_other_splits_never_mix_in(tmp_path: Path, write_parquet: Callable[..., Path], test: str, train: str) -> None:
    write_parquet(tmp_path / "Org" / "Name" / f"{test}.parquet", ROWS)
    write_parquet(tmp_path / "Org" / "Name" / f"{train}.parquet", ROWS[:1] * 5)
    assert len(open_rows(HUB, str(tmp_path), tmp_path, "task")) == 3


def test_a_folder_with_another_split_alone_is_refused(tmp_path: Path, write_parquet: Callable[..., Path]) -> None:
    write_parquet(tmp_path / "Org" / "Name" / "train-0.parquet", ROWS)
    with pytest.raises(DataError, match="neither parquet files of split 'test'"):
        open_rows(HUB, str(tmp_path), tmp_path, "task")


def test_linked_folders_and_clips_are_read(tmp_path: Path, write_clips: Callable[..., Path]) -> None:
    write_clips(tmp_path / "real" / "Name", [{"file_name": "a.wav", "label": "x"}])
    (tmp_path / "real" / "Name" / "a.wav").rename(tmp_path / "blob")
    (tmp_path / "real" / "Name" / "a.wav").symlink_to(tmp_path / "blob")
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "Org").symlink_to(tmp_path / "real")
    assert open_rows(HUB, str(tmp_path / "mirror"), tmp_path, "task").audio.read(0, "audio").data[:4] == b"RIFF"


def test_two_folders_of_one_name_are_kept_apart(tmp_path: Path, write_clips: Callable[..., Path]) -> None:
    parts = []
    for fold in ("fold1", "fold2"):
        write_clips(tmp_path / fold / "clips", [{"file_name": "a.wav", "label": "x"}])
        parts.append(open_rows(DataSource(path=f"./{fold}/clips"), "hub", tmp_path, "task"))
    assert (parts[0].repo, parts[0].revision) != (parts[1].repo, parts[1].revision)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("metadata.csv", "file_name,label\na.wav,x,more\n", "line 2: more cells than the header"),
        ("metadata.csv", 'file_name,label\na.wav,"' + "x" * 200_000 + '"\n', "not valid CSV"),
        ("metadata.jsonl", '{"file_name": "a\\u0000.wav"}\n', "leads out of the folder"),
        ("metadata.jsonl", "[" * 100_000 + "\n", "line 1: not valid JSON"),
    ],
)
def test_odd_metadata_is_told(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / "Org" / "Name").mkdir(parents=True)
    (tmp_path / "Org" / "Name" / name).write_text(content)
    with pytest.raises(DataError, match=said):
        open_rows(HUB, str(tmp_path), tmp_path, "task")


def test_a_name_that_is_no_text_is_an_error_of_that_clip_only(tmp_path: Path) -> None:
    (tmp_path / "Org" / "Name").mkdir(parents=True)
    (tmp_path / "Org" / "Name" / "metadata.jsonl").write_text('{"file_name": "a\\ud83d.wav", "label": "x"}\n')
    with pytest.raises(AudioError, match="cannot be read"):
        open_rows(HUB, str(tmp_path), tmp_path, "task").audio.read(0, "audio")


def test_class_labels_are_read_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    features = datasets.Features({"label": datasets.ClassLabel(names=["cat", "dog"])})
    made = datasets.Dataset.from_dict({"label": [1, 0, 1]}, features=features)
    monkeypatch.setattr(datasets, "load_dataset", lambda *args, **kwargs: made)
    assert open_rows(HUB, "hub", tmp_path, "task").columns["label"] == ["dog", "cat", "dog"]


@pytest.mark.parametrize("kind", ["absolute", "device", "climbs", "beside"])
def test_a_cell_of_a_parquet_file_opens_nothing_outside_of_its_folder(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    secret = tmp_path / "secret.wav"
    secret.write_bytes(b"secret")
    (folder / "clip.wav").write_bytes(b"clip")
    paths = {"absolute": str(secret), "device": "/dev/zero", "climbs": "../secret.wav", "beside": str(folder / "clip.wav")}
    audio = pa.array([{"bytes": None, "path": paths[kind]}], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    pq.write_table(pa.table({"label": ["a"], "audio": audio}), folder / "test.parquet")
    rows = open_rows(DataSource(path="./data"), "samples", tmp_path, "t")
    if kind == "beside":
        assert rows.audio.read(0, "audio").data == b"clip"
        return
    with pytest.raises(AudioError, match="leads out of the data set's folder") as error:
        rows.audio.read(0, "audio")
    assert "row 0 column 'audio'" in str(error.value)


@pytest.mark.parametrize("data", ["nowhere", "~nobody-of-that-name/x", "a" * 5000, "a\0b"], ids=lambda data: repr(data[:12]))
def test_what_is_no_place_for_data_is_one_error(data: str) -> None:
    with pytest.raises(DataError, match="is neither 'hub' nor 'samples' nor an existing folder") as told:
        check_data(data)
    assert len(str(told.value)) < 500


def test_places_for_data(tmp_path: Path) -> None:
    for data in ("hub", "samples", str(tmp_path)):
        check_data(data)
