"""Runs with a baseline, and what is made of their saved answers: by other rules, by a judge, from the response store."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest
from _server import FakeServer, chat_reply
from click.testing import CliRunner

from dsb2_tasks import catalog, compat
from dsb2_tasks.baseline import BaselineError
from dsb2_tasks.cli import main
from dsb2_tasks.results import JsonNumber, ResultsError, as_json, as_number, read_run
from dsb2_tasks.task import DSB2Task

QBE, ASR, ANGLE, HOW_FAR = (
    "dsb2_superb_qbe_quesst14",
    "dsb2_superb_asr_librispeech",
    "dsb2_sound_position_prediction",
    "dsb2_how_far_are_you_3dspeaker",
)


def load(name: str, **metadata: Any) -> DSB2Task:
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    manager = compat.task_manager([catalog.yaml_root()], {"data": "samples", **metadata})
    return manager.load([name])["tasks"][name]  # type: ignore[no-any-return]


def numbers(task: DSB2Task, answers: list[str]) -> dict[str, Any]:
    """Results of a task as lm-eval sums them up."""
    rows = [task.process_results(doc, [answer]) for doc, answer in zip(task.test_docs(), answers, strict=True)]
    return {name: task.aggregation()[name]([row[name] for row in rows]) for name in rows[0]}


def baseline(path: Path, task: str, metric: str, value: float, **more: Any) -> str:
    path.write_text(json.dumps([{"task": task, "metric": metric, "value": value, "version": "1-samples", **more}]))
    return str(path)


def references(task: DSB2Task) -> list[str]:
    return [task.kind.reference_answer(doc, task.spec) for doc in task.test_docs()]


# ------------------------------------------------------------------ in the run


def test_a_task_emits_the_improvement_only_with_a_baseline_for_it(tmp_path: Path) -> None:
    plain = load(QBE)
    assert "relative_improvement" not in numbers(plain, references(plain))
    other = load(QBE, baseline=baseline(tmp_path / "b.json", ASR, "wer", 0.2))
    assert "relative_improvement" not in numbers(other, references(other))
    assert other.left_out == "the baseline has no number for this task"
    zero = load(QBE, baseline=baseline(tmp_path / "z.json", QBE, "accuracy", 0))
    assert "relative_improvement" not in numbers(zero, references(zero)) and zero.left_out == "the baseline is 0"
    task = load(QBE, baseline=baseline(tmp_path / "a.json", QBE, "accuracy", 0.5))
    found = numbers(task, references(task))
    assert found["relative_improvement"] == 1.0 and task.left_out is None
    told = task.dump_config()["metadata"]["dsb2_run"]
    assert told["baseline"] == {
        "name": "a",
        "origin": str(tmp_path / "a.json"),
        "rule": "paper",
        "value": 0.5,
        "na_rate": 0.0,
        "stderr": None,
        "metric": "accuracy",
        "version": "1-samples",
        "source": f"{tmp_path / 'a.json'}: entry 1",
    }


def test_a_model_without_a_usable_answer_is_left_out_and_said_so(tmp_path: Path) -> None:
    where = baseline(tmp_path / "b.json", ANGLE, "mse", 100.0, na_rate=0.5)
    task = load(ANGLE, baseline=where)
    found = numbers(task, ["no idea"] * len(task.test_docs()))
    assert isinstance(found["relative_improvement"], JsonNumber) and found["relative_improvement"] == "N/A"
    assert found["relative_improvement_stderr"] == "N/A"
    assert task.left_out == "no usable answer (N/A rate 1)"


def test_the_environment_names_a_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSB2_BASELINE", baseline(tmp_path / "b.json", QBE, "accuracy", 0.5))
    task = load(QBE)
    assert numbers(task, references(task))["relative_improvement"] == 1.0


def test_a_mismatch_is_refused_before_anybody_is_asked_unless_forced(tmp_path: Path) -> None:
    where = baseline(tmp_path / "b.json", QBE, "accuracy", 0.5, version="1")
    with pytest.raises(BaselineError, match="sample data here, real data in the baseline") as error:
        load(QBE, baseline=where)
    assert QBE in str(error.value) and "baseline_force=true" in str(error.value)
    task = load(QBE, baseline=where, baseline_force=True)
    assert numbers(task, references(task))["relative_improvement"] == 1.0
    told = task.dump_config()["metadata"]["dsb2_run"]["baseline"]
    assert told["forced"] == ["data: sample data here, real data in the baseline"]


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="relative_rule='papr' is none of paper, strict, copied_recipe"):
        load(QBE, relative_rule="papr")
    with pytest.raises(BaselineError, match="no such file or folder"):
        load(QBE, baseline=str(tmp_path / "nowhere.json"))
    with pytest.raises(Exception, match="did you mean 'baseline'"):
        load(QBE, basline="x")


def test_a_published_system_of_phase_1_is_told_with_its_caveats(caplog: pytest.LogCaptureFixture) -> None:
    from dsb2_tasks import task as module

    module._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        task = load(HOW_FAR, baseline="phase1:ASR-ChatGPT", baseline_force=True)
        found = numbers(task, references(task))
    published = 0.005  # per cent as published: 0.5
    assert found["relative_improvement"] == pytest.approx((found["phase1_exact"] - published) / published)
    assert "full-size sets of 2023" in caplog.text and "31 of the 55" in caplog.text


@pytest.mark.parametrize(("value", "text"), [(math.nan, "N/A"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_numbers_that_json_cannot_say(value: float, text: str) -> None:
    import copy
    import pickle

    said = as_json(value)
    assert json.dumps(said, allow_nan=False) == f'"{text}"'
    assert as_number(json.loads(json.dumps(said))) == pytest.approx(value, nan_ok=True)
    for twin in (copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert twin == said and float(twin) == pytest.approx(value, nan_ok=True)
    # As in the sums of lm-eval's own groups.
    for number in (3 * said / 4, sum([1.0, said]), (said - 1.0) ** 1, 1.0 + said):
        assert isinstance(number, JsonNumber) and not math.isfinite(float(number))
        assert json.dumps(number, allow_nan=False) == json.dumps(str(number))
    assert as_json(0.5) == 0.5 and type(as_json(1)) is float


# ------------------------------------------------------------------ reading back


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "no valid JSON"),
        ("[]", "an object is needed"),
        ("[" * 100_000, "no valid JSON"),
        ("{}", "no results file of lm-eval"),
        ('{"results": [], "configs": {}}', "results: an object is needed"),
        ('{"results": {"arc": {}}, "configs": {"arc": {}}}', "holds no results of dsb2 tasks"),
        ('{"results": {"t": {}}, "configs": {"t": {"metadata": {"dsb2": {"kind": "song"}}}}}', r"configs\.t\.metadata\.dsb2"),
        ('{"results": {"t": 3}, "configs": {"t": {"metadata": {"dsb2": {}}}}}', "t: an object is needed"),
    ],
)
def test_broken_results_files(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "results_x.json"
    file.write_text(content)
    with pytest.raises(ResultsError, match=said) as error:
        read_run(file)
    assert str(file) in str(error.value)


def answers_file(folder: Path, task: str, answers: list[str | None]) -> Path:
    file = folder / "answers.jsonl"
    file.write_text("".join(json.dumps({"task": task, "doc_id": i, "answer": a}) + "\n" for i, a in enumerate(answers)))
    return file


def dsb2(*arguments: Any, code: int = 0) -> str:
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    return done.output


def test_broken_samples_are_named_with_their_line(tmp_path: Path) -> None:
    dsb2("score", "--answers", answers_file(tmp_path, QBE, ["yes"] * 4), "--data", "samples", "-o", tmp_path / "r.json")
    samples = tmp_path / f"samples_{QBE}_r.jsonl"
    lines = samples.read_text().splitlines()
    for broken in ("{", "[]", '{"doc_id": 1}', json.dumps({**json.loads(lines[1]), "accuracy": "x"})):
        samples.write_text("\n".join([lines[0], broken, *lines[2:]]) + "\n")
        with pytest.raises(ResultsError, match=rf"samples_{QBE}_r\.jsonl: line 2 is no logged sample"):
            read_run(tmp_path / "r.json").tasks[QBE].samples()
    samples.unlink()
    assert "no samples of" in dsb2("score", tmp_path / "r.json", code=1)


def test_a_run_is_never_written_over(tmp_path: Path) -> None:
    dsb2("score", "--answers", answers_file(tmp_path, QBE, ["yes"] * 4), "--data", "samples", "-o", tmp_path / "results_a.json")
    before = (tmp_path / "results_a.json").read_bytes()
    assert "is the file that is scored" in dsb2("score", tmp_path / "results_a.json", "-o", tmp_path / "results_a.json", code=1)
    dsb2("score", tmp_path / "results_a.json")  # beside it
    assert (tmp_path / "results_a.json").read_bytes() == before
    assert len(list(tmp_path.glob("results_*.json"))) == 2


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answers = answers_file(tmp_path, QBE, ["yes"] * 4)
    said = dsb2("score", "--answers", answers, "--data", "samples", "-o", tmp_path / "file" / "o.json", code=1)
    assert "cannot be written" in said


# ------------------------------------------------------------------ by a judge


def says(verdict: str) -> Any:
    return lambda request: chat_reply(f"Reason.\nresult: {verdict}")


def test_a_judge_gives_metrics_of_its_own_and_a_second_pass_is_free(tmp_path: Path) -> None:
    answers = answers_file(tmp_path, QBE, ["yes, I hear it", "no, nothing", "It certainly occurs in there!", "nope"])
    with FakeServer(says("yes")) as server:
        arguments = ("score", "--answers", answers, "--data", "samples", "--judge", f"openai:tiny-judge@{server.url}")
        assert "4 calls (0 more" in dsb2(*arguments, "-o", tmp_path / "o.json", "--estimate")
        assert len(server.requests) == 0
        said = dsb2(*arguments, "-o", tmp_path / "o.json", "--agreement")
        assert "4 of 4 verdicts usable" in said and "judge only" in said
        asked = len(server.requests)
        assert asked == 4
        dsb2(*arguments, "-o", tmp_path / "again.json")
        assert len(server.requests) == asked
    run = read_run(tmp_path / "o.json")
    assert run.tasks[QBE].values["judge_accuracy"].value == 1.0 and run.tasks[QBE].values["judge_coverage"].value == 1.0
    assert run.tasks[QBE].values["accuracy"].value < 1.0
    assert run.raw["dsb2_score"]["judge"]["contract"] == "default"
    assert "sk-" not in (tmp_path / "o.json").read_text()


def test_verdicts_that_fail_count_neither_for_nor_against(tmp_path: Path) -> None:
    answers = answers_file(tmp_path, QBE, ["yes", "no", "perhaps", "never"])
    replies = iter(["Reason.\nresult: no", "Score: 11/10", "Reason.\nresult: yes", "result: yes or result: no?"])

    def reply(request: Any) -> Any:
        return chat_reply(next(replies))

    with FakeServer(reply) as server:
        judge = ("--judge", f"openai:j@{server.url}", "--judge-concurrency", 1)
        arguments = ("score", "--answers", answers, "--data", "samples", *judge)
        said = dsb2(*arguments, "-o", tmp_path / "o.json")
    assert "2 of 4 verdicts usable" in said
    values = read_run(tmp_path / "o.json").tasks[QBE].values
    assert values["judge_accuracy"].value == 0.5 and values["judge_coverage"].value == 0.5
