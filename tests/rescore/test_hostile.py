"""Files that were edited, cut short or made up: an error that names file and place, or the same numbers; never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from _saved import ANGLE, BAD, QBE, paths, replaced, samples_of, saved

from dsb2_tasks.baseline import make_baseline, read_baseline
from dsb2_tasks.cli._score import _kept_groups
from dsb2_tasks.comparison import compare
from dsb2_tasks.rescore import AnswersError, Rules, from_answers, from_run, leaves, score, write_results
from dsb2_tasks.results import ResultsError, make_submission, read_run

ANSWERS = {ANGLE: ["10 degrees", "no idea", "40", "90"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return saved(tmp_path, ANSWERS)


def used(file: Path) -> None:
    """Everything that is done with a results file."""
    run = read_run(file)
    json.dumps(make_baseline(run), allow_nan=False)
    read_baseline(str(file)).improvement(run.tasks[next(iter(run.tasks))])
    compare(run, run, draws=100)
    make_submission(run)
    answered = from_run(run)
    scores = score(answered, Rules(), _kept_groups(run, answered))
    read_run(write_results(scores, file.with_name("again.json"), run=run, origin="", model={}, notes={}))


def told(file: Path, work: Any = used) -> str:
    """The message of this project's own error, or nothing; any other exception goes through."""
    try:
        work(file)
    except Exception as error:
        if not type(error).__module__.startswith("dsb2_tasks."):
            raise
        return str(error)
    return ""


@pytest.mark.parametrize("name", BAD)
def test_any_value_of_a_results_file(file: Path, name: str) -> None:
    whole = json.loads(file.read_text())
    before = read_run(file).tasks[ANGLE].values
    faults = 0
    for at in paths(whole):
        file.write_text(json.dumps(replaced(whole, at, BAD[name])))
        said = told(file, lambda path: [read_run(path), read_baseline(str(path))])
        faults += bool(said)
        if not said and at[:1] != ("results",) and at[:1] != ("configs",):
            assert read_run(file).tasks[ANGLE].values == before, at
        if said:
            assert str(file) in said, (at, said)
    assert faults > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_whatever_is_done_with_such_a_results_file(file: Path, name: str) -> None:
    whole = json.loads(file.read_text())
    for at in list(paths(whole))[::3]:
        file.write_text(json.dumps(replaced(whole, at, BAD[name])))
        told(file)


@pytest.mark.parametrize("name", BAD)
def test_any_value_of_a_logged_sample(file: Path, name: str) -> None:
    samples = samples_of(file, ANGLE)
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    faults = 0
    for at in paths(lines[1]):
        samples.write_text("".join(json.dumps(x) + "\n" for x in [lines[0], replaced(lines[1], at, BAD[name]), *lines[2:]]))
        said = told(file, lambda path: from_run(read_run(path)))
        faults += bool(said)
        if said:
            assert str(samples) in said and ("line 2" in said or "document 1" in said), (at, said)
    assert faults > 5


@pytest.mark.parametrize("name", ["", "../../x", "/etc/passwd", "a\\b", "a\x00b", "\ud800", "é" * 150, "a\nb"])
def test_a_name_of_a_task_leads_nowhere_else(file: Path, name: str) -> None:
    text = json.dumps(json.loads(file.read_text())).replace(f'"{ANGLE}"', json.dumps(name))
    file.write_text(text)
    with pytest.raises(ResultsError, match="is no name of a task"):
        read_run(file)
    assert [path.name for path in file.parent.iterdir()] == sorted([file.name, samples_of(file, ANGLE).name])


@pytest.mark.parametrize(
    ("value", "said"),
    [("0.5", "a number or 'N/A' is needed"), (10**400, "a number or 'N/A'"), (85.0, "beyond the best there is"), (-0.1, "")],
)
def test_numbers_that_are_none(tmp_path: Path, value: Any, said: str) -> None:
    file = saved(tmp_path, {QBE: ["yes"] * 4})
    file.write_text(json.dumps(replaced(json.loads(file.read_text()), ("results", QBE, "accuracy,none"), value)))
    assert said in told(file, read_run)


def test_a_direction_that_was_left_out_or_turned_does_not_turn_a_metric(file: Path) -> None:
    whole = json.loads(file.read_text())
    for directions in ({}, None, {ANGLE: {"mse": True}}):
        file.write_text(json.dumps({**whole, "higher_is_better": directions}))
        assert not read_run(file).tasks[ANGLE].values["mse"].higher_is_better


