"""Documents: handles in place of audio, columns checked, nothing read before it is asked for."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from dsb2_tasks.audio import STORE, AudioError, RawAudio, check_handle
from dsb2_tasks.sources import DataError, Docs, Rows
from dsb2_tasks.spec import TaskSpec


class Clips:
    """An audio source that notes what it is asked for."""

    def __init__(self, broken: tuple[int, ...] = ()) -> None:
        self.asked: list[tuple[int, str]] = []
        self._broken = broken

    def read(self, row: int, column: str) -> RawAudio:
        self.asked.append((row, column))
        if row in self._broken:
            raise AudioError("gone")
        return RawAudio(f"{row}{column}".encode(), "clip")


def spec(**changes: Any) -> TaskSpec:
    base = {
        "modality": "speech",
        "domain": "speech_recognition",
        "kind": "transcript",
        "metric": "wer",
        "data": [{"path": "Org/A"}],
    }
    return TaskSpec.model_validate({**base, **changes})


def rows(
    repo: str = "Org/A", audio: Clips | None = None, audio_columns: tuple[str, ...] = ("audio",), **columns: list[Any]
) -> Rows:
    columns = columns or {"instruction": ["do", "do it"], "label": ["x", "y"]}
    return Rows(repo, "local", "test", columns, audio_columns, audio or Clips(), len(next(iter(columns.values()))))


def test_document_holds_handles_and_no_audio() -> None:
    clips = Clips()
    docs = Docs("t", spec(), [rows(audio=clips)])
    doc = docs[1]
    assert doc["dsb2_prompt"] == "do it" and doc["dsb2_label"] == ["y"] and doc["dsb2_language"] is None
    (handle,) = doc["audio"]
    assert handle["task_kind"] == "transcript" and "language" not in handle
    assert check_handle(handle)["sha256"] == hashlib.sha256(b"1audio").hexdigest()
    assert STORE.read(handle).data == b"1audio"


def test_nothing_is_read_before_it_is_asked_for_and_once_only() -> None:
    clips = Clips()
    docs = Docs("t", spec(), [rows(audio=clips)])
    assert [docs.text(i)["label"] for i in range(2)] == ["x", "y"] and len(docs) == 2 and clips.asked == []
    for _ in range(3):
        assert docs[0]["audio"]
    assert clips.asked == [(0, "audio")]


def test_the_language_translated_into_is_not_that_of_the_clip() -> None:
    (doc,) = Docs("t", spec(kind="translation", metric="bleu", language="de"), [rows(instruction=["do"], label=["x"])])
    assert doc["dsb2_language"] == "de" and "language" not in doc["audio"][0]


def test_changing_a_document_changes_no_other_copy() -> None:
    docs = Docs("t", spec(), [rows()])
    docs[0]["audio"][0]["sha256"] = "changed"
    assert docs[0]["audio"][0]["sha256"] != "changed"


def test_parts_are_read_as_one_with_their_languages() -> None:
    both = spec(data=[{"path": "Org/A", "language": "es"}, {"path": "Org/B", "language": "zh"}], language="en")
    docs = Docs("t", both, [rows("Org/A"), rows("Org/B", instruction=["i"], label=["z"], extra=["e"])])
    assert [doc["dsb2_language"] for doc in docs] == ["es", "es", "zh"]
    assert [doc["audio"][0]["language"] for doc in docs] == ["es", "es", "zh"]
    assert [doc["audio"][0]["repo"] for doc in docs] == ["Org/A", "Org/A", "Org/B"]
    assert [doc["extra"] for doc in docs] == [None, None, "e"]
    assert docs.place(2) == "Org/B row 0"


def test_clips_in_order_with_alternative_names() -> None:
    two = spec(audio=[["audio", "audio1"], "audio2"])
    docs = Docs("t", two, [rows(audio_columns=("audio2", "audio1"))])
    assert [h["column"] for h in docs[0]["audio"]] == ["audio1", "audio2"]


def test_hidden_columns_and_unnamed_audio_never_show() -> None:
    docs = Docs("t", spec(hidden=["transcription"]), [rows(instruction=["i"], label=["x"], transcription=["truth"])])
    assert "transcription" not in docs[0] and "transcription" not in docs.features


def test_context_is_shown_once() -> None:
    task = spec(context=["word"])
    docs = Docs("t", task, [rows(instruction=["Which?", "Which syllable of apple?"], label=["1", "2"], word=["pear", "Apple"])])
    assert [doc["dsb2_prompt"] for doc in docs] == ["Which?\nword: pear", "Which syllable of apple?"]
    inside_another = Docs("t", task, [rows(instruction=["Cat or dog?"], label=["1"], word=["at"])])
    assert inside_another[0]["dsb2_prompt"] == "Cat or dog?\nword: at"


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false"), (3, "3"), (1.5, "1.5"), ("a", "a")])
def test_labels_are_text(value: Any, text: str) -> None:
    assert Docs("t", spec(), [rows(instruction=["i"], label=[value])])[0]["dsb2_label"] == [text]


def test_several_labels_end_at_the_first_empty_one() -> None:
    task = spec(label=["label", "label2", "label3", "label4"])
    docs = Docs("t", task, [rows(instruction=["i"], label=["a"], label2=["b"], label3=[None])])
    assert docs[0]["dsb2_label"] == ["a", "b"]


def test_fixed_prompt_needs_no_column() -> None:
    assert Docs("t", spec(prompt="Write it down."), [rows(label=["x"])])[0]["dsb2_prompt"] == "Write it down."


@pytest.mark.parametrize(
    ("change", "columns", "said"),
    [
        (
            {},
            {"label": ["x"]},
            r"t: data set 'Org/A' has no column 'instruction'; its text columns are label \(see dsb2.instruction",
        ),
        ({}, {"instruction": ["x"]}, r"no column 'label'.*see dsb2.label"),
        ({"context": ["word"]}, {"instruction": ["x"], "label": ["y"]}, r"no column 'word'.*see dsb2.context"),
        (
            {"audio": ["query"]},
            {"instruction": ["x"], "label": ["y"]},
            r"no audio column 'query'; its audio columns are audio \(see dsb2.audio",
        ),
        ({}, {"instruction": [], "label": []}, r"no rows in split 'test'"),
    ],
)
def test_missing_columns_are_named(change: dict[str, Any], columns: dict[str, list[Any]], said: str) -> None:
    with pytest.raises(DataError, match=said):
        Docs("t", spec(**change), [rows(**columns)])


def test_unreadable_clip_does_not_stop_the_others() -> None:
    docs = Docs("t", spec(), [rows(audio=Clips(broken=(0,)))])
    with pytest.raises(AudioError):
        STORE.read(docs[0]["audio"][0])
    assert STORE.read(docs[1]["audio"][0]).data == b"1audio"


def test_unreadable_clips_are_told_apart() -> None:
    docs = Docs("t", spec(), [rows(audio=Clips(broken=(0, 1)))])
    assert docs[0]["audio"][0]["sha256"] != docs[1]["audio"][0]["sha256"]
