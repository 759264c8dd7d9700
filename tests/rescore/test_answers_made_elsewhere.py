"""Answers made elsewhere: JSONL and the authors' own files, through ``dsb2 score``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dsb2_tasks import catalog, hooks, metrics
from dsb2_tasks.cli import main
from dsb2_tasks.rescore import AnswersError, Rules, from_answers, score
from dsb2_tasks.rescore._answered import open_task
from dsb2_tasks.results import read_run

QBE, ASR, ANGLE = "dsb2_superb_qbe_quesst14", "dsb2_superb_asr_librispeech", "dsb2_sound_position_prediction"
INSTANCE = "SuperbQbE_Quesst14-Eval"


def docs(task: str) -> list[dict[str, Any]]:
    found = open_task(catalog.read_catalog([catalog.yaml_root()]).tasks[task], "samples")[2]
    return [found[i] for i in range(len(found))]


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def dsb2(*arguments: Any, code: int = 0) -> Any:
    done = CliRunner().invoke(main, ["score", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def test_answers_by_doc_id_give_results_in_lm_evals_form(tmp_path: Path) -> None:
    labels = [doc["dsb2_label"][0] for doc in docs(QBE)]
    answers = [*labels[:3], "no" if labels[3] == "yes" else "yes"]
    lines = [{"task": QBE, "doc_id": i, "answer": f"I think: {answer}."} for i, answer in enumerate(answers)]
    lines += [{"task": ANGLE, "doc_id": i, "answer": a} for i, a in enumerate(["30", "no idea", "about 12 degrees"])]
    done = dsb2(
        "--answers", write(tmp_path / "a.jsonl", *lines), "--data", "samples", "-o", tmp_path / "o.json", "--name", "mine"
    )
    assert "SAMPLE DATA" in done.output
    run = read_run(tmp_path / "o.json")
    assert run.name == "mine" and run.data == {"samples"}
    assert run.tasks[QBE].values["accuracy"].value == 0.75
    assert run.tasks[QBE].statuses == {"ok": 4}
    angle = run.tasks[ANGLE]
    assert angle.na_rate == pytest.approx(1 / 3)
    assert angle.statuses == {"ok": 2, "na:no_number": 1}
    assert (angle.documents, angle.total) == (3, 4)
    assert run.groups["dsb2_spatial_audio"]["tasks"] == 1
    raw = json.loads((tmp_path / "o.json").read_text())
    assert raw["results"][QBE]["accuracy,none"] == 0.75 and raw["versions"][QBE] == "1-samples"
    assert [sample.answer for sample in run.tasks[QBE].samples()] == [f"I think: {answer}." for answer in answers]


def test_answers_by_clip(tmp_path: Path) -> None:
    clips = docs(ASR)
    lines = [
        {"task": ASR, "sha256": clips[0]["audio"][0]["sha256"], "answer": clips[0]["dsb2_label"][0]},
        {"task": ASR, "file": clips[1]["file"], "answer": clips[1]["dsb2_label"][0]},
        {"task": ASR, "doc_id": 2, "answer": None},
    ]
    (found,) = from_answers([write(tmp_path / "a.jsonl", *lines)], "samples")
    assert [document.doc_id for document in found.documents] == [0, 1]
    assert found.not_answered == len(clips) - 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{\n", "line 1: no JSON"),
        ("[1]\n", "line 1: an object is needed"),
        ({"task": QBE, "answer": "x"}, "exactly one of doc_id, sha256, file"),
        ({"task": QBE, "answer": "x", "doc_id": 0, "file": "a"}, "exactly one of"),
        ({"task": QBE, "doc_id": 0}, "the keys task, answer"),
        ({"task": QBE, "doc_id": 0, "anser": "x"}, "did you mean 'answer'"),
        ({"task": QBE, "doc_id": 0, "answer": 3}, "a text is needed"),
        ({"task": "dsb2_superb_qbe_quest14", "doc_id": 0, "answer": "x"}, f"did you mean {QBE!r}"),
        ({"task": QBE, "doc_id": 99, "answer": "x"}, "no document with doc_id 99"),
        ({"task": QBE, "doc_id": "0", "answer": "x"}, "doc_id: a number is needed, found '0'"),
        ({"task": QBE, "sha256": "00", "answer": "x"}, "no document with sha256 '00'"),
    ],
)
def test_faults_name_file_line_and_fix(tmp_path: Path, line: Any, said: str) -> None:
    with pytest.raises(AnswersError, match=said) as error:
        from_answers([write(tmp_path / "a.jsonl", line)], "samples")
    assert "a.jsonl" in str(error.value)


def test_twice_answered_is_refused(tmp_path: Path) -> None:
    line = {"task": QBE, "doc_id": 0, "answer": "yes"}
    with pytest.raises(AnswersError, match=r"line 2: document 0 .* answered twice"):
        from_answers([write(tmp_path / "a.jsonl", line, line)], "samples")
    authors = write(
        tmp_path / f"{INSTANCE}.json", json.dumps({"a": {"instruction": "x", "label": "yes", "sllm_response": "yes"}})
    )
    with pytest.raises(AnswersError, match="from two files"):
        from_answers([write(tmp_path / "a.jsonl", line), authors], "samples")


def authors_file(folder: Path, name: str, content: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    return write(folder / f"{name}.json", json.dumps(content))


def test_the_authors_files_are_scored_without_a_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dsb2_tasks.sources.open_rows", lambda *_: pytest.fail("a data set was opened"))
    rows = {
        "a.wav": {
            "file": "a.wav",
            "instruction": "Is it there? Answer yes or no.",
            "label": "yes",
            "sllm_response": "Yes, it is.",
        },
        "b.wav": {"file": "b.wav", "instruction": "Is it there? Answer yes or no.", "label": "no", "sllm_response": "Yes."},
        "c.wav": {"file": "c.wav", "instruction": "Is it there? Answer yes or no.", "label": "no"},
        "d.wav": {"file": "d.wav", "instruction": "Is it there? Answer yes or no.", "label": "no", "sllm_response": None},
    }
    folder = tmp_path / "theirs"
    authors_file(folder, INSTANCE, rows)
    dsb2("--answers", folder, "-o", tmp_path / "o.json")
    assert "2 of 4 entries have no sllm_response; they count as not answered" in caplog.text
    task = read_run(tmp_path / "o.json").tasks[QBE]
    assert task.values["accuracy"].value == 0.5 and task.values["unparsed_rate"].value == 0.0
    assert (task.documents, task.total, task.version) == (2, 4, "1")
    raw = json.loads((tmp_path / "o.json").read_text())
    assert raw["configs"][QBE]["metadata"]["dsb2_run"]["not_answered"] == 2


def test_every_official_task_reads_an_authors_file_of_its_instance(tmp_path: Path) -> None:
    known = catalog.read_catalog([catalog.yaml_root()]).tasks
    folder = tmp_path / "theirs"
    wanted = {}
    for name, entry in known.items():
        if entry.spec.suite != "dsb2-phase2" or not entry.spec.instance:
            continue
        rows = docs(name)
        columns = entry.spec.label_columns
        spec = hooks.close_options(entry.spec, rows)
        content = {}
        for i, doc in enumerate(rows):
            labels = dict(zip(columns, doc["dsb2_label"], strict=False))
            reference = hooks.KINDS[spec.kind].reference_answer(doc, spec)
            content[f"{i}.wav"] = {"file": f"{i}.wav", "instruction": doc["dsb2_prompt"], **labels, "sllm_response": reference}
        authors_file(folder, entry.spec.instance, content)
        wanted[name] = len(rows)
    found = {answered.task: answered for answered in from_answers([folder], "hub")}
    assert {name: len(answered.documents) for name, answered in found.items()} == wanted
    scores = score(list(found.values()), Rules())
    for name in wanted:
        metric = known[name].spec.metric
        assert scores.results[name][f"{metric},none"] == pytest.approx(metrics.get(metric).best, abs=1e-6), name


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("SuperbQbE_Quesst14-Evil", {}, f"did you mean '{INSTANCE}.json'"),
        (INSTANCE, {}, "an object of clip names"),
        (INSTANCE, {"a": 1}, "an object of clip names"),
        (INSTANCE, {"a": {"label": "yes"}}, "'a': instruction: a text is needed"),
        (INSTANCE, {"a": {"instruction": "x", "label": "perhaps", "sllm_response": "yes"}}, "'a': label: expected one of the 2"),
        (INSTANCE, {"a": {"instruction": "x", "label": "yes", "sllm_response": ["yes"]}}, "sllm_response: a text is needed"),
    ],
)
def test_faults_of_the_authors_files(tmp_path: Path, name: str, content: Any, said: str) -> None:
    with pytest.raises(AnswersError, match=said) as error:
        from_answers([authors_file(tmp_path / "t", name, content)], "hub")
    assert f"{name}.json" in str(error.value)


def test_other_files_and_missing_options(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match=r"a \.jsonl file"):
        from_answers([write(tmp_path / "a.txt", "x")], "samples")
    (tmp_path / "empty").mkdir()
    with pytest.raises(AnswersError, match=r"no \.json or \.jsonl"):
        from_answers([tmp_path / "empty"], "samples")
    lines = write(tmp_path / "a.jsonl", {"task": QBE, "doc_id": 0, "answer": "yes"})
    assert "-o is needed" in dsb2("--answers", lines, "--data", "samples", code=2).output
    assert "one of RUN and --answers" in dsb2("-o", tmp_path / "o.json", code=2).output
    assert (
        "--estimate needs --judge"
        in dsb2("--answers", lines, "--data", "samples", "-o", tmp_path / "o.json", "--estimate", code=2).output
    )
    assert not (tmp_path / "o.json").exists()