def test_samples_that_were_cut_short_or_doubled(file: Path) -> None:
    samples = samples_of(file, ANGLE)
    lines = samples.read_text().splitlines(keepends=True)
    samples.write_text("".join(lines[:3]))
    assert "holds 3 documents, the results file counts 4" in told(file)
    samples.write_text("".join([*lines, lines[1]]))
    assert "line 5: document 1 stands there twice (before: line 2)" in told(file)


@pytest.mark.parametrize(
    "row", [[0, 1], [0, 1, "x"], [0, 1, None], [0, [1], 2], [0, [None], 1], [2, 1, 1], [0, 1, float("nan")], [0, 1, {}], []]
)
def test_rows_that_a_metric_cannot_count(file: Path, row: Any) -> None:
    samples = samples_of(file, ANGLE)
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    lines[0]["mse_scaled"] = row
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = told(file, lambda path: read_run(path).tasks[ANGLE].samples())
    assert f"{samples}: line 1 is no logged sample (mse_scaled: " in said
    assert "line 1" in told(file, lambda path: read_baseline(str(path)).entries[ANGLE].samples)


def test_lines_without_end(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsb2_tasks.results import _logged

    monkeypatch.setattr(_logged, "_LONGEST_LINE", 1000)
    assert "line 1 is longer than" in told(file, lambda path: read_run(path).tasks[ANGLE].samples())


def test_groups_that_hold_each_other(file: Path) -> None:
    whole = json.loads(file.read_text())
    whole["group_subtasks"] = {"a": ["b", ANGLE], "b": ["a"], ANGLE: [], **{f"g{i}": [f"g{i + 1}"] * 2 for i in range(2000)}}
    file.write_text(json.dumps(whole))
    run = read_run(file)
    assert set(run.members) & {"a", "b", ANGLE} == {"a", "b"}
    assert leaves("a", run.members) == [ANGLE]
    scores = score(answered := from_run(run), Rules(), _kept_groups(run, answered))
    assert "mse,none" in scores.results[ANGLE] and scores.results["b"]["tasks,none"] == 1


# ------------------------------------------------------------------ writing


def test_a_full_disk_leaves_what_was_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = read_run(file)
    to = saved(file.parent / "old", {ANGLE: ["1", "2", "3", "4"]}, "o.json")
    before = {path: path.read_bytes() for path in to.parent.iterdir()}
    write, count = Path.write_text, 0

    def full(self: Path, *args: Any, **kwargs: Any) -> int:
        nonlocal count
        count += 1
        if count == 2:
            raise OSError(28, "No space left on device", str(self))
        return write(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(AnswersError, match=r"o\.json.*cannot be written \(No space left on device\)"):
        write_results(score(from_run(run), Rules()), to, run=run, origin="", model={}, notes={})
    assert {path: path.read_bytes() for path in to.parent.iterdir()} == before


def test_the_samples_of_a_run_are_never_written_over(file: Path) -> None:
    run = read_run(file)
    with pytest.raises(AnswersError, match="its samples would be those that are scored"):
        write_results(score(from_run(run), Rules()), file.with_name("x.json"), run=run, origin="", model={}, notes={})


def test_a_results_file_with_a_plain_nan_is_written_as_json(file: Path) -> None:
    whole = json.loads(file.read_text())
    file.write_text(json.dumps({**whole, "config": {**whole["config"], "bootstrap_iters": float("nan")}}))
    told(file)
    again = file.with_name("again.json").read_text()
    assert json.loads(again, parse_constant=lambda token: pytest.fail(token))["config"]["bootstrap_iters"] == "N/A"


# ------------------------------------------------------------------ answers made elsewhere


@pytest.mark.parametrize("key", ["doc_id", "sha256", "file"])
@pytest.mark.parametrize("name", [name for name in BAD if name not in ("text", "surrogate", "path")])
def test_any_name_of_a_document(tmp_path: Path, key: str, name: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"task": QBE, "answer": "yes", key: BAD[name]}) + "\n")
    said = told(file, lambda path: from_answers([path], "samples"))
    assert said.startswith(f"{file} line 1: ") and key in said


@pytest.mark.parametrize("name", BAD)
def test_any_value_of_a_file_of_the_authors(tmp_path: Path, name: str) -> None:
    file = tmp_path / f"{QBE}.json"
    whole = {"a.wav": {"file": "a.wav", "instruction": "Is it there?", "label": "yes", "sllm_response": "yes"}}
    for at in paths(whole):
        file.write_text(json.dumps(replaced(whole, at, BAD[name])))
        said = told(file, lambda path: score(from_answers([path], "samples"), Rules()))
        assert str(file) in said or not said, at
        if at[-1:] == ("label",):
            assert said, "a label that is none"
