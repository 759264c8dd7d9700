"""``dsb2 explain``: what it shows, of what, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dsb2_tasks import __version__, catalog
from dsb2_tasks.audio import failure
from dsb2_tasks.cli import main

EMOTION = "dsb2_emotion_recognition_meld"
#: One task of every output kind.
OF_KIND = {task.spec.kind: name for name, task in catalog.read_catalog([catalog.yaml_root()]).tasks.items()}


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments], input=stdin)


def explained(*arguments: str, stdin: str | None = None) -> dict[str, Any]:
    result = run(*arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", OF_KIND.values(), ids=OF_KIND)
def test_the_reference_is_explained_and_scores_best(name: str) -> None:
    found = explained(name)
    assert (found["task"], found["doc"], found["status"]) == (name, 0, "ok")
    assert (
        found["prompt"]
        and (found["label"] or found["kind"] == "waveform")
        and found["answer_is_reference"]
        and found["candidates"] != []
    )
    assert "embedded samples" in found["data"]
    assert sum(metric["primary"] for metric in found["metrics"].values()) == 1
    for metric, row in found["statistics"].items():
        shown = found["metrics"][metric]
        assert len(row) % len(shown["fields"]) == 0
        # One answer has no correlation; how far a mixture can be improved depends on it.
        assert shown["value"] == pytest.approx(shown["best"], abs=1e-9) or metric in ("pcc", "srcc", "ccc", "kendall", "si_sdri")


@pytest.mark.parametrize("name", OF_KIND.values(), ids=OF_KIND)
def test_the_text_shows_what_the_object_holds(name: str) -> None:
    found, text = explained(name, "--answer", "I hear 3"), run(name, "--answer", "I hear 3").output
    for step in ("prompt", "label", "cleaned", "candidates", "status", "value"):
        assert any(line.split()[:1] == [step] for line in text.splitlines())
    assert "(the reference answer)" not in text
    assert all(metric in text for metric in found["statistics"])
    assert ("assumed" in text) == any(metric["assumed"] for metric in found["metrics"].values())


def test_steps_of_a_choice() -> None:
    found = explained(EMOTION, "--label", "joy", "--answer", "<think>sad?</think>Not anger: a **joyful** one.")
    assert found["cleaned"] == "Not anger: a **joyful** one."
    assert found["candidates"] == [{"text": "anger", "value": "anger"}, {"text": "**joyful**", "value": "joy"}]
    assert (found["value"], found["status"], found["rule"]) == ("joy", "ok", "mention")
    assert found["statistics"] == {"accuracy": [1.0], "phase1_exact": [0.0]} and found["reference"] == "joy"
    assert (found["doc"], found["prompt"]) == (None, None)


def test_two_options_are_shown_as_ambiguous() -> None:
    found = explained(EMOTION, "--label", "joy", "--answer", "fear or joy")
    assert [candidate["value"] for candidate in found["candidates"]] == ["fear", "joy"]
    assert (found["value"], found["status"], found["statistics"]) == (
        None,
        "ambiguous",
        {"accuracy": [0.0], "phase1_exact": [0.0]},
    )


def test_numbers_seen_are_candidates() -> None:
    name = "dsb2_audio_duration_prediction_ntuml2021"
    found = explained(name, "--label", "2.5", "--answer", "between two and 3.5 seconds")
    assert found["candidates"] == [{"text": "two", "value": 2.0}, {"text": "3.5", "value": 3.5}]
    assert (found["value"], found["status"]) == (None, "na:range")
    assert set(found["statistics"].values()) == {None} and found["metrics"]["mse"]["value"] is None
    assert "not counted" in run(name, "--label", "2.5", "--answer", "between two and 3.5 seconds").output


def test_texts_show_the_words_without_the_lead_in() -> None:
    found = explained("dsb2_aave_asr_coraal", "--label", "a b", "--answer", 'Sure, the transcript is: "a b"')
    assert (found["candidates"], found["rule"]) == (["a b"], "preamble")
    assert found["statistics"]["wer_clean"] == [0, 2] and found["metrics"]["wer"]["value"] > 0


def test_labels_of_several_columns() -> None:
    found = explained("dsb2_dialogue_act_slue_hvb", "--label", "self", "--label", "thanks", "--answer", "thanks")
    assert found["reference"] == ["self", "thanks"] and found["value"] == ["thanks"]


def test_options_that_are_the_labels_of_the_data() -> None:
    found = explained("dsb2_animal_classification_wavesource", "--label", "gryphon", "--answer", "a gryphon")
    assert "gryphon" in found["options"] and len(found["options"]) > 1 and found["value"] == "gryphon"


def test_an_answer_from_a_file_and_from_stdin(tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_bytes(b"It is joy.\n\xff")
    for found in (
        explained(EMOTION, "--answer-file", str(file), "--label", "joy"),
        explained(EMOTION, "--answer-file", "-", "--label", "joy", stdin="joy\n"),
    ):
        assert found["value"] == "joy"


def test_another_document_and_another_place(tmp_path: Path) -> None:
    assert explained(EMOTION, "--doc", "1")["doc"] == 1
    clips = tmp_path / "DynamicSuperb" / "EmotionRecognition_MultimodalEmotionlinesDataset"
    clips.mkdir(parents=True)
    (clips / "metadata.jsonl").write_text('{"file_name": "a.wav", "instruction": "How is it?", "label": "fear"}\n')
    found = explained(EMOTION, "--data", str(tmp_path))
    assert (found["prompt"], found["value"]) == ("How is it?", "fear")
    assert "embedded" not in found["data"]


def test_a_failure_of_the_tool_is_no_answer() -> None:
    found = explained(EMOTION, "--label", "joy", "--answer", failure("audio_error", "joy"))
    assert (found["status"], found["value"], found["statistics"]) == (
        "audio_error",
        None,
        {"accuracy": None, "phase1_exact": None},
    )


@pytest.mark.parametrize("answer", ["", "\ud83d\x00\x1b[31mjoy", "joy 1\n" * 10_000])
@pytest.mark.parametrize("name", OF_KIND.values(), ids=OF_KIND)
def test_any_answer_is_explained(name: str, answer: str) -> None:
    file = CliRunner().invoke(main, ["explain", name, "--answer", answer])
    assert file.exit_code == 0 and "\x1b" not in file.output and "\x00" not in file.output
    explained(name, "--answer", answer)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["emotion_recognition_meld"], 2, f"did you mean '{EMOTION}'"),
        (["dsb2_emotion_recogniton_meld"], 2, f"did you mean '{EMOTION}'"),
        (["qqqqqq"], 2, "unknown task 'qqqqqq'"),
        (["qqqqqq"], 2, "the folder of a task of your own is named by DSB2_TASKS_PATH"),
        (["dsb2_speech"], 2, "is a group"),
        (["dsb2_core"], 2, "'dsb2_core' is a tag; name one of its "),
        ([EMOTION, "--doc", "99"], 2, "documents 0 to"),
        ([EMOTION, "--label", "joy", "--doc", "1"], 2, "leave out --doc"),
        ([EMOTION, "--label", "joy", "--data", "hub"], 2, "leave out --data"),
        ([EMOTION, "--label", "owl"], 1, f"{EMOTION}: no document, only a label: expected one of the 7 options"),
        ([EMOTION, "--data", "/nowhere"], 1, "nor an existing folder"),
        ([EMOTION, "--data", "hub"], 1, "cannot be opened"),
    ],
)
def test_wrong_use_is_told_with_the_fix(arguments: list[str], code: int, said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code and said in result.stderr and result.stdout == ""
    assert code == 1 or len(result.stderr.splitlines()) == 1


def test_two_answers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("joy")
    result = run(EMOTION, "--answer", "joy", "--answer-file", str(tmp_path / "a"))
    assert result.exit_code == 2 and "both given" in result.stderr


def test_debug_shows_where() -> None:
    result = CliRunner().invoke(main, ["--debug", "explain", EMOTION, "--data", "/nowhere"])
    assert type(result.exception).__name__ == "DataError"


def test_a_task_with_a_reader_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text(
        "task: mine\nprocess_results: !function os.system\n"
        "dsb2: {kind: text, metric: text_accuracy, modality: audio, domain: mine, data: [{path: ./clips}]}\n"
    )
    monkeypatch.setenv("DSB2_TASKS_PATH", str(tmp_path))
    result = run("mine", "--label", "x")
    assert result.exit_code == 2 and "read by 'os.system'" in result.stderr


def test_options_of_a_stranger_cannot_move_the_cursor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    option = "dog\x1b[31m\x1b]0;pwn\a\u202e"
    block: dict[str, Any] = {
        "kind": "choice",
        "metric": "macro_f1",
        "modality": "audio",
        "domain": "mine",
        "options": [option, "cat"],
    }
    block["data"] = [{"path": "./clips"}]
    (tmp_path / "mine.yaml").write_text(json.dumps({"task": "mine", "dsb2": block}))
    monkeypatch.setenv("DSB2_TASKS_PATH", str(tmp_path))
    result = run("mine", "--label", option, "--answer", option)
    assert result.exit_code == 0, result.output
    assert "macro_f1" in result.output and all(line.isprintable() for line in result.output.splitlines())


def test_version() -> None:
    assert __version__ in CliRunner().invoke(main, ["--version"]).output


def test_it_starts_without_torch_the_harness_or_data() -> None:
    heavy = ("torch", "lm_eval", "datasets", "pyarrow", "soundfile", "scipy", "dsb2_tasks.sources")
    code = (
        "import sys; from dsb2_tasks.cli import main\n"
        f"main(['explain', {EMOTION!r}, '--label', 'joy', '--answer', 'joy'], standalone_mode=False)\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "dsb2_tasks.cli", "explain", "nope"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("Error: unknown task 'nope'")
