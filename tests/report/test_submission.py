"""A run in one file."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from _report_runs import ASR, write_run

from dsb2_tasks import __version__
from dsb2_tasks.baseline import read_baseline
from dsb2_tasks.report import Drawing, build, choose
from dsb2_tasks.results import ResultsError, Run, make_submission, read_run
from dsb2_tasks.results._submission import KEY

QUICK = Drawing(draws=100)


@pytest.fixture
def file(runs: dict[str, Run], tmp_path: Path) -> Path:
    path = tmp_path / "mira.json"
    path.write_text(make_submission(runs["mira"]), encoding="utf-8")
    return path


def test_numbers_rows_keys_and_statuses_come_back(file: Path, runs: dict[str, Run]) -> None:
    back, run = read_run(file), runs["mira"]
    assert (back.name, back.model, back.date) == (run.name, run.model, run.date)
    assert list(back.tasks) == sorted(run.tasks)
    for name, result in run.tasks.items():
        own = back.tasks[name]
        assert (own.version, own.data, own.spec, own.documents, own.total) == (
            *(result.version, result.data, result.spec, result.documents, result.total),
        )
        assert {k: v.value for k, v in own.values.items() if not math.isnan(v.value)} == {
            k: v.value for k, v in result.values.items() if not math.isnan(v.value)
        }
        for metric in result.values:
            assert own.rows(metric) == result.rows(metric)
        assert [(s.key, s.status) for s in own.samples()] == [(s.key, s.status) for s in result.samples()]


def test_it_says_by_what_and_from_which_files_it_was_made(file: Path, runs: dict[str, Run]) -> None:
    block = json.loads(file.read_text(encoding="utf-8"))[KEY]
    path = runs["mira"].path
    samples = next(path.parent.glob(f"samples_{ASR}_*"))
    assert (block["format"], block["dsb2_tasks"]) == (1, __version__)
    assert block["results_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert block["tasks"][ASR]["samples_sha256"] == hashlib.sha256(samples.read_bytes()).hexdigest()


def test_the_same_run_gives_the_same_bytes_and_strict_json(runs: dict[str, Run]) -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    made = make_submission(read_run(runs["mira"].path))
    assert made == make_submission(read_run(runs["mira"].path))
    json.loads(made, parse_constant=refuse)


def test_neither_texts_nor_paths_nor_keys_nor_times_are_in_it(runs: dict[str, Run]) -> None:
    run = runs["mira"]
    raw = {**run.raw, "pretty_env_info": "my machine"}
    config = {**run.config, "model_args": {"api_key": "sk-secret"}, "dsb2_model": {"time": {"seconds": 77.7}, "dtype": "bf16"}}
    made = make_submission(replace(run, raw=raw, config=config))
    assert "sk-secret" not in made
    assert "my machine" not in made
    assert "77.7" not in made
    assert "bf16" in made
    for sample in run.tasks[ASR].samples():
        assert sample.answer not in made
        assert sample.prompt not in made


def test_intervals_from_a_submission_are_those_of_the_run(file: Path, folder: Path, runs: dict[str, Run]) -> None:
    baseline = read_baseline(str(folder / "cascade"))
    one, other = (build([run], baseline, how=QUICK) for run in (runs["mira"], read_run(file)))
    for a, b in zip(one.tasks, other.tasks, strict=True):
        assert a.cells[0].gain.interval == b.cells[0].gain.interval


def test_a_submission_has_no_answers_to_show(file: Path) -> None:
    run = read_run(file)
    assert choose(build([run], how=QUICK), 2).notes == (
        f"answers of {len(run.tasks)} tasks were not logged (run with --log_samples)",
    )


def test_a_run_without_logged_samples_says_so(tmp_path: Path) -> None:
    place = write_run(tmp_path, "quiet", right=0.5, tasks=[ASR])
    for samples in place.glob("samples_*"):
        samples.unlink()
    path = tmp_path / "quiet.json"
    path.write_text(make_submission(read_run(place)), encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))[KEY]["tasks"][ASR] == {
        "samples_sha256": None,
        "keys": [],
        "statuses": [],
        "rows": {},
    }
    assert read_run(path).tasks[ASR].samples() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.update(format=2), r"dsb2_submission\.format: 2 is not known; this version reads 1"),
        (lambda b: b.update(tasks=[]), r"dsb2_submission\.tasks: an object is needed, found a list"),
        (lambda b: b["tasks"].update({ASR: 3}), rf"tasks\.{ASR}: an object is needed, found a int"),
        (lambda b: b["tasks"][ASR].update(keys="ab"), "'keys' and 'statuses' must be lists"),
        (lambda b: b["tasks"][ASR]["keys"].pop(), r"statuses: a list as long as 'keys' \(\d+\) is needed"),
        (lambda b: b["tasks"][ASR]["rows"].update(wer=[1]), r"wer: a list as long as 'keys'"),
        (lambda b: b["tasks"][ASR]["rows"]["wer"].__setitem__(0, "x"), r"rows\.wer: each row must be a list or null"),
    ],
)
def test_a_broken_submission_names_file_place_and_reason(change, message: str, file: Path) -> None:
    whole = json.loads(file.read_text(encoding="utf-8"))
    change(whole[KEY])
    file.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(ResultsError, match=rf"mira\.json: .*{message}"):
        read_run(file)
