"""``dsb2 show``: facts, labels, an example with its clips, pictures, groups."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from dsb2_tasks import catalog, summary
from dsb2_tasks.audio import outline
from dsb2_tasks.cli import main
from dsb2_tasks.cli._show import GROUP_ROWS

MELD, TURNS, ENHANCEMENT = "dsb2_emotion_recognition_meld", "dsb2_superb_sd_libri2mix", "dsb2_superb_se_voicebank_demand"
KNOWN = catalog.read_catalog([catalog.yaml_root()])
OF_KIND = {task.spec.kind: name for name, task in KNOWN.tasks.items()}
MINE = """task: mine
class: !function dsb2_tasks.task.DSB2Task
metadata: {version: 1}
dsb2: {kind: text, metric: text_accuracy, modality: audio, domain: mine, prompt: "What\\e[31m?", data: [{path: DATA}]}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["show", *arguments])


def shown(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize("name", OF_KIND.values(), ids=OF_KIND)
def test_every_kind_is_shown(name: str) -> None:
    found, spec = shown(name), KNOWN.tasks[name].spec
    assert found["name"] == name and found["spec"]["kind"] == spec.kind
    assert [metric["name"] for metric in found["metrics"] if metric["main"]] == [spec.metric]
    assert found["labels"]["documents"] >= 2 and sum(found["labels"]["counts"].values()) == found["labels"]["documents"]
    assert found["example"]["prompt"] and (found["example"]["label"] or spec.kind == "waveform")
    for clip in found["example"]["clips"]:
        assert 0 < clip["seconds"] < 60 and 8000 <= clip["rate"] <= 48000 and clip["channels"] in (1, 2) and clip["peak"] > 0
    text = run(name).stdout
    assert name in text and spec.metric in text and "synthetic, not the real distribution" in text


def test_facts_of_a_task() -> None:
    found, text = shown(MELD), run(MELD).stdout
    assert (found["confidence"], found["spec"]["author_metric"]) == ("high", "llm_classification")
    assert found["labels"]["counts"].keys() == set(KNOWN.tasks[MELD].spec.options) and 0 in found["labels"]["counts"].values()
    for part in ("joy (or happy, happiness, joyful)", "main, not pinned", "Paralinguistics (speech)", "authors' metric"):
        assert part in text


def test_an_assumed_metric_and_what_was_replaced_are_said() -> None:
    assumed = next(name for name, task in KNOWN.tasks.items() if task.spec.metric_assumed)
    assert "[assumed: only the name of the authors' metric is known]" in run(assumed).stdout
    replaced = next(name for name, task in KNOWN.tasks.items() if task.spec.replaced)
    assert KNOWN.tasks[replaced].spec.replaced[0] in run(replaced).stdout
    noted = next(name for name, task in KNOWN.tasks.items() if task.spec.note)
    assert KNOWN.tasks[noted].spec.note in run(noted).stdout


def test_another_document() -> None:
    first, second = shown(MELD), shown(MELD, "--doc", "1")
    assert second["example"]["doc"] == 1 and first["example"]["clips"] != second["example"]["clips"]
    result = run(MELD, "--doc", "99")
    assert result.exit_code == 2 and "has documents 0 to 3 in samples, not 99" in result.stderr


def test_right_audio_is_shown_beside_what_is_heard() -> None:
    assert [clip["role"] for clip in shown(ENHANCEMENT)["example"]["clips"]] == ["clip", "reference"]


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")])
def test_a_picture(suffix: str, begins: bytes, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"clip{suffix}"
    found = shown(ENHANCEMENT, "--picture", str(file))
    assert file.read_bytes().startswith(begins) and file.stat().st_size > 5000 and found["example"]["picture"] == str(file)


def test_without_matplotlib_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(MELD, "--picture", str(tmp_path / "x.png"))
    assert result.exit_code == 1 and 'pip install "dsb2-tasks[report]"' in result.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["dsb2_emotion_recognition_mled"], 2, f"did you mean '{MELD}'?"),
        ([MELD, "--picture", "x.gif"], 2, "must end in one of .png, .svg, .pdf"),
        ([MELD, "--data", "/nope"], 1, "data='/nope' is neither 'hub' nor 'samples'"),
        (["dsb2_music", "--picture", "x.png"], 2, "is a group, which has no documents"),
        (["dsb2_music", "--data", "hub"], 2, "is a group, which has no documents"),
    ],
)
def test_wrong_use(arguments: list[str], code: int, said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code and said in result.stderr and result.stdout == ""


def test_a_task_without_samples_is_shown_without_an_example(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(MINE.replace("DATA", "Org/Elsewhere"))
    found = shown("mine", "--include_path", str(tmp_path))
    assert found["source"] == "" and "citation" not in found["spec"]  # what holds of the suite itself is not said of others
    assert found["example"] is None and "no embedded samples of 'Org/Elsewhere'" in found["no_documents"]
    text = run("mine", "--include_path", str(tmp_path)).stdout
    assert "none: there are no embedded samples" in text and "\x1b" not in text and r"What\x1b[31m?" in text
    assert run("mine", "--include_path", str(tmp_path), "--data", "samples").exit_code == 1


def test_a_clip_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(MINE.replace("DATA", "./clips"))
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "metadata.jsonl").write_text(json.dumps({"file_name": "a.wav", "label": "x"}))
    (tmp_path / "clips" / "a.wav").write_bytes(b"no audio at all")
    result = run("mine", "--include_path", str(tmp_path))
    assert result.exit_code == 0 and "cannot be read: a.wav is no audio file" in result.stdout
    result = run("mine", "--include_path", str(tmp_path), "--picture", str(tmp_path / "x.png"))
    assert result.exit_code == 2 and "no clip that could be drawn" in result.stderr


def test_a_group() -> None:
    found, text = shown("dsb2_music"), run("dsb2_music").stdout
    assert len(found["tasks"]) == 28 and sum(found["groups"].values()) == 28 and found["title"] == "Music"
    assert "dsb2_harmony_and_pitch (" in text and "relative_improvement" in text


def test_every_row_of_a_group_is_explained() -> None:
    rates = {"na_rate,none": 0.5, "unparsed_rate,none": 0.5, "audio_error_rate,none": 0.5}
    results = {name: {**rates, "relative_improvement,none": 0.5, "relative_improvement_stderr,none": 0.1} for name in "ab"}
    row = summary.group_row("g", results, compared=True)
    names = {key.removesuffix(",none") for key in row if key.endswith(",none") and "_stderr" not in key}
    assert names == set(GROUP_ROWS)


@pytest.mark.parametrize(
    ("samples", "width", "expected"),
    [
        (np.array([[0.0, 0.0, 0.5, -1.0]]), 4, "  ▄█"),
        (np.array([[0.1, 0.1], [0.0, -0.2]]), 2, "▄█"),
        (np.zeros((1, 3)), 60, "   "),
        (np.ones((1, 1)), 60, "█"),
        (np.tile([0.5, -0.5], 500)[None], 3, "███"),
    ],
    ids=["levels", "channels", "silence", "one sample", "wide"],
)
def test_outline(samples: np.ndarray, width: int, expected: str) -> None:
    assert outline(samples.astype(np.float32), width) == expected
