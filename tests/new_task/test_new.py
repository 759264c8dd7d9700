"""``dsb2 new``: what is guessed is right or said, what cannot be guessed is asked for, and the file passes its check."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from click.testing import CliRunner, Result

from dsb2_tasks import authoring, catalog, validation
from dsb2_tasks.cli._new import new

Row = dict[str, Any]
Make = Callable[..., Path]


def clip(path: Path, tone: int) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, 0.1 * np.sin(np.arange(4000) * 0.1 * (tone + 1)).astype("float32"), 8000)
    return path.name


def as_jsonl(folder: Path, rows: list[Row]) -> None:
    lines = [json.dumps({"file_name": clip(folder / f"{n}.wav", n), **row}) for n, row in enumerate(rows)]
    (folder / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")


def as_csv(folder: Path, rows: list[Row]) -> None:
    lines = [{"file_name": clip(folder / f"{n}.wav", n), **row} for n, row in enumerate(rows)]
    with (folder / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def as_parquet(folder: Path, rows: list[Row]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    clips = []
    for number in range(len(rows)):
        name = clip(folder / f"{number}.wav", number)
        clips.append({"bytes": (folder / name).read_bytes(), "path": name})
        (folder / name).unlink()
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    pq.write_table(pa.table({"audio": clips, **columns}), folder / "test.parquet")


FORMS = {"jsonl": as_jsonl, "csv": as_csv, "parquet": as_parquet}
PETS = [{"label": name, "instruction": "Which animal?"} for name in ("dog", "cat", "dog", "cow")]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(rows: list[Row] = PETS, form: str = "jsonl", name: str = "pets") -> Path:
        FORMS[form](tmp_path / name, rows)
        return tmp_path / name

    return write


def run(*words: object) -> Result:
    return CliRunner().invoke(new, [str(word) for word in words])


def block(path: Path) -> dict[str, Any]:
    return dict(catalog.load_config(path)["dsb2"])


@pytest.mark.parametrize("form", FORMS)
def test_a_task_from_a_folder(form: str, make: Make) -> None:
    folder = make(form=form)
    done = run("--from", folder, "--kind", "choice", "--domain", "sound_event")
    assert done.exit_code == 0, done.output
    path = folder.parent / "pets.yaml"
    assert block(path) == {
        **{
            "kind": "choice",
            "metric": "accuracy",
            "modality": "audio",
            "domain": "sound_event",
            "options": ["cat", "cow", "dog"],
        },
        **{"data": [{"path": "./pets"}], "licence": "unknown", "source": ""},
    }
    *said, last = done.stdout.splitlines()
    assert said == [f"wrote {path} for 4 rows", "guessed: label column 'label', by name"]
    assert last.startswith(f"{path}: ok: pets, 4 rows; right answers: accuracy 1")
    (outcome,) = validation.validate([path])
    assert outcome.findings == []
    assert "# check: guessed label column 'label'" in path.read_text()


def test_a_task_from_the_samples(tmp_path: Path) -> None:
    path = tmp_path / "accents.yaml"
    words = ["--from", "DynamicSuperb/AccentClassification_AccentdbExtended", "--data", "samples", "--name", "my_accents"]
    done = run(*words, "--kind", "choice", "--domain", "phonetics_phonology_prosody", "--language", "en", "--out", path)
    assert done.exit_code == 0, done.output
    config = catalog.load_config(path)
    assert config["task"] == "my_accents"
    assert config["dsb2"]["modality"] == "speech" and config["dsb2"]["language"] == "en"
    assert config["dsb2"]["data"] == [{"path": words[1]}]
    assert catalog.read_catalog([tmp_path]).tasks["my_accents"].spec.kind == "choice"


@pytest.mark.parametrize(
    ("kind", "rows", "expected"),
    [
        (
            "transcript",
            [{"text": "hello there", "speaker": "a"}, {"text": "bye", "speaker": "b"}],
            {"label": "text", "metric": "wer"},
        ),
        ("number", [{"count": "3"}, {"count": "5"}], {"label": "count", "number": {"integer": True}}),
        ("number", [{"score": "3.5"}, {"score": "5"}], {"label": "score", "number": None}),
        ("labels", [{"label": "dog, cat"}, {"label": "cow"}], {"options": ["cat", "cow", "dog"], "label": None}),
        ("choice", [{"label": "yes"}, {"label": "no"}], {"options": ["no", "yes"]}),
        ("choice", [{"label": str(n)} for n in range(40)], {"options": "labels"}),
        ("choice", [{"label": "a: b"}, {"label": "# c\u2028\x07"}], {"options": ["# c\u2028\x07", "a: b"]}),
        ("choice", [{"animal": "dog"}, {"animal": "cat"}], {"label": "animal"}),
        ("choice", [{"question": "Dog or cat?", "answer": "dog"}, {"question": "Q", "answer": "cat"}], {"label": "answer"}),
    ],
    ids=["transcript", "whole numbers", "numbers", "labels", "yes and no", "many", "odd texts", "one column left", "answer"],
)
def test_what_labels_tell(kind: str, rows: list[Row], expected: dict[str, Any], make: Make) -> None:
    folder = make(rows)
    asked = [] if "question" in rows[0] else ["--prompt", "Listen: what is it?"]
    done = run("--from", folder, "--kind", kind, "--domain", "sound_event", *asked)
    assert done.exit_code == 0, done.output
    written = block(folder.parent / "pets.yaml")
    assert {key: written.get(key) for key in expected} == expected
    assert written.get("prompt") == (asked[1] if asked else None)
    assert written.get("instruction") == (None if asked else "question")


def test_several_clips_are_heard_in_order(make: Make) -> None:
    rows = [{"second_file_name": f"{n}.wav", "label": label, "instruction": "Same?"} for n, label in enumerate(["yes", "no"])]
    folder = make(rows)
    done = run("--from", folder, "--kind", "choice", "--domain", "speaker_and_language")
    assert "guessed: a model hears audio, second, in this order" in done.output
    assert block(folder.parent / "pets.yaml")["audio"] == ["audio", "second"]


def test_right_clips_are_not_heard(make: Make) -> None:
    folder = make([{"clean_file_name": "0.wav"}, {"clean_file_name": "1.wav"}])
    done = run("--from", folder, "--kind", "waveform", "--domain", "cleaning", "--modality", "speech", "--prompt", "Clean this.")
    assert done.exit_code == 0, done.output
    assert "'cleaning' is none of the 17 domains" in done.output and "warning" in done.output
    assert block(folder.parent / "pets.yaml")["reference_audio"] == ["clean"]


def test_the_domain_of_most_tasks_of_a_kind_is_guessed(make: Make) -> None:
    done = run("--from", make([{"label": "a b"}, {"label": "c"}]), "--kind", "transcript", "--prompt", "Write.")
    assert "guessed: domain speech_recognition" in done.output


@pytest.mark.parametrize(
    ("words", "rows", "said"),
    [
        (["--domain", "sound_event"], [{"label": "dog"}], r"--prompt is needed: no column instruction or prompt"),
        (["--prompt", "P"], PETS, "--domain is needed, as kind 'choice' is of many: one of speech_recognition"),
        (["--prompt", "P", "--domain", "barn"], PETS, "--modality is needed (speech, music or audio), as domain 'barn'"),
        (["--prompt", "P", "--domain", "sound_event"], [{"a": "x", "b": "y"}], "--label is needed: which column"),
        (["--prompt", "P", "--domain", "sound_event", "--label", "x"], PETS, "--label 'x': there is no such column"),
        (["--prompt", "P", "--domain", "sound_event", "--metric", "wer"], PETS, "--metric 'wer': kind 'choice' counts accuracy"),
        (["--prompt", "P", "--domain", "sound_event", "--name", "a/b"], PETS, "--name 'a/b': use letters"),
    ],
    ids=["prompt", "domain", "modality", "label", "column", "metric", "name"],
)
def test_what_cannot_be_guessed_is_asked_for(words: list[str], rows: list[Row], said: str, make: Make) -> None:
    folder = make(rows)
    done = run("--from", folder, "--kind", "choice", *words)
    assert isinstance(done.exception, authoring.AuthoringError)
    assert said in str(done.exception)
    assert not (folder.parent / "pets.yaml").exists()


def test_labels_that_fit_no_kind_are_shown(make: Make) -> None:
    done = run("--from", make(), "--kind", "number", "--domain", "sound_event")
    assert "no label fits kind 'number': label: pets/pets row 0: expected one number" in str(done.exception)


def test_the_file_must_lie_above_its_data(make: Make, tmp_path: Path) -> None:
    words = ["--from", make(), "--kind", "choice", "--domain", "sound_event"]
    (tmp_path / "else").mkdir()
    done = run(*words, "--out", tmp_path / "else" / "t.yaml")
    assert "must lie in a folder above its data" in str(done.exception)


def test_nothing_is_written_over_without_force(make: Make) -> None:
    words = ["--from", make(), "--kind", "choice", "--domain", "sound_event"]
    path = words[1].parent / "pets.yaml"  # type: ignore[attr-defined]
    path.write_text("mine")
    done = run(*words)
    assert done.exit_code == 1 and "use --force to write over it" in done.output and path.read_text() == "mine"
    assert run(*words, "--force").exit_code == 0 and "task: pets" in path.read_text()


def test_a_fault_of_the_new_file_is_told(make: Make) -> None:
    folder = make()
    done = run("--from", folder, "--kind", "choice", "--domain", "sound_event", "--name", "dsb2_speech")
    assert done.exit_code == 1 and "task name 'dsb2_speech' is taken" in done.output


def test_a_folder_that_is_not_there_is_told() -> None:
    done = run("--from", "no_such_folder", "--kind", "choice", "--domain", "sound_event", "--data", "samples")
    assert done.exit_code == 1
    assert str(done.exception).startswith("'no_such_folder' is no folder here, so it was taken for a data set of the hub. ")


@pytest.mark.parametrize("words", [["--kind", "choise"], ["--kind", "choice", "--modality", "smell"]])
def test_wrong_use(words: list[str], make: Make) -> None:
    assert run("--from", make(), *words).exit_code == 2
